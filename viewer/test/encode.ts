// SPDX-License-Identifier: Apache-2.0
// Writes tiles as docs/tiles.md says, slowly and plainly: what the page is tested against.
import { deflateRawSync } from 'node:zlib';

export interface SpanRow {
  begin: number;
  length: number;
  name: number;
  task?: bigint; // none: no task
  aux?: number;
  row?: number;
  flags?: number;
}

export interface SampleRow {
  time: number;
  value: number;
}

export const kShift = 10;
export const kLeaf = 4096;

export function zigzag(value: number): number {
  return value >= 0 ? value * 2 : -value * 2 - 1;
}

export function varints(values: number[]): Buffer {
  const bytes: number[] = [];
  for (let value of values) {
    while (value >= 128) {
      bytes.push(value % 128 | 128);
      value = Math.floor(value / 128);
    }
    bytes.push(value);
  }
  return Buffer.from(bytes);
}

function deltas(values: number[], before = 0): number[] {
  return values.map((value, i) => value - (i === 0 ? before : values[i - 1]));
}

export function header(kind: number, count: number, base: number): Buffer {
  const out = Buffer.alloc(20);
  out.write('TMT1', 0, 'latin1');
  out[4] = kind;
  out.writeUInt32LE(count, 8);
  out.writeBigUInt64LE(BigInt(base), 12);
  return out;
}

function column(values: number[]): Buffer {
  const body = varints(values);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(body.length);
  return Buffer.concat([size, body]);
}

export function encodeSpans(spans: SpanRow[]): Buffer {
  const base = spans[0]?.begin ?? 0;
  const none = 0xffffffffffffffffn;
  const low = spans.map((span) => Number((span.task ?? none) & 0xffffffffn));
  const high = spans.map((span) => Number((span.task ?? none) >> 32n));
  return Buffer.concat([
    header(1, spans.length, base),
    column(
      deltas(
        spans.map((span) => span.begin),
        base,
      ),
    ),
    column(spans.map((span) => span.length)),
    column(spans.map((span) => span.name)),
    column(deltas(low).map(zigzag)),
    column(high),
    column(spans.map((span) => span.aux ?? 0)),
    column(spans.map((span) => span.row ?? 0)),
    column(spans.map((span) => span.flags ?? 0)),
  ]);
}

export interface BucketRow {
  bucket: number;
  count: number;
  busy: number;
  longest: number;
  name: number;
  flags: number;
}

export function bucketsOf(spans: SpanRow[], width: number): BucketRow[] {
  const buckets = new Map<number, BucketRow & { names: Map<number, [number, number]> }>();
  const at = (bucket: number): BucketRow & { names: Map<number, [number, number]> } => {
    let one = buckets.get(bucket);
    if (!one) {
      one = { bucket, count: 0, busy: 0, longest: 0, name: 0, flags: 0, names: new Map() };
      buckets.set(bucket, one);
    }
    return one;
  };
  let covered = 0;
  for (const span of spans) {
    const own = at(Math.floor(span.begin / width));
    own.count++;
    own.longest = Math.max(own.longest, span.length);
    own.flags |= span.flags ?? 0;
    const note = (one: typeof own, ticks: number, begins: number): void => {
      const [sum, seen] = one.names.get(span.name) ?? [0, 0];
      one.names.set(span.name, [sum + ticks, seen + begins]);
    };
    note(own, 0, 1);
    const from = Math.max(span.begin, covered);
    const end = span.begin + span.length;
    for (let bucket = Math.floor(from / width); bucket * width < end; bucket++) {
      const ticks = Math.min(end, (bucket + 1) * width) - Math.max(from, bucket * width);
      if (ticks <= 0) continue;
      at(bucket).busy += ticks;
      note(at(bucket), ticks, 0);
    }
    covered = Math.max(covered, end);
  }
  for (const one of buckets.values()) {
    const best = [...one.names].sort(
      (a, b) => b[1][0] - a[1][0] || b[1][1] - a[1][1] || a[0] - b[0],
    )[0];
    one.name = best[0];
  }
  return [...buckets.values()].sort((a, b) => a.bucket - b.bucket);
}

export function encodeBuckets(rows: BucketRow[]): Buffer {
  const base = rows[0]?.bucket ?? 0;
  return Buffer.concat([
    header(2, rows.length, base),
    column(
      deltas(
        rows.map((row) => row.bucket),
        base,
      ),
    ),
    column(rows.map((row) => row.count)),
    column(rows.map((row) => row.busy)),
    column(rows.map((row) => row.longest)),
    column(rows.map((row) => row.name)),
    column(rows.map((row) => row.flags)),
  ]);
}

export function encodeSamples(rows: SampleRow[]): Buffer {
  const base = rows[0]?.time ?? 0;
  return Buffer.concat([
    header(3, rows.length, base),
    column(
      deltas(
        rows.map((row) => row.time),
        base,
      ),
    ),
    column(deltas(rows.map((row) => row.value)).map(zigzag)),
  ]);
}

interface SampleBucket {
  bucket: number;
  count: number;
  min: number;
  max: number;
  last: number;
}

