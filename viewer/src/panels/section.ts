// SPDX-License-Identifier: Apache-2.0
// A part of a panel with its title.
import { h, type Child } from '../ui/dom';

export function section(title: string, ...children: Child[]): HTMLElement {
  return h('section', { class: 'part', 'aria-label': title }, h('h2', {}, title), ...children);
}
