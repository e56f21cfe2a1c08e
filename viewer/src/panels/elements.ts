// SPDX-License-Identifier: Apache-2.0
// The elements of a dumped tensor as numbers, and what can be said of them.

const kSizes: Record<string, number> = {
  float32: 4,
  float16: 2,
  bfloat16: 2,
  float64: 8,
  int8: 1,
  int16: 2,
  int32: 4,
  int64: 8,
  uint8: 1,
  uint16: 2,
  uint32: 4,
  uint64: 8,
  bool: 1,
};

export function elementBytes(dtype: string): number {
  return kSizes[dtype] ?? 0;
}

// As many whole elements as the bytes have. 64-bit integers beyond 2^53 lose their low bits.
export function elementsOf(bytes: Uint8Array, dtype: string): Float64Array | null {
  const size = elementBytes(dtype);
  if (size === 0) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const out = new Float64Array(Math.floor(bytes.length / size));
  const read = readerOf(dtype, view);
  for (let i = 0; i < out.length; i++) out[i] = read(i * size);
  return out;
}

function readerOf(dtype: string, view: DataView): (at: number) => number {
  switch (dtype) {
    case 'float32':
      return (at) => view.getFloat32(at, true);
    case 'float64':
      return (at) => view.getFloat64(at, true);
    case 'float16':
      return (at) => half(view.getUint16(at, true));
    case 'bfloat16':
      return (at) => brain(view, at);
    case 'int8':
      return (at) => view.getInt8(at);
    case 'int16':
      return (at) => view.getInt16(at, true);
    case 'int32':
      return (at) => view.getInt32(at, true);
    case 'int64':
      return (at) => Number(view.getBigInt64(at, true));
    case 'uint16':
      return (at) => view.getUint16(at, true);
    case 'uint32':
      return (at) => view.getUint32(at, true);
    case 'uint64':
      return (at) => Number(view.getBigUint64(at, true));
    default:
      return (at) => view.getUint8(at);
  }
}

export function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}

const kWord = new DataView(new ArrayBuffer(4));
function brain(view: DataView, at: number): number {
  kWord.setUint32(0, view.getUint16(at, true) << 16);
  return kWord.getFloat32(0);
}

// Two dimensions of a tensor with the others held: rows and columns of a picture.
export interface Slice {
  values: Float64Array;
  rows: number;
  columns: number;
}

export function sliceOf(elements: Float64Array, shape: number[], at: number[]): Slice {
  const columns = Math.max(1, shape[shape.length - 1] ?? 1);
  const rows = Math.max(1, shape[shape.length - 2] ?? 1);
  let first = 0;
  let stride = rows * columns;
  for (let dim = shape.length - 3; dim >= 0; dim--) {
    first += Math.min(at[dim] ?? 0, shape[dim] - 1) * stride;
    stride *= shape[dim];
  }
  return fold({ values: elements.subarray(first, first + rows * columns), rows, columns });
}

// A long row becomes a block, which shows more of it.
function fold(slice: Slice): Slice {
  const { rows, columns, values } = slice;
  if (rows !== 1 || columns < 64) return slice;
  let wide = 2 ** Math.ceil(Math.log2(Math.sqrt(columns)));
  while (wide > 1 && columns % wide !== 0) wide--;
  return wide >= 8 ? { values, rows: columns / wide, columns: wide } : slice;
}

export interface Range {
  least: number;
  most: number;
  finite: number;
  nan: number;
  inf: number;
}

export function rangeOf(...slices: Float64Array[]): Range {
  const range: Range = { least: Infinity, most: -Infinity, finite: 0, nan: 0, inf: 0 };
  for (const values of slices) {
    for (const value of values) {
      if (Number.isNaN(value)) range.nan++;
      else if (!Number.isFinite(value)) range.inf++;
      else {
        range.finite++;
        if (value < range.least) range.least = value;
        if (value > range.most) range.most = value;
      }
    }
  }
  return range;
}

export function histogram(values: Float64Array, range: Range, bins: number): Float64Array {
  const counts = new Float64Array(bins);
  const width = range.most - range.least;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    const at = width > 0 ? Math.floor(((value - range.least) / width) * bins) : 0;
    counts[Math.max(0, Math.min(bins - 1, at))]++;
  }
  return counts;
}

// A dark to light scale that colour-blind eyes can read.
const kScale = [
  [13, 8, 60],
  [68, 40, 120],
  [54, 92, 141],
  [38, 140, 140],
  [74, 193, 109],
  [180, 222, 60],
  [253, 231, 90],
];

export function shade(part: number): [number, number, number] {
  const at = Math.max(0, Math.min(0.999999, part)) * (kScale.length - 1);
  const low = kScale[Math.floor(at)];
  const high = kScale[Math.floor(at) + 1];
  const rest = at - Math.floor(at);
  return [0, 1, 2].map((i) => low[i] + (high[i] - low[i]) * rest) as [number, number, number];
}
