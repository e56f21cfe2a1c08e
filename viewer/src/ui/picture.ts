// SPDX-License-Identifier: Apache-2.0
// Saves a panel as SVG or PNG. A panel that draws writes its own SVG; of others the elements are
// written down as they lie on the screen: their grounds, lines and texts.
import type { Panel } from '../app/app_view';
import { hex } from './palette';
import { escapeXml, SvgPainter } from './painter';

const kPngScale = 2;
const kMostPixels = 16384;

export async function savePicture(panel: Panel, name: string, kind: 'png' | 'svg'): Promise<void> {
  const markup = panel.picture ? panel.picture() : elementToSvg(panel.root);
  const file = `${name.replace(/[^A-Za-z0-9._-]+/g, '_').slice(0, 100)}.${kind}`;
  const blob = kind === 'svg' ? new Blob([markup], { type: 'image/svg+xml' }) : await toPng(markup);
  save(blob, file);
}

function save(blob: Blob, file: string): void {
  const address = URL.createObjectURL(blob);
  const anchor = document.createElement('a');
  anchor.href = address;
  anchor.download = file;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

export async function toPng(markup: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(markup)}`;
  await image.decode();
  const scale = Math.min(kPngScale, kMostPixels / Math.max(image.width, image.height, 1));
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(image.width * scale));
  canvas.height = Math.max(1, Math.round(image.height * scale));
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, failed) =>
    canvas.toBlob(
      (blob) => (blob ? done(blob) : failed(new Error('the picture is too large'))),
      'image/png',
    ),
  );
}

export function elementToSvg(root: HTMLElement): string {
  const box = root.getBoundingClientRect();
  const svg = new SvgPainter(Math.ceil(box.width), Math.ceil(box.height));
  const ground = getComputedStyle(document.body).backgroundColor;
  svg.rect(0, 0, box.width, box.height, colorOf(ground).fill);
  walk(svg, root, box);
  return svg.finish();
}

function walk(svg: SvgPainter, element: Element, origin: DOMRect): void {
  const style = getComputedStyle(element);
  if (style.display === 'none' || style.visibility === 'hidden') return;
  const box = element.getBoundingClientRect();
  if (box.bottom < origin.top || box.top > origin.bottom) return;
  if (element instanceof SVGSVGElement) {
    drawing(svg, element, box, origin);
    return;
  }
  if (element instanceof HTMLCanvasElement) {
    const x = box.left - origin.left;
    svg.raw(
      `<image x="${x}" y="${box.top - origin.top}" width="${box.width}" ` +
        `height="${box.height}" href="${element.toDataURL()}"/>`,
    );
    return;
  }
  drawBox(svg, style, box, origin);
  if (element instanceof HTMLInputElement || element instanceof HTMLSelectElement) return;
  const clips = style.overflowX !== 'visible' || style.overflowY !== 'visible';
  const children = (): void => {
    for (const child of element.childNodes) {
      if (child instanceof Text) drawText(svg, child, style, box, origin);
      else if (child instanceof Element) walk(svg, child, origin);
    }
  };
  if (clips)
    svg.clip(box.left - origin.left, box.top - origin.top, box.width, box.height, children);
  else children();
}

function drawBox(svg: SvgPainter, style: CSSStyleDeclaration, box: DOMRect, origin: DOMRect): void {
  const x = box.left - origin.left;
  const y = box.top - origin.top;
  const ground = colorOf(style.backgroundColor);
  if (ground.alpha > 0) svg.rect(x, y, box.width, box.height, ground.fill, ground.alpha);
  const line = (side: string, lx: number, ly: number, w: number, t: number): void => {
    const wide = parseFloat(style.getPropertyValue(`border-${side}-width`));
    if (!(wide > 0) || style.getPropertyValue(`border-${side}-style`) === 'none') return;
    const color = colorOf(style.getPropertyValue(`border-${side}-color`));
    if (color.alpha > 0) svg.rect(lx, ly, w || wide, t || wide, color.fill, color.alpha);
  };
  line('top', x, y, box.width, 0);
  line('bottom', x, y + box.height - 1, box.width, 0);
  line('left', x, y, 0, box.height);
  line('right', x + box.width - 1, y, 0, box.height);
}

function drawText(
  svg: SvgPainter,
  node: Text,
  style: CSSStyleDeclaration,
  parent: DOMRect,
  origin: DOMRect,
): void {
  const text = node.data;
  if (!text.trim()) return;
  const size = parseFloat(style.fontSize);
  const { fill } = colorOf(style.color);
  const range = document.createRange();
  for (const [begin, end] of linesOf(node, range)) {
    range.setStart(node, begin);
    range.setEnd(node, end);
    const box = range.getBoundingClientRect();
    if (box.width === 0) continue;
    let part = text.slice(begin, end).replace(/\s+/g, ' ').trim();
    const ellipsis = style.textOverflow === 'ellipsis' && box.right > parent.right + 1;
    if (ellipsis) {
      const share = Math.max(0, (parent.right - box.left) / box.width);
      part = `${part.slice(0, Math.max(1, Math.floor(part.length * share) - 1))}…`;
    }
    const fits = ellipsis ? parent.right - box.left : box.width;
    svg.raw(
      `<text x="${box.left - origin.left}" y="${box.bottom - origin.top - size * 0.32}" ` +
        `fill="${fill}" font-size="${size}" font-weight="${escapeXml(style.fontWeight)}" ` +
        `textLength="${Math.max(1, fits)}" lengthAdjust="spacingAndGlyphs">${escapeXml(part)}</text>`,
    );
  }
}

// Where a text node breaks into lines on the screen.
function linesOf(node: Text, range: Range): [number, number][] {
  range.selectNodeContents(node);
  if (range.getClientRects().length <= 1) return [[0, node.data.length]];
  const lines: [number, number][] = [];
  let begin = 0;
  let top = NaN;
  for (let i = 0; i < node.data.length && lines.length < 200; i++) {
    range.setStart(node, i);
    range.setEnd(node, i + 1);
    const box = range.getClientRects()[0];
    if (!box || box.width === 0) continue;
    if (!Number.isNaN(top) && box.top > top + 2) {
      lines.push([begin, i]);
      begin = i;
    }
    top = box.top;
  }
  lines.push([begin, node.data.length]);
  return lines;
}

// A drawing of its own: its shapes with the colours that the style sheet gives them.
function drawing(svg: SvgPainter, element: SVGSVGElement, box: DOMRect, origin: DOMRect): void {
  const copy = element.cloneNode(true) as SVGSVGElement;
  const from = element.querySelectorAll('*');
  copy.querySelectorAll('*').forEach((shape, i) => {
    const style = getComputedStyle(from[i]);
    for (const name of [
      'fill',
      'stroke',
      'stroke-width',
      'fill-opacity',
      'opacity',
      'font-size',
      'font-weight',
      'text-anchor',
      'stroke-dasharray',
    ]) {
      const value = style.getPropertyValue(name);
      if ((value && value !== 'none') || name === 'fill') shape.setAttribute(name, value);
    }
    shape.removeAttribute('class');
    for (const attribute of [...shape.attributes]) {
      if (attribute.name.startsWith('aria') || attribute.name === 'tabindex') {
        shape.removeAttribute(attribute.name);
      }
    }
  });
  copy.setAttribute('x', String(box.left - origin.left));
  copy.setAttribute('y', String(box.top - origin.top));
  copy.setAttribute('width', String(box.width));
  copy.setAttribute('height', String(box.height));
  svg.raw(new XMLSerializer().serializeToString(copy));
}

function colorOf(color: string): { fill: string; alpha: number } {
  const parts = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/.exec(color);
  if (!parts) return { fill: '#888888', alpha: 0 };
  return {
    fill: hex([Number(parts[1]), Number(parts[2]), Number(parts[3])]),
    alpha: parts[4] === undefined ? 1 : Number(parts[4]),
  };
}
