// SPDX-License-Identifier: Apache-2.0
// Which tiles a view needs. Where few spans are in it: leaves. Else the buckets of the coarsest
// level whose width is at most a pixel; a bucket tile exists only where more than 1,024 spans
// begin, and leaves answer for the ranges between.
import type { Directory } from '../codec/blobs';
import { bucketWidth } from '../codec/index_file';
import { firstAtLeast } from './sorted';
import type { View } from './view';

export const kBucketsPerTile = 1024;
// So many leaves of one track are read for a view before buckets serve better.
const kMostLeaves = 2;
const kMostSpans = 3000;
const kMostLeavesWhenClose = 12;

export interface Levels {
  shift: number;
  levelCount: number;
}

// A range of time and what answers for it: one bucket tile, or leaves.
export interface Piece {
  begin: number;
  end: number;
  tile: number; // of the plan's level; -1: the leaves
  leaves: number[];
}

export interface Plan {
  level: number; // 0: nothing but leaves
  pieces: Piece[];
}

export function planTiles(directory: Directory, levels: Levels, view: View, width: number): Plan {
  const level = levelFor(levels, (view.end - view.begin) / width);
  const leaves = leavesIn(directory, view.begin, view.end, kMostLeavesWhenClose);
  const all: Plan = {
    level: 0,
    pieces: [{ begin: view.begin, end: view.end, tile: -1, leaves }],
  };
  const few =
    level === 0
      ? leaves.length <= kMostLeavesWhenClose
      : leaves.length <= kMostLeaves && spansIn(directory, leaves, view) <= kMostSpans;
  if (few) return all;
  const used = Math.max(1, level);
  if (levels.levelCount === 0) return all;
  return { level: used, pieces: piecesOf(directory, levels, used, view) };
}

// About how many spans of these leaves are in view, were they spread evenly.
function spansIn(directory: Directory, leaves: number[], view: View): number {
  return leaves.reduce((sum, leaf) => {
    const begin = directory.firstBegin[leaf];
    const end = Math.max(directory.largestEnd[leaf], begin + 1);
    const part = Math.min(end, view.end) - Math.max(begin, view.begin);
    return sum + directory.spans[leaf] * Math.max(0, Math.min(1, part / (end - begin)));
  }, 0);
}

function piecesOf(directory: Directory, levels: Levels, level: number, view: View): Piece[] {
  const ticks = bucketWidth(levels, level) * kBucketsPerTile;
  const pieces: Piece[] = [];
  const last = Math.max(0, Math.ceil(view.end / ticks));
  let next = Math.max(0, Math.floor(view.begin / ticks));
  const without = (to: number): void => {
    if (next < to) pieces.push({ begin: next * ticks, end: to * ticks, tile: -1, leaves: [] });
  };
  // From one tile that exists to the next: a long run with few tiles has few pieces.
  const tiles = directory.levels[level - 1] ?? new Float64Array();
  for (let i = firstAtLeast(tiles, next); i < tiles.length && tiles[i] < last; i++) {
    const tile = tiles[i];
    without(tile);
    pieces.push({ begin: tile * ticks, end: (tile + 1) * ticks, tile, leaves: [] });
    next = tile + 1;
  }
  without(last);
  for (const piece of pieces) {
    if (piece.tile >= 0) continue;
    piece.leaves = leavesIn(
      directory,
      Math.max(piece.begin, view.begin),
      Math.min(piece.end, view.end),
      Infinity,
    );
  }
  return pieces;
}

// The coarsest level whose buckets are no wider than a pixel; 0: none.
export function levelFor(levels: Levels, perPixel: number): number {
  let level = 0;
  while (level < levels.levelCount && bucketWidth(levels, level + 1) <= perPixel) level++;
  return level;
}

// The leaves that have something in [begin, end); at most one more than `most`.
export function leavesIn(directory: Directory, begin: number, end: number, most: number): number[] {
  const leaves: number[] = [];
  const last = firstAtLeast(directory.firstBegin, end);
  for (let i = firstAtLeast(directory.reach, begin); i < last && leaves.length <= most; i++) {
    if (directory.largestEnd[i] >= begin) leaves.push(i);
  }
  return leaves;
}
