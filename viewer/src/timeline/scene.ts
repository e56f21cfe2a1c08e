// SPDX-License-Identifier: Apache-2.0
// Draws the timeline of a run: spans as pixels, everything else with a painter. The same scene goes
// onto the canvas of the page and into an SVG.
import type { Track } from '../codec/index_file';
import { nameOf } from '../codec/index_file';
import type { Run } from '../app/run';
import { hex, mix, type NameColors, type Rgb, type Theme } from '../ui/palette';
import { CanvasPainter, SvgPainter, type Painter } from '../ui/painter';
import { quantity } from '../ui/units';
import { fillArea, type AreaRow } from './area_row';
import { axisTicks, type Clock } from './axis';
import type { Lane, Layout } from './lanes';
import { drawLoss, drawRow, PixelTarget, SvgTarget, type SpanTarget } from './span_target';
import { RowFiller, type FilledRows } from './track_rows';
import type { PixelRow } from './pixel_row';
import { xOf, type View } from './view';

const kMostLabels = 700;

// Of a drawing: the names at the left, the times above, and the size of letters.
export interface Measures {
  gutter: number;
  axis: number;
  font: number;
}

// Large windows have larger letters, as the page around the drawing has.
export function measuresOf(width: number): Measures {
  return width >= 1900 ? { gutter: 184, axis: 28, font: 13 } : { gutter: 152, axis: 24, font: 11 };
}

export interface DrawnLane {
  lane: Lane;
  filled: FilledRows | null;
  area: AreaRow | null;
  losses: { track: Track; row: PixelRow }[];
  marks: { track: Track; row: PixelRow }[];
}

export interface SceneInput {
  run: Run;
  view: View; // snapped to pixels
  layout: Layout;
  scroll: number;
  width: number; // of everything, in units of the page
  height: number;
  scale: number; // device pixels per unit
  measures: Measures;
  colors: NameColors;
  theme: Theme;
  clock: Clock;
}

export interface Drawn {
  lanes: DrawnLane[];
  complete: boolean;
  rectangles: number;
}

export class Scene {
  private readonly filler = new RowFiller();
  private target: PixelTarget | null = null;

  // Spans, labels and axis; `over` draws what lies on top.
  paint(
    context: CanvasRenderingContext2D,
    input: SceneInput,
    over: (painter: Painter, drawn: Drawn) => void,
  ): Drawn {
    const { width, height, scale } = input;
    const { gutter, axis } = input.measures;
    const columns = Math.max(1, Math.floor((width - gutter) * scale));
    const lines = Math.max(1, Math.floor((height - axis) * scale));
    if (!this.target || this.target.width !== columns || this.target.height !== lines) {
      this.target = new PixelTarget(columns, lines, input.colors, input.theme);
    }
    this.target.begin(input.colors, input.theme);
    const drawn = this.collect(input, columns);
    drawn.rectangles = this.drawSpans(this.target, input, drawn, scale);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = hex(input.theme.page);
    context.fillRect(0, 0, context.canvas.width, context.canvas.height);
    context.putImageData(this.target.image, Math.round(gutter * scale), Math.round(axis * scale));
    context.setTransform(scale, 0, 0, scale, 0, 0);
    const painter = new CanvasPainter(context);
    this.drawOver(painter, input, drawn, scale);
    over(painter, drawn);
    return drawn;
  }

  toSvg(input: SceneInput, over: (painter: Painter, drawn: Drawn) => void): string {
    const { gutter, axis } = input.measures;
    const svg = new SvgPainter(input.width, input.height);
    svg.rect(0, 0, input.width, input.height, hex(input.theme.page));
    const drawn = this.collect(input, Math.max(1, Math.floor(input.width - gutter)));
    svg.clip(gutter, axis, input.width - gutter, input.height - axis, () => {
      const target = new SvgTarget(svg, gutter, axis, input.colors, input.theme);
      this.drawSpans(target, input, drawn, 1);
    });
    this.drawOver(svg, input, drawn, 1);
    over(svg, drawn);
    return svg.finish();
  }

  // The rows of the lanes that are in sight.
  private collect(input: SceneInput, columns: number): Drawn {
    const { run, view } = input;
    this.filler.beginFrame();
    const drawn: Drawn = { lanes: [], complete: true, rectangles: 0 };
    for (const lane of input.layout.lanes) {
      if (lane.y + lane.height <= input.scroll) continue;
      if (lane.y >= input.scroll + input.height - input.measures.axis) break;
      const over = (track: Track): { track: Track; row: PixelRow } => {
        const filled = this.filler.fill(run.tiles, track, view, columns);
        drawn.complete &&= filled.complete;
        return { track, row: filled.rows[0] };
      };
      const one: DrawnLane = {
        lane,
        filled: null,
        area: null,
        losses: lane.losses.map(over),
        marks: lane.marks.map(over),
      };
      if (lane.track.values === 'samples') {
        one.area = fillArea(run.tiles, lane.track, view, columns);
        drawn.complete &&= one.area.complete;
      } else {
        one.filled = this.filler.fill(run.tiles, lane.track, view, columns);
        drawn.complete &&= one.filled.complete;
      }
      drawn.lanes.push(one);
    }
    return drawn;
  }

