// SPDX-License-Identifier: Apache-2.0
// Where the rectangles of rows go: pixels of a canvas, or the shapes of an SVG. One call is one
// rectangle; a row makes at most one per pixel.
import type { PixelRow } from './pixel_row';
import { pixel, hex, mix, type NameColors, type Rgb, type Theme } from '../ui/palette';
import type { SvgPainter } from '../ui/painter';

export interface SpanTarget {
  // `share` is 0..16; an `edge` marks where a span begins.
  run(
    x: number,
    width: number,
    y: number,
    height: number,
    name: number,
    share: number,
    edge: boolean,
  ): void;
  // After all runs of a row, which have y and height in common.
  endRow(y: number, height: number): void;
  plain(x: number, width: number, y: number, height: number, color: Rgb): void;
  hatch(x: number, width: number, y: number, height: number, color: Rgb): void;
}

// Draws a row; returns how many rectangles that were.
export function drawRow(row: PixelRow, y: number, height: number, target: SpanTarget): number {
  let rectangles = 0;
  let x = 0;
  while (x < row.width) {
    const name = row.name[x];
    if (name < 0) {
      x++;
      continue;
    }
    const share = Math.round(row.share[x] * 16);
    const owner = row.owner[x];
    let end = x + 1;
    while (
      end < row.width &&
      row.name[end] === name &&
      row.owner[end] === owner &&
      Math.round(row.share[end] * 16) === share
    )
      end++;
    const edge = owner >= 0 && end - x >= 3 && (x === 0 || row.owner[x - 1] !== owner);
    target.run(x, end - x, y, height, name, share, edge);
    rectangles++;
    x = end;
  }
  target.endRow(y, height);
  return rectangles;
}

// The same for the ranges of a loss track; a range is never too narrow to be seen.
export function drawLoss(
  row: PixelRow,
  y: number,
  height: number,
  target: SpanTarget,
  colorOf: (name: number) => Rgb,
): void {
  let x = 0;
  while (x < row.width) {
    const name = row.name[x];
    if (name < 0) {
      x++;
      continue;
    }
    let end = x + 1;
    while (end < row.width && row.name[end] === name) end++;
    const width = Math.max(end - x, 3);
    target.hatch(x, Math.min(width, row.width - x), y, height, colorOf(name));
    x = end;
  }
}

export class PixelTarget implements SpanTarget {
  readonly image: ImageData;
  private readonly data: Uint32Array;

  constructor(
    readonly width: number,
    readonly height: number,
    private colors: NameColors,
    private theme: Theme,
  ) {
    this.image = new ImageData(width, height);
    this.data = new Uint32Array(this.image.data.buffer);
  }

  begin(colors: NameColors, theme: Theme): void {
    this.colors = colors;
    this.theme = theme;
    this.data.fill(pixel(this.theme.page));
  }

  run(
    x: number,
    width: number,
    y: number,
    height: number,
    name: number,
    share: number,
    edge: boolean,
  ): void {
    const top = Math.max(0, y);
    if (top >= Math.min(y + height, this.height)) return;
    const ramp = this.colors.ramp(name);
    this.fill(x, width, top, 1, ramp[share]);
    if (edge) this.data[top * this.width + x] = ramp[17];
  }

  // Runs are drawn into the first line of their row; the others are copies of it.
  endRow(y: number, height: number): void {
    const top = Math.max(0, y);
    const bottom = Math.min(y + height, this.height);
    const from = top * this.width;
    for (let line = top + 1; line < bottom; line++) {
      this.data.copyWithin(line * this.width, from, from + this.width);
    }
  }

  plain(x: number, width: number, y: number, height: number, color: Rgb): void {
    this.fill(x, width, y, height, pixel(color));
  }

  hatch(x: number, width: number, y: number, height: number, color: Rgb): void {
    const dark = pixel(color);
    const light = pixel(mix(this.theme.page, color, 0.25));
    const bottom = Math.min(y + height, this.height);
    for (let line = Math.max(0, y); line < bottom; line++) {
      const at = line * this.width;
      for (let i = x; i < x + width; i++) this.data[at + i] = (i + line) % 6 < 2 ? dark : light;
    }
  }

  private fill(x: number, width: number, y: number, height: number, color: number): void {
    const bottom = Math.min(y + height, this.height);
    for (let line = Math.max(0, y); line < bottom; line++) {
      const at = line * this.width + x;
      if (width < 16) for (let i = at; i < at + width; i++) this.data[i] = color;
      else this.data.fill(color, at, at + width);
    }
  }
}

export class SvgTarget implements SpanTarget {
  private patterns = 0;

  constructor(
    private readonly svg: SvgPainter,
    private readonly left: number,
    private readonly top: number,
    private readonly colors: NameColors,
    private readonly theme: Theme,
  ) {}

  run(
    x: number,
    width: number,
    y: number,
    height: number,
    name: number,
    share: number,
    edge: boolean,
  ): void {
    const color = this.colors.of(name);
    const seen = hex(mix(this.theme.page, color, 0.25 + (0.75 * share) / 16));
    this.svg.rect(this.left + x, this.top + y, width, height, seen);
    if (edge) {
      this.svg.rect(this.left + x, this.top + y, 1, height, hex(mix(color, this.theme.page, 0.45)));
    }
  }

  endRow(): void {
    // Every run has its whole height.
  }

  plain(x: number, width: number, y: number, height: number, color: Rgb): void {
    this.svg.rect(this.left + x, this.top + y, width, height, hex(color));
  }

  hatch(x: number, width: number, y: number, height: number, color: Rgb): void {
    const id = `h${this.patterns++}`;
    const light = hex(mix(this.theme.page, color, 0.25));
    this.svg.raw(
      `<pattern id="${id}" width="6" height="6" patternUnits="userSpaceOnUse" ` +
        `patternTransform="rotate(45)"><rect width="6" height="6" fill="${light}"/>` +
        `<rect width="2" height="6" fill="${hex(color)}"/></pattern>`,
    );
    this.svg.rect(this.left + x, this.top + y, width, height, `url(#${id})`);
  }
}
