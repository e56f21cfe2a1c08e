// SPDX-License-Identifier: Apache-2.0
// Makes elements. Text always becomes a text node, so that nothing of a run is ever markup.

export type Child = Node | string | null | undefined | false;

interface Attributes {
  class?: string;
  title?: string;
  id?: string;
  role?: string;
  tabindex?: number;
  onclick?: (event: MouseEvent) => void;
  [name: string]: unknown;
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  set(element, attributes);
  append(element, children);
  return element;
}

export function svg(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  set(element, attributes);
  append(element, children);
  return element;
}

function set(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) {
      element.addEventListener(name.slice(2), value as EventListener);
    } else if (value === true) {
      element.setAttribute(name, '');
    } else {
      element.setAttribute(name, String(value));
    }
  }
}

function append(element: Element, children: Child[]): void {
  for (const child of children) {
    if (child || child === '') element.append(child);
  }
}

export function refill(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  append(element, children);
}

// A button that reads like a link: it leads to another place of this page.
export function link(text: string, go: () => void, title = ''): HTMLButtonElement {
  return h(
    'button',
    { class: 'link', type: 'button', title: title || undefined, onclick: go },
    text,
  );
}