  private drawSpans(target: SpanTarget, input: SceneInput, drawn: Drawn, scale: number): number {
    let rectangles = 0;
    const theme = input.theme;
    for (const one of drawn.lanes) {
      const top = Math.round((one.lane.y - input.scroll) * scale);
      const bottom = Math.round((one.lane.y + one.lane.height - input.scroll) * scale);
      const gap = Math.max(1, Math.round(scale));
      const height = Math.max(1, bottom - top - gap);
      const { filled } = one;
      if (filled) rectangles += this.drawTrack(target, one, filled, top, height, input);
      if (one.area) drawArea(target, one.area, top, height, theme);
      for (const { row } of one.losses) {
        drawLoss(row, top, height, target, (name) => lossColor(input, name));
      }
      for (const { row } of one.marks) drawMarks(target, row, top, height, input);
    }
    return rectangles;
  }

  private drawTrack(
    target: SpanTarget,
    one: DrawnLane,
    filled: FilledRows,
    top: number,
    height: number,
    input: SceneInput,
  ): number {
    const theme = input.theme;
    if (filled.level === -1) {
      drawSketch(target, filled.rows[0], top, height, theme);
      return filled.rows[0].width;
    }
    if (one.lane.track.kind === 'loss') {
      drawLoss(filled.rows[0], top, height, target, () => theme.loss);
      return 0;
    }
    if (one.lane.track.kind === 'marks') {
      drawMarks(target, filled.rows[0], top, height, input);
      return 0;
    }
    let rectangles = 0;
    // Buckets know nothing of depth: they fill the lane.
    const rows = filled.level > 0 ? filled.rows.slice(0, 1) : filled.rows;
    rows.forEach((row, i) => {
      const y = top + Math.round((height * i) / rows.length);
      const next = top + Math.round((height * (i + 1)) / rows.length);
      const tall = Math.max(1, next - y - (rows.length > 1 ? 1 : 0));
      rectangles += drawRow(row, y, tall, target);
      if (one.lane.track.kind !== 'orchestrator') drawNotFinite(target, row, y, tall, theme);
    });
    return rectangles;
  }

  private drawOver(painter: Painter, input: SceneInput, drawn: Drawn, scale: number): void {
    const { theme, width, height } = input;
    const { gutter, axis, font } = input.measures;
    painter.clip(gutter, axis, width - gutter, height - axis, () => {
      this.drawLabels(painter, input, drawn, scale);
    });
    drawGutter(painter, input, drawn);
    painter.rect(gutter, 0, width - gutter, axis, hex(theme.page));
    painter.clip(gutter, 0, width - gutter, axis, () => {
      for (const tick of axisTicks(input.clock, input.view, width - gutter)) {
        const x = gutter + xOf(input.view, width - gutter, tick.ticks);
        painter.line([x, axis - 6, x, axis], theme.faint, 1);
        painter.text(x + 4, axis - 8, tick.text, { color: theme.faint, size: font });
      }
    });
    painter.line([0, axis - 0.5, width, axis - 0.5], theme.hairline, 1);
    painter.line([gutter - 0.5, 0, gutter - 0.5, height], theme.hairline, 1);
  }

  // Text where it fits: the widest spans first.
  private drawLabels(painter: Painter, input: SceneInput, drawn: Drawn, scale: number): void {
    const { gutter, axis, font } = input.measures;
    const labels: { x: number; width: number; y: number; name: number }[] = [];
    for (const one of drawn.lanes) {
      if (one.filled?.level !== 0 || one.lane.track.kind === 'loss') continue;
      const rows = one.filled.rows;
      const tall = one.lane.height / rows.length;
      if (tall < font + 1) continue;
      rows.forEach((row, i) => {
        const y = axis + one.lane.y - input.scroll + tall * (i + 0.5) + font * 0.33;
        for (let x = 0; x < row.width; ) {
          const owner = row.owner[x];
          let end = x + 1;
          while (end < row.width && row.owner[end] === owner) end++;
          const wide = (end - x) / scale;
          if (owner >= 0 && wide >= 22) {
            labels.push({ x: gutter + x / scale, width: wide, y, name: row.name[x] });
          }
          x = end;
        }
      });
    }
    labels.sort((a, b) => b.width - a.width);
    for (const label of labels.slice(0, kMostLabels)) {
      const text = fitting(nameOf(input.run.index, label.name), label.width - 8, letterOf(font));
      if (!text) continue;
      painter.text(label.x + 4, label.y, text, {
        color: input.colors.textOn(label.name),
        size: font,
      });
    }
  }
}

