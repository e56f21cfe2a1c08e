// SPDX-License-Identifier: Apache-2.0
// index.json: what the run is, its tracks, names and levels. Checked once here, so that the rest of
// the page can rely on every number.
import * as shape from './shape';
import type { Json } from './shape';

export type TrackKind =
  | 'core'
  | 'scheduler'
  | 'orchestrator'
  | 'scopes'
  | 'lane'
  | 'counter'
  | 'marks'
  | 'loss';
const kKinds = new Set([
  'core',
  'scheduler',
  'orchestrator',
  'scopes',
  'lane',
  'counter',
  'marks',
  'loss',
]);

export interface Track {
  id: number;
  kind: TrackKind;
  name: string;
  unit: string;
  coreType: string;
  values: 'spans' | 'samples';
  count: number;
  rows: number;
  parent: number | null;
  unitOfValue: string;
}

export interface Progress {
  complete: boolean;
  live: boolean;
  sketchOnly: boolean;
  recordsDone: number;
  records: number;
  generation: number;
}

export interface Index {
  run: Json;
  title: string;
  ticksPerSecond: number;
  launch: number;
  end: number;
  levelCount: number;
  shift: number;
  names: string[];
  nameKinds: string[];
  tracks: Track[];
  documents: Set<string>;
  tasks: number;
  tensors: number;
  payloadNote: string;
  missing: Json;
  progress: Progress;
  blobs: string; // prefix of names of this generation
  pending: string; // nothing is there yet: what is being done
}

// The run is known, but it has nothing that can be drawn.
export class NothingToShow extends Error {
  constructor(
    reason: string,
    readonly title: string,
    readonly run: Json,
  ) {
    super(reason);
  }
}

export const kMostLevels = 24;
const kMostTracks = 1 << 17;

export function readIndex(bytes: Uint8Array): Index {
  const json = shape.parseJson('index.json', bytes);
  if (json.format !== 'tidemark-tiles') throw new Error('index.json: is not of Tidemark');
  if (json.version !== 1) {
    throw new Error(`index.json: version ${shape.text(json.version, '?')}, this page reads 1`);
  }
  if (typeof json.error === 'string') {
    throw new NothingToShow(json.error, shape.text(json.title), shape.record(json.run));
  }
  const tracks = shape.records(json.tracks);
  if (tracks.length > kMostTracks) throw new Error(`index.json: ${tracks.length} tracks`);
  const launch = Math.max(0, shape.number(json.launch));
  const end = Math.min(Math.max(launch + 1, shape.number(json.end)), Number.MAX_SAFE_INTEGER);
  return {
    run: shape.record(json.run),
    title: shape.text(json.title, 'a run without a name'),
    ticksPerSecond: positive(json.ticks_per_second, 1e9),
    launch,
    end,
    levelCount: Math.min(kMostLevels, Math.max(0, Math.floor(shape.number(json.level_count)))),
    shift: Math.min(40, Math.max(0, Math.floor(shape.number(json.shift, 10)))),
    names: shape.list(json.names).map((name) => shape.text(name, '?')),
    nameKinds: shape.list(json.name_kinds).map((kind) => shape.text(kind)),
    tracks: distinct(tracks.map(readTrack)),
    documents: new Set(shape.texts(json.documents)),
    tasks: Math.max(0, shape.number(json.tasks)),
    tensors: Math.max(0, shape.number(json.tensors)),
    payloadNote: shape.text(json.payload_note),
    missing: shape.record(json.missing),
    progress: readProgress(json),
    blobs: safePrefix(shape.text(json.blobs)),
    pending: shape.text(json.pending),
  };
}

function positive(value: unknown, otherwise: number): number {
  const result = shape.number(value, otherwise);
  return result > 0 ? result : otherwise;
}

function readProgress(json: Json): Progress {
  const progress = shape.record(json.progress);
  const making = shape.record(json.making);
  const pending = typeof json.pending === 'string';
  return {
    complete: !pending && progress.complete !== false,
    live: json.live === true,
    sketchOnly: progress.sketch_only === true,
    recordsDone: shape.number(making.records_done, shape.number(progress.records_done)),
    records: shape.number(making.records, shape.number(progress.records)),
    generation: shape.number(json.generation, shape.number(progress.generation)),
  };
}

// A prefix is a part of an address: only the letters of names, and no way up.
export function safePrefix(prefix: string): string {
  return /^([a-zA-Z0-9_-][a-zA-Z0-9._-]*\/)*$/.test(prefix) ? prefix : '';
}

function readTrack(json: Json): Track {
  const kind = shape.text(json.kind);
  return {
    id: Math.floor(shape.number(json.id, -1)),
    kind: (kKinds.has(kind) ? kind : 'lane') as TrackKind,
    name: shape.text(json.name, '?'),
    unit: shape.text(json.unit),
    coreType: shape.text(json.core_type),
    values: json.values === 'samples' ? 'samples' : 'spans',
    count: Math.max(0, shape.number(json.count)),
    rows: Math.min(16, Math.max(1, Math.floor(shape.number(json.rows, 1)))),
    parent: shape.maybe(json.parent),
    unitOfValue: shape.text(json.unit_of_value),
  };
}

function distinct(tracks: Track[]): Track[] {
  const seen = new Set<number>();
  return tracks.filter((track) => {
    if (track.id < 0 || seen.has(track.id)) return false;
    seen.add(track.id);
    return true;
  });
}

export function nameOf(index: Index, name: number): string {
  return index.names[name] ?? `name ${name}`;
}

// The width of one bucket of a level >= 1, in ticks.
export function bucketWidth(index: { shift: number }, level: number): number {
  return 2 ** (index.shift + 2 * (level - 1));
}
