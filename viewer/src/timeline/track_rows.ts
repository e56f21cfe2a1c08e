// SPDX-License-Identifier: Apache-2.0
// Fills the pixel rows of a track from whatever tiles are there, and asks for those that are not.
// Until they come, buckets of coarser levels are drawn in their place.
import type { Spans } from '../codec/blobs';
import type { Directory } from '../codec/blobs';
import { bucketWidth, type Track } from '../codec/index_file';
import type { TileStore } from '../tiles/tile_store';
import { kBucketsPerTile, levelFor, planTiles, type Piece } from './levels';
import { addBuckets, addSketch, addSpans, NameSums, PixelRow } from './pixel_row';
import { firstAtLeast } from './sorted';
import type { View } from './view';

export const kSpansPerLeaf = 4096;

export interface FilledRows {
  rows: PixelRow[];
  level: number; // 0: leaves, -1: from page headers, -2: nothing is there yet
  complete: boolean;
}

// Rows are kept and used again: a frame makes no garbage.
export class RowFiller {
  private readonly pool: PixelRow[] = [];
  private used = 0;
  private readonly sums: NameSums[] = [];
  private readonly covered = new Float64Array(16);

  beginFrame(): void {
    this.used = 0;
  }

  // All rows that are to be drawn. Buckets know nothing of depth, so there is one row where some are
  // drawn, and leaves beside them go into it; what a lane lost or marked is one row anyway.
  fill(store: TileStore, track: Track, view: View, width: number): FilledRows {
    const directory = store.directory(track);
    const plan = directory ? planTiles(directory, store.index, view, width) : null;
    const single =
      track.kind === 'loss' || track.kind === 'marks' || (plan !== null && plan.level > 0);
    const rows = this.take(single ? 1 : track.rows, width);
    if (directory === undefined) return this.beforeDirectory(store, track, view, rows);
    if (directory === null || !plan) return this.fromSketch(store, track, view, rows);
    this.covered.fill(-1);
    let complete = true;
    for (const piece of plan.pieces) {
      const there =
        piece.tile < 0
          ? this.fillLeaves(store, track, directory, piece, view, rows)
          : this.fillBuckets(store, track, directory, plan.level, piece, view, rows);
      complete &&= there;
    }
    return { rows, level: plan.level, complete };
  }

  private take(count: number, width: number): PixelRow[] {
    const rows: PixelRow[] = [];
    for (let i = 0; i < count; i++) {
      let row = this.pool[this.used];
      if (!row || row.width !== width) this.pool[this.used] = row = new PixelRow(width);
      else row.clear();
      this.used++;
      rows.push(row);
      (this.sums[i] ??= new NameSums()).begin();
    }
    return rows;
  }

  // The sketch of the generation before, if there was one, stays until the directory is there.
  private beforeDirectory(
    store: TileStore,
    track: Track,
    view: View,
    rows: PixelRow[],
  ): FilledRows {
    const before = store.have(`dir/${track.id}`);
    if (before?.kind !== 'sketch') return { rows, level: -2, complete: false };
    addSketch(rows[0], view, before);
    return { rows, level: -1, complete: false };
  }

  private fromSketch(store: TileStore, track: Track, view: View, rows: PixelRow[]): FilledRows {
    if (!store.index.progress.sketchOnly) return { rows, level: 0, complete: true };
    const sketch = store.sketch(track);
    if (sketch) addSketch(rows[0], view, sketch);
    return { rows, level: -1, complete: sketch !== undefined };
  }

  private fillLeaves(
    store: TileStore,
    track: Track,
    directory: Directory,
    piece: Piece,
    view: View,
    rows: PixelRow[],
  ): boolean {
    const leaves = piece.leaves.map((leaf) => store.leaf(track, leaf));
    if (
      leaves.includes(undefined) &&
      this.fallBack(store, track, directory, 0, view, rows, piece)
    ) {
      return false;
    }
    leaves.forEach((spans, i) => {
      if (spans?.kind !== 'spans') return;
      addSpans(rows, this.sums, this.covered, view, spans, piece.leaves[i] * kSpansPerLeaf, piece);
    });
    return !leaves.includes(undefined);
  }

  private fillBuckets(
    store: TileStore,
    track: Track,
    directory: Directory,
    level: number,
    piece: Piece,
    view: View,
    rows: PixelRow[],
  ): boolean {
    const buckets = store.buckets(track, level, piece.tile);
    if (buckets === undefined) this.fallBack(store, track, directory, level, view, rows, piece);
    if (buckets?.kind === 'buckets') {
      addBuckets(rows[0], this.sums[0], view, buckets, bucketWidth(store.index, level), piece);
    }
    return buckets !== undefined;
  }

  // What coarser buckets know of a range whose tile is on its way. False: they know nothing.
  private fallBack(
    store: TileStore,
    track: Track,
    directory: Directory,
    level: number,
    view: View,
    rows: PixelRow[],
    range: { begin: number; end: number },
  ): boolean {
    const part = { begin: Math.max(view.begin, range.begin), end: Math.min(view.end, range.end) };
    if (part.begin >= part.end) return false;
    // Tiles of finer levels than the view asks for would be too many to look for.
    const suits = levelFor(store.index, (view.end - view.begin) / rows[0].width);
    // The directory may still be that of a shorter run, which had fewer levels.
    const coarsest = Math.min(store.index.levelCount, directory.levels.length);
    for (let coarser = Math.max(level + 1, suits); coarser <= coarsest; coarser++) {
      const ticks = bucketWidth(store.index, coarser);
      const tiles = directory.levels[coarser - 1];
      const whole = ticks * kBucketsPerTile;
      let found = false;
      for (let i = firstAtLeast(tiles, Math.floor(part.begin / whole)); i < tiles.length; i++) {
        if (tiles[i] * whole >= part.end) break;
        const blob = store.have(`t/${track.id}/${coarser}/${tiles[i]}`);
        if (blob?.kind !== 'buckets') continue;
        found = true;
        addBuckets(rows[0], this.sums[0], view, blob, ticks, part);
      }
      if (found) return true;
    }
    return false;
  }
}

// The span of a leaf by its number in the track, where the leaf is at hand.
export function spanAt(
  store: TileStore,
  track: Track,
  span: number,
): { spans: Spans; at: number } | null {
  const blob = store.have(`t/${track.id}/0/${Math.floor(span / kSpansPerLeaf)}`);
  const at = span % kSpansPerLeaf;
  return blob?.kind === 'spans' && at < blob.count ? { spans: blob, at } : null;
}
