// SPDX-License-Identifier: Apache-2.0
// What is under the pointer, in words and as something that can be selected.
import { taskOf, type Spans } from '../codec/blobs';
import { bucketWidth, nameOf, type Track } from '../codec/index_file';
import type { Run } from '../app/run';
import { count, duration, percent, quantity, short, taskText } from '../ui/units';
import { momentText, type Clock } from './axis';
import { levelFor, leavesIn } from './levels';
import { pixelRange, type PixelRow } from './pixel_row';
import type { DrawnLane } from './scene';
import { spanAt } from './track_rows';
import type { View } from './view';

export interface SpanHit {
  track: Track;
  begin: number;
  end: number;
  name: string;
  nameKind: string;
  task: string | null;
}

export interface Pointed {
  lines: string[];
  span: SpanHit | null;
  // A pixel of buckets: the range whose spans it shows.
  range: { begin: number; end: number } | null;
}

export function point(
  run: Run,
  clock: Clock,
  drawn: DrawnLane,
  view: View,
  columns: number,
  x: number,
  inLane: number,
): Pointed {
  const track = drawn.lane.track;
  const lines: string[] = [];
  const perPixel = (view.end - view.begin) / columns;
  const lost = drawn.losses.filter(({ row }) => nearby(row, x) >= 0);
  for (const { track: loss, row } of lost)
    lines.push(...lossLines(run, clock, loss, row, x, perPixel));
  for (const { track: marks, row } of drawn.marks) {
    if (nearby(row, x) >= 0) lines.push(...markLines(run, marks, row, x));
  }
  if (drawn.area) {
    const most = drawn.area.most[x];
    if (!Number.isNaN(most)) lines.push(areaLine(track, drawn.area.least[x], most));
    if (x >= drawn.area.heldFrom) lines.push('as it was recorded last');
    return { lines: [track.name, ...lines], span: null, range: null };
  }
  const filled = drawn.filled;
  if (!filled) return { lines, span: null, range: null };
  if (filled.level === -1) {
    return {
      lines: [
        `${track.name}: about ${count(filled.rows[0].spans[x])} records, from page ` +
          'headers alone',
      ],
      span: null,
      range: null,
    };
  }
  const rows = filled.level > 0 ? filled.rows.slice(0, 1) : filled.rows;
  const row = rows[Math.min(rows.length - 1, Math.max(0, Math.floor(inLane * rows.length)))];
  const owner = row.owner[x];
  const found = owner >= 0 ? spanAt(run.tiles, track, owner) : null;
  if (found) {
    const span = hitOf(run, track, found.spans, found.at);
    return {
      lines: [...spanLines(run, clock, span, found.spans, found.at, perPixel), ...lines],
      span,
      range: null,
    };
  }
  if (row.name[x] < 0) return { lines, span: null, range: null };
  const level = levelFor(run.index, perPixel);
  const range = pixelRange(view, columns, x, bucketWidth(run.index, Math.max(1, level)));
  return { lines: [...bucketLines(run, clock, track, row, x, range), ...lines], span: null, range };
}

function nearby(row: PixelRow, x: number): number {
  for (const at of [x, x - 1, x + 1, x - 2]) {
    if (at >= 0 && at < row.width && row.name[at] >= 0) return at;
  }
  return -1;
}

function hitOf(run: Run, track: Track, spans: Spans, at: number): SpanHit {
  return {
    track,
    begin: spans.begin[at],
    end: spans.begin[at] + spans.length[at],
    name: nameOf(run.index, spans.name[at]),
    nameKind: run.index.nameKinds[spans.name[at]] ?? '',
    task: taskOf(spans, at),
  };
}

function spanLines(
  run: Run,
  clock: Clock,
  span: SpanHit,
  spans: Spans,
  at: number,
  perPixel: number,
): string[] {
  const task = span.task ? `${taskText(span.task)} ` : '';
  const lines = [
    `${task}${span.name}`,
    `${duration(run.ns(span.end - span.begin))} on ${span.track.name}`,
    `from ${momentText(clock, span.begin, Math.max(1, perPixel))}`,
  ];
  if (span.track.kind === 'core' && spans.aux[at] > 0) lines.push(`block ${count(spans.aux[at])}`);
  if (span.track.kind === 'scheduler' && spans.aux[at] > 0) {
    lines.push(`${count(spans.aux[at])} tasks`);
  }
  lines.push(...notFinite(spans.flags[at]));
  if (span.track.kind === 'loss') lines.push(lostText(spans.aux[at]));
  return lines;
}

