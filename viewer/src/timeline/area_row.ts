// SPDX-License-Identifier: Apache-2.0
// The drawing list of a counter: for every pixel the least and the most it was. Between samples a
// counter keeps its value.
import type { SampleBuckets, Samples } from '../codec/blobs';
import { bucketWidth, type Track } from '../codec/index_file';
import type { TileStore } from '../tiles/tile_store';
import { planTiles } from './levels';
import { firstAtLeast } from './sorted';
import type { View } from './view';

export class AreaRow {
  readonly least: Float64Array;
  readonly most: Float64Array;
  complete = true;
  heldFrom = Infinity; // the first pixel after the last sample of all

  constructor(readonly width: number) {
    this.least = new Float64Array(width).fill(NaN);
    this.most = new Float64Array(width).fill(NaN);
  }

  // From `x` on it is `value`; `from` and the pixels up to `x` keep what came before.
  see(x: number, least: number, most: number): void {
    if (Number.isNaN(this.least[x])) {
      this.least[x] = least;
      this.most[x] = most;
    } else {
      this.least[x] = Math.min(this.least[x], least);
      this.most[x] = Math.max(this.most[x], most);
    }
  }

  hold(from: number, to: number, value: number): void {
    for (let x = Math.max(0, from); x < Math.min(to, this.width); x++) this.see(x, value, value);
  }

  peak(): number {
    let most = 0;
    for (const value of this.most) if (value > most) most = value;
    return most;
  }
}

export function fillArea(store: TileStore, track: Track, view: View, width: number): AreaRow {
  const area = new AreaRow(width);
  const directory = store.directory(track);
  if (!directory) {
    area.complete = directory === null;
    return area;
  }
  const walk = new Walk(area, view);
  const leaf = (tile: number, range: { begin: number; end: number }): void => {
    const samples = store.leaf(track, tile);
    if (samples === undefined) area.complete = false;
    if (samples?.kind === 'samples') walk.samples(samples, range);
  };
  // The leaf in which the view begins has the value that it begins with.
  const before = Math.max(0, firstAtLeast(directory.firstBegin, view.begin) - 1);
  if (directory.leaves > 0) leaf(before, { begin: -1, end: view.begin });
  const plan = planTiles(directory, store.index, view, width);
  for (const piece of plan.pieces) {
    const range = { begin: Math.max(piece.begin, view.begin), end: piece.end };
    if (piece.tile < 0) {
      for (const tile of piece.leaves) leaf(tile, range);
      continue;
    }
    const buckets = store.buckets(track, plan.level, piece.tile);
    if (buckets === undefined) area.complete = false;
    if (buckets?.kind === 'sample buckets') {
      walk.buckets(buckets, bucketWidth(store.index, plan.level));
    }
  }
  walk.finish(store.index.end);
  const last = directory.leaves > 0 ? directory.reach[directory.leaves - 1] : -1;
  if (last < view.end) {
    area.heldFrom = Math.floor(((last - view.begin) / (view.end - view.begin)) * width) + 1;
  }
  return area;
}

// Goes through samples in the order of their times and remembers the last value.
class Walk {
  private value = NaN;
  private next = 0; // the pixel up to which the value was held
  private readonly perPixel: number;

  constructor(
    private readonly area: AreaRow,
    private readonly view: View,
  ) {
    this.perPixel = (view.end - view.begin) / area.width;
  }

  samples(samples: Samples, range: { begin: number; end: number }): void {
    for (let i = 0; i < samples.count; i++) {
      if (samples.time[i] < range.begin) continue;
      if (samples.time[i] >= Math.min(range.end, this.view.end)) return;
      this.step(samples.time[i], samples.value[i], samples.value[i], samples.value[i]);
    }
  }

  buckets(buckets: SampleBuckets, ticks: number): void {
    for (let i = 0; i < buckets.count; i++) {
      const time = buckets.bucket[i] * ticks;
      if (time >= this.view.end) return;
      this.step(time, buckets.least[i], buckets.most[i], buckets.last[i]);
    }
  }

  private step(time: number, least: number, most: number, last: number): void {
    const x = Math.floor((time - this.view.begin) / this.perPixel);
    if (x >= 0 && x < this.area.width) {
      if (!Number.isNaN(this.value)) this.area.hold(this.next, x + 1, this.value);
      this.area.see(x, least, most);
      this.next = x + 1;
    }
    this.value = last;
  }

  finish(end: number): void {
    if (Number.isNaN(this.value)) return;
    const last = Math.ceil((end - this.view.begin) / this.perPixel);
    this.area.hold(this.next, last, this.value);
  }
}