// As much of a text as fits, by the width that letters have on the average.
export function fitting(text: string, width: number, letter = 6.2): string {
  const room = Math.floor(width / letter);
  if (text.length <= room) return text;
  return room >= 3 ? `${text.slice(0, room - 1)}…` : '';
}

// How wide a letter is on the average.
export function letterOf(font: number): number {
  return font * 0.565;
}

// Of a loss track: a producer waited, and nothing was lost.
export function isStall(name: string): boolean {
  return name === 'recorder stall';
}

function lossColor(input: { run: Run; theme: Theme }, name: number): Rgb {
  return isStall(nameOf(input.run.index, name)) ? input.theme.stall : input.theme.loss;
}

function drawSketch(
  target: SpanTarget,
  row: PixelRow,
  y: number,
  height: number,
  theme: Theme,
): void {
  const color = mix(theme.page, theme.dark ? [200, 205, 212] : [90, 96, 104], 0.35);
  for (let x = 0; x < row.width; x++) {
    if (row.share[x] > 0) target.plain(x, 1, y, height, color);
  }
}

// A notch where a task made a NaN or an infinity, a line where it had one in its arguments.
function drawNotFinite(
  target: SpanTarget,
  row: PixelRow,
  y: number,
  height: number,
  theme: Theme,
): void {
  const pale = mix(theme.page, theme.loss, 0.6);
  for (let x = 0; x < row.width; x++) {
    if (row.flags[x] & 1) target.plain(x, 1, y, Math.min(2, height), pale);
  }
  for (let x = 0; x < row.width; x++) {
    if (!(row.flags[x] & 2)) continue;
    const from = Math.max(0, x - 1);
    const wide = Math.min(3, row.width - from);
    target.plain(from, wide, y, Math.max(3, Math.round(height / 3)), theme.loss);
  }
}

function drawMarks(
  target: SpanTarget,
  row: PixelRow,
  y: number,
  height: number,
  input: SceneInput,
): void {
  const color = mix(input.theme.page, input.theme.dark ? [255, 255, 255] : [0, 0, 0], 0.85);
  for (let x = 0; x < row.width; x++) {
    if (row.name[x] < 0) continue;
    target.plain(x, 1, y, height, color);
    target.plain(Math.max(0, x - 1), Math.min(3, row.width - x), y, Math.min(3, height), color);
  }
}

function drawArea(
  target: SpanTarget,
  area: AreaRow,
  y: number,
  height: number,
  theme: Theme,
): void {
  const peak = Math.max(area.peak(), 1e-9);
  const solid = mix(theme.page, [68, 119, 170], 0.6);
  const light = mix(theme.page, [68, 119, 170], 0.32);
  const held = mix(theme.page, [68, 119, 170], 0.17); // after the last record
  for (let x = 0; x < area.width; x++) {
    if (Number.isNaN(area.most[x])) continue;
    const least = Math.round((Math.max(0, area.least[x]) / peak) * (height - 1));
    const most = Math.max(1, Math.round((Math.max(0, area.most[x]) / peak) * (height - 1)));
    target.plain(x, 1, y + height - most, most, x < area.heldFrom ? light : held);
    if (least > 0 && x < area.heldFrom) target.plain(x, 1, y + height - least, least, solid);
  }
}

function drawGutter(painter: Painter, input: SceneInput, drawn: Drawn): void {
  const { theme, height } = input;
  const { gutter, axis, font } = input.measures;
  painter.rect(0, 0, gutter, height, hex(theme.page));
  painter.clip(0, axis, gutter, height - axis, () => {
    let lastText = -100;
    for (const one of drawn.lanes) {
      const { lane } = one;
      const y = axis + lane.y - input.scroll;
      const middle = y + lane.height / 2;
      // Lanes lower than a line of text: as many names as can be read.
      if (middle - lastText < font) continue;
      lastText = middle;
      const two = one.area !== null && lane.height >= 2.6 * font;
      const name = fitting(lane.track.name, gutter - 14, letterOf(font));
      painter.text(8, two ? middle - 2 : middle + font * 0.36, name, {
        color: theme.text,
        size: Math.min(font, Math.max(9, lane.height)),
      });
      if (one.area && two) {
        const peak = `peak ${quantity(one.area.peak(), lane.track.unitOfValue)}`;
        painter.text(8, middle + font, peak, { color: theme.faint, size: font - 1 });
      }
    }
  });
}
