// SPDX-License-Identifier: Apache-2.0
// The kinds of binary blobs, decoded to typed arrays. docs/tiles.md is the format.
import { BlobError } from './blob_error';
import { ColumnReader } from './columns';

export interface Spans {
  kind: 'spans';
  count: number;
  begin: Float64Array;
  length: Float64Array;
  reach: Float64Array; // the largest end of this span and all before it in the leaf
  name: Uint32Array;
  taskLow: Uint32Array;
  taskHigh: Uint32Array;
  aux: Float64Array;
  row: Uint8Array;
  flags: Uint8Array;
}

export interface Buckets {
  kind: 'buckets';
  count: number;
  bucket: Float64Array;
  spans: Float64Array;
  busy: Float64Array;
  longest: Float64Array;
  name: Uint32Array;
  flags: Uint8Array;
}

export interface Samples {
  kind: 'samples';
  count: number;
  time: Float64Array;
  value: Float64Array;
}

export interface SampleBuckets {
  kind: 'sample buckets';
  count: number;
  bucket: Float64Array;
  samples: Float64Array;
  least: Float64Array;
  most: Float64Array;
  last: Float64Array;
}

export interface Directory {
  kind: 'directory';
  leaves: number;
  firstBegin: Float64Array;
  largestEnd: Float64Array; // of the leaf's own spans
  reach: Float64Array; // the largest end of this leaf and all before it
  spans: Float64Array;
  levels: Float64Array[]; // the numbers of the bucket tiles that exist; [0] is level 1
}

export interface Sketch {
  kind: 'sketch';
  count: number;
  first: Float64Array;
  last: Float64Array;
  records: Float64Array;
}

export type Blob = Spans | Buckets | Samples | SampleBuckets | Directory | Sketch;

export const kFlagNotFinite = 1;
const kNoTask = 0xffffffff;

// `signedAux`: of a track of marks, whose aux is a value.
export function decodeSpans(blob: string, bytes: Uint8Array, signedAux = false): Spans {
  const reader = new ColumnReader(blob, bytes, 1);
  const begin = reader.column();
  // The first delta is from the base, which is the first begin itself.
  addUp(blob, begin, reader.base);
  const spans: Spans = {
    kind: 'spans',
    count: reader.count,
    begin,
    length: reader.column(),
    reach: new Float64Array(reader.count),
    name: Uint32Array.from(reader.column()),
    taskLow: wrapping(reader.signed()),
    taskHigh: Uint32Array.from(reader.column()),
    aux: signedAux ? reader.signed() : reader.column(),
    row: clamped(reader.column()),
    flags: new Uint8Array(reader.count),
  };
  if (reader.more) spans.flags = Uint8Array.from(reader.column());
  reader.finish();
  let reach = 0;
  for (let i = 0; i < spans.count; i++) {
    reach = Math.max(reach, begin[i] + spans.length[i]);
    spans.reach[i] = reach;
  }
  return spans;
}

function addUp(blob: string, values: Float64Array, first: number): void {
  let sum = first;
  for (let i = 0; i < values.length; i++) {
    sum += values[i];
    values[i] = sum;
  }
  if (sum > Number.MAX_SAFE_INTEGER) throw new BlobError(blob, 'goes beyond 2^53');
}

// Signed deltas of 32-bit numbers, summed up modulo 2^32.
function wrapping(deltas: Float64Array): Uint32Array {
  const out = new Uint32Array(deltas.length);
  let value = 0;
  for (let i = 0; i < deltas.length; i++) {
    value = (value + deltas[i]) >>> 0;
    out[i] = value;
  }
  return out;
}

function clamped(values: Float64Array): Uint8Array {
  const out = new Uint8Array(values.length);
  for (let i = 0; i < values.length; i++) out[i] = Math.min(values[i], 255);
  return out;
}

export function decodeBuckets(blob: string, bytes: Uint8Array): Buckets {
  const reader = new ColumnReader(blob, bytes, 2);
  const buckets: Buckets = {
    kind: 'buckets',
    count: reader.count,
    bucket: reader.running(reader.base),
    spans: reader.column(),
    busy: reader.column(),
    longest: reader.column(),
    name: Uint32Array.from(reader.column()),
    flags: Uint8Array.from(reader.column()),
  };
  reader.finish();
  return buckets;
}

export function decodeSamples(blob: string, bytes: Uint8Array): Samples {
  const reader = new ColumnReader(blob, bytes, 3);
  const time = reader.running(reader.base);
  const value = reader.signedSums();
  reader.finish();
  return { kind: 'samples', count: reader.count, time, value };
}

export function decodeSampleBuckets(blob: string, bytes: Uint8Array): SampleBuckets {
  const reader = new ColumnReader(blob, bytes, 4);
  const bucket = reader.running(reader.base);
  const samples = reader.column();
  const least = reader.signed();
  const { wide } = reader;
  const most = reader.signedOver(wide, least);
  const last = reader.signedOver(wide, least);
  reader.finish();
  return { kind: 'sample buckets', count: reader.count, bucket, samples, least, most, last };
}

export function decodeDirectory(blob: string, bytes: Uint8Array, levelCount: number): Directory {
  const reader = new ColumnReader(blob, bytes, 5);
  const firstBegin = reader.running(0);
  const largestEnd = reader.column();
  const reach = new Float64Array(reader.count);
  let furthest = 0;
  for (let i = 0; i < reader.count; i++) {
    largestEnd[i] += firstBegin[i];
    furthest = Math.max(furthest, largestEnd[i]);
    reach[i] = furthest;
  }
  const spans = reader.column();
  const levels: Float64Array[] = [];
  for (let level = 0; level < levelCount; level++) {
    const tiles = reader.u32();
    if (tiles > bytes.length)
      throw new BlobError(blob, `says level ${level + 1} has ${tiles} tiles`);
    levels.push(reader.running(0, tiles));
  }
  reader.finish();
  return {
    kind: 'directory',
    leaves: reader.count,
    firstBegin,
    largestEnd,
    reach,
    spans,
    levels,
  };
}

export function decodeSketch(blob: string, bytes: Uint8Array): Sketch {
  const reader = new ColumnReader(blob, bytes, 6);
  const first = reader.running(reader.base);
  const last = reader.column();
  for (let i = 0; i < last.length; i++) last[i] += first[i];
  const records = reader.column();
  reader.finish();
  return { kind: 'sketch', count: reader.count, first, last, records };
}

// Of a task: the id as documents write it. Null: the span belongs to no task.
export function taskOf(spans: Spans, at: number): string | null {
  const low = spans.taskLow[at];
  const high = spans.taskHigh[at];
  if (low === kNoTask && high === kNoTask) return null;
  return `0x${high.toString(16).padStart(8, '0')}${low.toString(16).padStart(8, '0')}`;
}

// What the arrays of a blob take, for the cache.
export function bytesOf(blob: Blob): number {
  let sum = 200;
  for (const value of Object.values(blob)) {
    if (ArrayBuffer.isView(value)) sum += value.byteLength;
    else if (Array.isArray(value)) for (const one of value) sum += (one as Float64Array).byteLength;
  }
  return sum;
}