function sampleBuckets(rows: SampleRow[], width: number): SampleBucket[] {
  const out: SampleBucket[] = [];
  for (const { time, value } of rows) {
    const bucket = Math.floor(time / width);
    const own = out[out.length - 1];
    if (own?.bucket === bucket) {
      own.count++;
      own.min = Math.min(own.min, value);
      own.max = Math.max(own.max, value);
      own.last = value;
    } else out.push({ bucket, count: 1, min: value, max: value, last: value });
  }
  return out;
}

function encodeSampleTile(rows: SampleBucket[]): Buffer {
  const base = rows[0]?.bucket ?? 0;
  return Buffer.concat([
    header(4, rows.length, base),
    column(
      deltas(
        rows.map((row) => row.bucket),
        base,
      ),
    ),
    column(rows.map((row) => row.count)),
    column(rows.map((row) => zigzag(row.min))),
    column(rows.map((row) => zigzag(row.max - row.min))),
    column(rows.map((row) => zigzag(row.last - row.min))),
  ]);
}

export function encodeDirectory(
  leaves: { first: number; end: number; count: number }[],
  levels: number[][],
): Buffer {
  return Buffer.concat([
    header(5, leaves.length, 0),
    column(deltas(leaves.map((leaf) => leaf.first))),
    column(leaves.map((leaf) => leaf.end - leaf.first)),
    column(leaves.map((leaf) => leaf.count)),
    ...levels.map((tiles) => {
      const body = varints(deltas(tiles));
      const head = Buffer.alloc(8);
      head.writeUInt32LE(tiles.length, 0);
      head.writeUInt32LE(body.length, 4);
      return Buffer.concat([head, body]);
    }),
  ]);
}

export function encodeSketch(pages: { first: number; last: number; records: number }[]): Buffer {
  return Buffer.concat([
    header(6, pages.length, 0),
    column(deltas(pages.map((page) => page.first))),
    column(pages.map((page) => page.last - page.first)),
    column(pages.map((page) => page.records)),
  ]);
}

export type Blobs = Map<string, Uint8Array>;

export function pack(blobs: Blobs, name: string, bytes: Uint8Array): void {
  blobs.set(name, deflateRawSync(bytes));
}

export function packJson(blobs: Blobs, name: string, value: unknown): void {
  pack(blobs, name, Buffer.from(JSON.stringify(value)));
}

// All tiles of a track of spans. Spans are sorted here.
export function packSpanTrack(
  blobs: Blobs,
  track: number,
  spans: SpanRow[],
  levelCount: number,
): void {
  spans.sort((a, b) => a.begin - b.begin || b.length - a.length);
  const leaves = [];
  for (let i = 0; i * kLeaf < spans.length; i++) {
    const leaf = spans.slice(i * kLeaf, (i + 1) * kLeaf);
    pack(blobs, `t/${track}/0/${i}`, encodeSpans(leaf));
    const end = leaf.reduce((most, span) => Math.max(most, span.begin + span.length), 0);
    leaves.push({ first: leaf[0].begin, end, count: leaf.length });
  }
  const levels = packLevels(
    blobs,
    track,
    levelCount,
    (level) => {
      const rows = bucketsOf(spans, 2 ** (kShift + 2 * (level - 1)));
      return rows.map((row) => ({ bucket: row.bucket, count: row.count, row }));
    },
    (rows) => encodeBuckets(rows.map((one) => one.row)),
  );
  pack(blobs, `dir/${track}`, encodeDirectory(leaves, levels));
}

export function packSampleTrack(
  blobs: Blobs,
  track: number,
  samples: SampleRow[],
  levelCount: number,
): void {
  samples.sort((a, b) => a.time - b.time);
  const leaves = [];
  for (let i = 0; i * kLeaf < samples.length; i++) {
    const leaf = samples.slice(i * kLeaf, (i + 1) * kLeaf);
    pack(blobs, `t/${track}/0/${i}`, encodeSamples(leaf));
    leaves.push({ first: leaf[0].time, end: leaf[leaf.length - 1].time, count: leaf.length });
  }
  const levels = packLevels(
    blobs,
    track,
    levelCount,
    (level) => {
      const rows = sampleBuckets(samples, 2 ** (kShift + 2 * (level - 1)));
      return rows.map((row) => ({ bucket: row.bucket, count: row.count, row }));
    },
    (rows) => encodeSampleTile(rows.map((one) => one.row)),
  );
  pack(blobs, `dir/${track}`, encodeDirectory(leaves, levels));
}

function packLevels<Row>(
  blobs: Blobs,
  track: number,
  levelCount: number,
  make: (level: number) => { bucket: number; count: number; row: Row }[],
  encode: (rows: { row: Row }[]) => Buffer,
): number[][] {
  const levels: number[][] = [];
  for (let level = 1; level <= levelCount; level++) {
    const byTile = new Map<number, { count: number; row: Row }[]>();
    for (const one of make(level)) {
      const tile = Math.floor(one.bucket / 1024);
      const own = byTile.get(tile);
      if (own) own.push(one);
      else byTile.set(tile, [one]);
    }
    const tiles: number[] = [];
    for (const [tile, rows] of byTile) {
      if (rows.reduce((sum, one) => sum + one.count, 0) <= 1024) continue;
      pack(blobs, `t/${track}/${level}/${tile}`, encode(rows));
      tiles.push(tile);
    }
    levels.push(tiles);
  }
  return levels;
}
