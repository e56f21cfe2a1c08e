// SPDX-License-Identifier: Apache-2.0
// The drawing list of one row: for every pixel what is in it. At most one rectangle per pixel comes
// of this by its form. Filled from leaves, from buckets, or from both while tiles are on their way.
import type { Buckets, Sketch, Spans } from '../codec/blobs';
import { firstAtLeast } from './sorted';
import type { View } from './view';

export class PixelRow {
  readonly name: Int32Array; // the name with the most ticks in it, -1: nothing
  readonly share: Float32Array; // how much of it is covered, 0..1
  readonly spans: Float64Array; // that begin in it
  readonly longest: Float64Array; // of those
  readonly owner: Int32Array; // the span with the most of the pixel, by number in its track; -1
  readonly flags: Uint8Array;
  private readonly best: Float64Array; // ticks of the leading name
  private readonly ownerTicks: Float64Array;

  constructor(readonly width: number) {
    this.name = new Int32Array(width);
    this.share = new Float32Array(width);
    this.spans = new Float64Array(width);
    this.longest = new Float64Array(width);
    this.owner = new Int32Array(width);
    this.flags = new Uint8Array(width);
    this.best = new Float64Array(width);
    this.ownerTicks = new Float64Array(width);
    this.clear();
  }

  clear(): void {
    this.name.fill(-1);
    this.share.fill(0);
    this.spans.fill(0);
    this.longest.fill(0);
    this.owner.fill(-1);
    this.flags.fill(0);
    this.best.fill(0);
    this.ownerTicks.fill(0);
  }

  // Ticks of one name in one pixel. Ticks of a name add up while they come pixel by pixel, which
  // spans of a row do that do not overlap.
  add(sums: NameSums, pixel: number, name: number, ticks: number, perPixel: number): void {
    const sum = sums.add(pixel, name, ticks);
    this.share[pixel] = Math.min(1, this.share[pixel] + ticks / perPixel);
    if (sum > this.best[pixel] || this.name[pixel] < 0) {
      this.best[pixel] = sum;
      this.name[pixel] = name;
    }
  }

  own(pixel: number, span: number, ticks: number): void {
    if (ticks <= this.ownerTicks[pixel] && this.owner[pixel] >= 0) return;
    this.ownerTicks[pixel] = ticks;
    this.owner[pixel] = span;
  }
}

// Ticks by name of the pixel at hand, without a map per pixel.
export class NameSums {
  private sums = new Float64Array(64);
  private stamps = new Uint32Array(64);
  private stamp = 0;
  private pixel = -1;

  begin(): void {
    this.pixel = -1;
  }

  add(pixel: number, name: number, ticks: number): number {
    if (pixel !== this.pixel) {
      this.pixel = pixel;
      this.stamp++;
    }
    const at = name < 65536 ? name : name % 65536;
    if (at >= this.sums.length) this.grow(at);
    if (this.stamps[at] !== this.stamp) {
      this.stamps[at] = this.stamp;
      this.sums[at] = 0;
    }
    return (this.sums[at] += ticks);
  }

  private grow(at: number): void {
    const size = 2 ** Math.ceil(Math.log2(at + 1));
    const sums = new Float64Array(size);
    const stamps = new Uint32Array(size);
    sums.set(this.sums);
    stamps.set(this.stamps);
    this.sums = sums;
    this.stamps = stamps;
  }
}

