// SPDX-License-Identifier: Apache-2.0
// The frame of every binary blob: a header, then columns of unsigned LEB128 varints.
//
//   "TMT1" | u8 kind | 3 zero bytes | u32 count | u64 base | columns: u32 bytes, varints
//
// Values are doubles: ticks stay below 2^53. What is larger (the value of a mark or a counter) is the
// nearest double; its sign and its sums are those of 64 bits.
import { BlobError } from './blob_error';

export const kHeaderBytes = 20;
// More than the C++ side ever writes into one blob; a blob that says more is damaged.
export const kMostRows = 1 << 20;
const kHigh = 4294967296;

export class ColumnReader {
  readonly count: number;
  readonly base: number;
  private readonly view: DataView;
  private at = kHeaderBytes;

  constructor(
    readonly blob: string,
    private readonly bytes: Uint8Array,
    kind: number,
  ) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (bytes.length < kHeaderBytes) throw new BlobError(blob, 'shorter than its header');
    if (this.view.getUint32(0, true) !== 0x31544d54) throw new BlobError(blob, 'is no tile');
    if (bytes[4] !== kind) throw new BlobError(blob, `is of kind ${bytes[4]}, not ${kind}`);
    if (bytes[5] || bytes[6] || bytes[7]) throw new BlobError(blob, 'is of a later version');
    this.count = this.view.getUint32(8, true);
    this.base = this.view.getUint32(12, true) + this.view.getUint32(16, true) * kHigh;
    if (this.count > kMostRows) throw new BlobError(blob, `says it has ${this.count} rows`);
    if (this.base > Number.MAX_SAFE_INTEGER) throw new BlobError(blob, 'begins beyond 2^53');
  }

  get more(): boolean {
    return this.at < this.bytes.length;
  }

  u32(): number {
    if (this.at + 4 > this.bytes.length) throw new BlobError(this.blob, 'is cut');
    const value = this.view.getUint32(this.at, true);
    this.at += 4;
    return value;
  }

  // One column of `count` plain values.
  column(count = this.count): Float64Array {
    const size = this.u32();
    const end = this.at + size;
    if (end > this.bytes.length) throw new BlobError(this.blob, 'is cut inside a column');
    // A varint has at least one byte: checked before room for `count` values is taken.
    if (count > size) throw new BlobError(this.blob, 'has a column that is too short');
    const out = new Float64Array(count);
    const stopped = readVarints(this.bytes, this.at, end, out);
    if (stopped !== end) throw new BlobError(this.blob, 'has a column that does not add up');
    this.at = end;
    return out;
  }

  signed(count = this.count): Float64Array {
    return this.integers(count, () => 0n, unzigzag);
  }

  // Differences, each to the value before it, modulo 2^64.
  signedSums(count = this.count): Float64Array {
    return this.integers(count, (before) => before, sumsOf);
  }

  // Differences to `others`, modulo 2^64.
  signedOver(others: BigInt64Array | null, doubles: Float64Array): Float64Array {
    const at = (i: number): bigint => others?.[i] ?? BigInt(doubles[i]);
    return this.integers(
      doubles.length,
      (_, i) => at(i),
      (values) => {
        unzigzag(values);
        for (let i = 0; i < values.length; i++) values[i] += doubles[i];
        return values;
      },
    );
  }

  // The column as 64-bit integers, where doubles are too small for it; else null.
  private wideInts: BigInt64Array | null = null;
  get wide(): BigInt64Array | null {
    return this.wideInts;
  }

  // Doubles where all values and results are whole in them, else 64-bit integers: base(i) + value.
  private integers(
    count: number,
    base: (before: bigint, i: number) => bigint,
    quick: (values: Float64Array) => Float64Array,
  ): Float64Array {
    const from = this.at + 4;
    const raw = this.column(count);
    this.wideInts = null;
    const fits = raw.every(isWhole);
    const values = fits ? quick(raw) : raw;
    if (fits && values.every(isWhole)) return values;
    const wide = new BigInt64Array(count);
    let at = from;
    let before = 0n;
    for (let i = 0; i < count; i++) {
      let value = 0n;
      let shift = 0n;
      let byte = 0;
      do {
        byte = this.bytes[at++];
        value |= BigInt(byte & 127) << shift;
        shift += 7n;
      } while (byte >= 128);
      const signed = value & 1n ? -((value + 1n) >> 1n) : value >> 1n;
      before = BigInt.asIntN(64, base(before, i) + signed);
      wide[i] = before;
      values[i] = Number(before);
    }
    this.wideInts = wide;
    return values;
  }

  // Deltas summed up from `first`: sorted values.
  running(first: number, count = this.count): Float64Array {
    const out = this.column(count);
    let sum = first;
    for (let i = 0; i < out.length; i++) {
      sum += out[i];
      out[i] = sum;
    }
    if (sum > Number.MAX_SAFE_INTEGER) throw new BlobError(this.blob, 'goes beyond 2^53');
    return out;
  }

  finish(): void {
    if (this.more) throw new BlobError(this.blob, 'has bytes after its last column');
  }
}

// Fills `out` from bytes[at, end). Returns where it stopped; -1 if a varint is cut or too long.
export function readVarints(bytes: Uint8Array, at: number, end: number, out: Float64Array): number {
  for (let i = 0; i < out.length; i++) {
    if (at >= end) return -1;
    let byte = bytes[at++];
    if (byte < 128) {
      out[i] = byte;
      continue;
    }
    let value = byte & 127;
    let scale = 128;
    do {
      if (at >= end || scale > 1e21) return -1;
      byte = bytes[at++];
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte >= 128);
    out[i] = value;
  }
  return at;
}

function isWhole(value: number): boolean {
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

function sumsOf(deltas: Float64Array): Float64Array {
  let sum = 0;
  unzigzag(deltas);
  for (let i = 0; i < deltas.length; i++) deltas[i] = sum += deltas[i];
  return deltas;
}

export function unzigzag(values: Float64Array): Float64Array {
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    values[i] = value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
  return values;
}