function bucketLines(
  run: Run,
  clock: Clock,
  track: Track,
  row: PixelRow,
  x: number,
  range: { begin: number; end: number },
): string[] {
  const begun = row.spans[x];
  return [
    `${track.name}: mostly ${nameOf(run.index, row.name[x])}`,
    `${percent(row.share[x])} covered, ${count(begun)} ${begun === 1 ? 'begins' : 'begin'} here`,
    ...(row.longest[x] > 0 ? [`longest ${duration(run.ns(row.longest[x]))}`] : []),
    `${duration(run.ns(range.end - range.begin))} from ${momentText(
      clock,
      range.begin,
      range.end - range.begin,
    )}`,
    ...notFinite(row.flags[x]),
  ];
}

function notFinite(flags: number): string[] {
  if (flags & 2) return ['made a NaN or an infinity'];
  return flags & 1 ? ['a NaN or an infinity in its arguments'] : [];
}

function lostText(records: number): string {
  return records > 0 ? `${count(records)} ${records === 1 ? 'record' : 'records'} lost` : 'waited';
}

function lossLines(
  run: Run,
  clock: Clock,
  track: Track,
  row: PixelRow,
  x: number,
  perPixel: number,
): string[] {
  const at = nearby(row, x);
  const name = nameOf(run.index, row.name[at]);
  const found = row.owner[at] >= 0 ? spanAt(run.tiles, track, row.owner[at]) : null;
  if (!found) return [`${name} here`];
  const { spans, at: i } = found;
  return [
    `${name}: ${lostText(spans.aux[i])} in ${duration(run.ns(spans.length[i]))}`,
    `from ${momentText(clock, spans.begin[i], Math.max(1, perPixel))}`,
  ];
}

function markLines(run: Run, track: Track, row: PixelRow, x: number): string[] {
  const at = nearby(row, x);
  const name = nameOf(run.index, row.name[at]);
  const found = row.owner[at] >= 0 ? spanAt(run.tiles, track, row.owner[at]) : null;
  if (!found) return [`mark ${name}`];
  return [`mark ${name}: ${short(found.spans.aux[found.at])}`];
}

function areaLine(track: Track, least: number, most: number): string {
  const unit = track.unitOfValue;
  return least === most
    ? quantity(most, unit)
    : `${quantity(least, unit)} to ${quantity(most, unit)}`;
}

// The longest span that begins or is in a range: what a click on a pixel of buckets means.
export async function longestIn(
  run: Run,
  track: Track,
  range: { begin: number; end: number },
): Promise<SpanHit | null> {
  const directory = await run.tiles.loadDirectory(track);
  if (!directory) return null;
  let best: SpanHit | null = null;
  for (const leaf of leavesIn(directory, range.begin, range.end, 64)) {
    const spans = await run.tiles.loadLeaf(track, leaf);
    if (spans?.kind !== 'spans') continue;
    for (let i = 0; i < spans.count; i++) {
      const begin = spans.begin[i];
      if (begin >= range.end) break;
      if (begin + spans.length[i] < range.begin) continue;
      if (!best || spans.length[i] > best.end - best.begin) best = hitOf(run, track, spans, i);
    }
  }
  return best;
}

// The span before or after one of the same track, for the keyboard.
export async function neighbour(
  run: Run,
  track: Track,
  begin: number,
  step: 1 | -1,
): Promise<SpanHit | null> {
  const directory = await run.tiles.loadDirectory(track);
  if (!directory || directory.leaves === 0) return null;
  let leaf = 0;
  while (leaf + 1 < directory.leaves && directory.firstBegin[leaf + 1] <= begin) leaf++;
  for (let tried = 0; tried < 3 && leaf >= 0 && leaf < directory.leaves; tried++, leaf += step) {
    const spans = await run.tiles.loadLeaf(track, leaf);
    if (spans?.kind !== 'spans') return null;
    const order = step > 0 ? [...spans.begin.keys()] : [...spans.begin.keys()].reverse();
    for (const i of order) {
      const after = step > 0 ? spans.begin[i] > begin : spans.begin[i] < begin;
      if (after) return hitOf(run, track, spans, i);
    }
  }
  return null;
}