// Spans of a leaf into the rows they belong to, as far as they are in `only`; `firstSpan` is the
// number of the leaf's first span. Ticks that several spans of a row cover belong to the one that
// began first, as in buckets; `covered` is up to where each row has been covered.
export function addSpans(
  rows: PixelRow[],
  sums: NameSums[],
  covered: Float64Array,
  view: View,
  spans: Spans,
  firstSpan: number,
  only: { begin: number; end: number } = view,
): void {
  const width = rows[0].width;
  const perPixel = (view.end - view.begin) / width;
  const lowest = Math.max(view.begin, only.begin);
  const highest = Math.min(view.end, only.end);
  for (let i = firstAtLeast(spans.reach, lowest); i < spans.count; i++) {
    const begin = spans.begin[i];
    if (begin >= highest) break;
    const length = spans.length[i];
    const end = begin + length;
    if (end < lowest || (end === lowest && length > 0)) continue;
    const at = Math.min(spans.row[i], rows.length - 1);
    const row = rows[at];
    if (begin >= lowest) noteBegin(row, (begin - view.begin) / perPixel, length);
    const from = (Math.max(begin, lowest, covered[at]) - view.begin) / perPixel;
    const to = (Math.min(end, highest) - view.begin) / perPixel;
    if (to < from || (to === from && length > 0)) continue;
    covered[at] = Math.max(covered[at], Math.min(end, highest));
    const first = Math.min(width - 1, Math.max(0, Math.floor(from)));
    const last = Math.min(width - 1, Math.max(first, Math.ceil(to) - 1));
    const flags = spans.flags[i];
    for (let x = first; x <= last; x++) {
      const ticks = Math.max(0, Math.min(to, x + 1) - Math.max(from, x)) * perPixel;
      row.add(sums[at], x, spans.name[i], ticks, perPixel);
      row.own(x, firstSpan + i, ticks);
      row.flags[x] |= flags;
    }
  }
}

function noteBegin(row: PixelRow, from: number, length: number): void {
  const x = Math.min(row.width - 1, Math.max(0, Math.floor(from)));
  row.spans[x]++;
  if (length > row.longest[x]) row.longest[x] = length;
}

// Buckets of `ticks` width. No wider than a pixel: each belongs to the pixel in which it begins.
// Wider (the right tiles are not there yet): it is spread over the pixels it covers.
export function addBuckets(
  row: PixelRow,
  sums: NameSums,
  view: View,
  buckets: Buckets,
  ticks: number,
  only: { begin: number; end: number } = view,
): void {
  const width = row.width;
  const perPixel = (view.end - view.begin) / width;
  const lowest = Math.max(view.begin, only.begin);
  const highest = Math.min(view.end, only.end);
  for (let i = firstAtLeast(buckets.bucket, lowest / ticks - 1); i < buckets.count; i++) {
    const begin = buckets.bucket[i] * ticks;
    if (begin >= highest) break;
    const from = (begin - view.begin) / perPixel;
    if (ticks <= perPixel) {
      if (begin < lowest) continue;
      const x = Math.min(width - 1, Math.floor(from));
      row.add(sums, x, buckets.name[i], buckets.busy[i], perPixel);
      note(row, x, buckets, i);
      continue;
    }
    const to = from + ticks / perPixel;
    const share = buckets.busy[i] / ticks;
    const first = Math.max(0, Math.floor(Math.max(from, (lowest - view.begin) / perPixel)));
    const last = Math.min(width, Math.ceil(Math.min(to, (highest - view.begin) / perPixel)));
    for (let x = first; x < last; x++) {
      row.add(sums, x, buckets.name[i], share * perPixel, perPixel);
      note(row, x, buckets, i);
    }
  }
}

function note(row: PixelRow, x: number, buckets: Buckets, i: number): void {
  row.spans[x] += buckets.spans[i];
  if (buckets.longest[i] > row.longest[x]) row.longest[x] = buckets.longest[i];
  row.flags[x] |= buckets.flags[i];
}

// Pages of a capture whose records were not read yet: how dense they are.
export function addSketch(row: PixelRow, view: View, sketch: Sketch): void {
  const perPixel = (view.end - view.begin) / row.width;
  for (let i = 0; i < sketch.count; i++) {
    if (sketch.first[i] >= view.end || sketch.last[i] < view.begin) continue;
    const first = Math.max(0, Math.floor((sketch.first[i] - view.begin) / perPixel));
    const last = Math.min(row.width - 1, Math.floor((sketch.last[i] - view.begin) / perPixel));
    for (let x = first; x <= last; x++) {
      row.share[x] = 1;
      row.spans[x] += sketch.records[i] / (last - first + 1);
    }
  }
}

// The range of time whose spans a pixel of buckets shows: whole buckets that begin in it.
export function pixelRange(
  view: View,
  width: number,
  x: number,
  ticks: number,
): { begin: number; end: number } {
  const perPixel = (view.end - view.begin) / width;
  const edge = (at: number): number => Math.ceil((view.begin + at * perPixel) / ticks) * ticks;
  return { begin: edge(x), end: edge(x + 1) };
}
