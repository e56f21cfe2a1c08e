// SPDX-License-Identifier: Apache-2.0
// Where each track is on the screen. A loss or marks track is drawn over the track it belongs to.
import type { Index, Track } from '../codec/index_file';

export interface Lane {
  track: Track;
  y: number; // from the top of all lanes
  height: number;
  rowHeight: number;
  losses: Track[];
  marks: Track[];
}

export interface Layout {
  lanes: Lane[];
  byTrack: Map<number, Lane>;
  height: number;
}

const kLeastRow = 8;
const kMostRow = 3.6; // of the size of letters

// Rows are as high as the room allows.
export function layOut(index: Index, room: number, font = 11): Layout {
  const lanes: Lane[] = [];
  const byTrack = new Map<number, Lane>();
  const ids = new Set(index.tracks.map((track) => track.id));
  let units = 0;
  for (const track of index.tracks) {
    const over = track.kind === 'loss' || track.kind === 'marks';
    if (over && track.parent !== null && ids.has(track.parent)) continue;
    const lane: Lane = { track, y: 0, height: 0, rowHeight: 0, losses: [], marks: [] };
    lanes.push(lane);
    byTrack.set(track.id, lane);
    units += unitsOf(track);
  }
  for (const track of index.tracks) {
    const lane = track.parent === null ? undefined : byTrack.get(track.parent);
    if (!lane || byTrack.has(track.id)) continue;
    if (track.kind === 'loss') lane.losses.push(track);
    if (track.kind === 'marks') lane.marks.push(track);
  }
  const row = Math.max(kLeastRow, Math.min(kMostRow * font, Math.floor(room / Math.max(units, 1))));
  let y = 0;
  for (const lane of lanes) {
    lane.y = y;
    lane.rowHeight = row;
    lane.height = Math.round(row * unitsOf(lane.track));
    y += lane.height;
  }
  return { lanes, byTrack, height: y };
}

// In rows: a counter is higher, rows of scopes are lower than others.
function unitsOf(track: Track): number {
  if (track.values === 'samples') return 1.5;
  return track.rows > 1 ? Math.max(1, track.rows * 0.75) : 1;
}

export function laneAt(layout: Layout, y: number): Lane | null {
  let low = 0;
  let high = layout.lanes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const lane = layout.lanes[middle];
    if (y < lane.y) high = middle;
    else if (y >= lane.y + lane.height) low = middle + 1;
    else return lane;
  }
  return null;
}
