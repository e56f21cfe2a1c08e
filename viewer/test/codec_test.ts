// SPDX-License-Identifier: Apache-2.0
// Decoding against bytes written by hand, and blobs that lie: each is refused in words, at once.
import assert from 'node:assert/strict';
import { deflateRawSync } from 'node:zlib';
import { test } from 'node:test';
import { BlobError } from '../src/codec/blob_error';
import {
  decodeBuckets,
  decodeDirectory,
  decodeSampleBuckets,
  decodeSamples,
  decodeSketch,
  decodeSpans,
  taskOf,
} from '../src/codec/blobs';
import { readVarints, unzigzag } from '../src/codec/columns';
import { readIndex, safePrefix } from '../src/codec/index_file';
import { fromBase64 } from '../src/source/base64';
import { inflate } from '../src/source/inflate';
import {
  encodeBuckets,
  encodeDirectory,
  encodeSamples,
  encodeSpans,
  header,
  type SpanRow,
} from './encode';
import { random } from './demo_run';

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);
const head = (kind: number, count: number, base: number): number[] => [
  0x54,
  0x4d,
  0x54,
  0x31,
  kind,
  0,
  0,
  0,
  count,
  0,
  0,
  0,
  base,
  0,
  0,
  0,
  0,
  0,
  0,
  0,
];
const column = (...values: number[]): number[] => [values.length, 0, 0, 0, ...values];

test('Varints.AreReadAcrossByteBoundaries', () => {
  const out = new Float64Array(4);
  assert.equal(readVarints(bytes(0, 0x7f, 0x80, 0x01, 0xff, 0xff, 0xff, 0xff, 0x0f), 0, 9, out), 9);
  assert.deepEqual([...out], [0, 127, 128, 4294967295]);
});

test('Varints.ThatAreCutOrEndlessAreRefused', () => {
  assert.equal(readVarints(bytes(0x80), 0, 1, new Float64Array(1)), -1);
  assert.equal(readVarints(new Uint8Array(64).fill(0x80), 0, 64, new Float64Array(1)), -1);
});

test('Zigzag.KeepsSigns', () => {
  assert.deepEqual(
    [...unzigzag(Float64Array.from([0, 1, 2, 3, 4294967295]))],
    [0, -1, 1, -2, -2147483648],
  );
});

test('Spans.AreDecodedFromBytesWrittenByHand', () => {
  const spans = decodeSpans(
    't',
    bytes(
      ...head(1, 2, 100),
      ...column(0, 50),
      ...column(10, 0x80, 0x01),
      ...column(1, 0),
      ...column(4, 2),
      ...column(1, 1),
      ...column(0, 3),
      ...column(0, 1),
      ...column(0, 1),
    ),
  );
  assert.deepEqual([...spans.begin], [100, 150]);
  assert.deepEqual([...spans.length], [10, 128]);
  assert.deepEqual([...spans.name], [1, 0]);
  assert.equal(taskOf(spans, 0), '0x0000000100000002');
  assert.equal(taskOf(spans, 1), '0x0000000100000003');
  assert.deepEqual([...spans.row], [0, 1]);
  assert.deepEqual([...spans.flags], [0, 1]);
});

test('Spans.OfSevenColumnsHaveNoFlags', () => {
  const spans = decodeSpans(
    't',
    bytes(
      ...head(1, 1, 5),
      ...column(0),
      ...column(1),
      ...column(0),
      ...column(1),
      ...column(0),
      ...column(0),
      ...column(0),
    ),
  );
  assert.deepEqual([...spans.flags], [0]);
  assert.equal(spans.taskLow[0], 0xffffffff);
});

test('Spans.WithoutATaskSaySo', () => {
  const spans = decodeSpans(
    't',
    encodeSpans([
      { begin: 3, length: 1, name: 0 },
      { begin: 4, length: 1, name: 0, task: 7n },
    ]),
  );
  assert.equal(taskOf(spans, 0), null);
  assert.equal(taskOf(spans, 1), '0x0000000000000007');
});

test('Buckets.AreDecodedFromBytesWrittenByHand', () => {
  const buckets = decodeBuckets(
    't',
    bytes(
      ...head(2, 2, 7),
      ...column(0, 3),
      ...column(2, 1),
      ...column(100, 5),
      ...column(60, 0),
      ...column(1, 2),
      ...column(0, 1),
    ),
  );
  assert.deepEqual([...buckets.bucket], [7, 10]);
  assert.deepEqual([...buckets.spans], [2, 1]);
  assert.deepEqual([...buckets.busy], [100, 5]);
  assert.deepEqual([...buckets.flags], [0, 1]);
});

test('Samples.AreDecodedFromBytesWrittenByHand', () => {
  const samples = decodeSamples(
    't',
    bytes(...head(3, 3, 9), ...column(0, 1, 2), ...column(8, 3, 0)),
  );
  assert.deepEqual([...samples.time], [9, 10, 12]);
  assert.deepEqual([...samples.value], [4, 2, 2]);
  const buckets = decodeSampleBuckets(
    't',
    bytes(...head(4, 1, 2), ...column(0), ...column(3), ...column(3), ...column(8), ...column(2)),
  );
  assert.deepEqual([buckets.least[0], buckets.most[0], buckets.last[0]], [-2, 2, -1]);
});

// A varint of 64 bits, in zigzag.
function wide(value: bigint): number[] {
  let left = BigInt.asUintN(64, value < 0n ? -2n * value - 1n : 2n * value);
  const out: number[] = [];
  for (; left >= 128n; left >>= 7n) out.push(Number(left & 127n) | 128);
  return [...out, Number(left)];
}

test('Samples.KeepSignAndSumOf64Bits', () => {
  // From the least value to the most: the difference wraps to -1. Then back to 5.
  const least = -(2n ** 63n);
  const deltas = [wide(least), wide(-1n), wide(BigInt.asIntN(64, 5n - (2n ** 63n - 1n)))];
  const samples = decodeSamples(
    't',
    bytes(...head(3, 3, 0), ...column(0, 1, 1), ...column(...deltas.flat())),
  );
  assert.deepEqual([...samples.value], [-(2 ** 63), 2 ** 63, 5]);
  const from = wide(least + 3n);
  const buckets = decodeSampleBuckets(
    't',
    bytes(
      ...head(4, 1, 0),
      ...column(0),
      ...column(2),
      ...column(...from),
      ...column(...wide(-4n)),
      ...column(0),
    ),
  );
  assert.deepEqual(
    [buckets.least[0], buckets.most[0], buckets.last[0]],
    [-(2 ** 63), 2 ** 63, -(2 ** 63)],
  );
  const marks = decodeSpans(
    't',
    bytes(
      ...head(1, 1, 7),
      ...[0, 0, 0, 0, 0].flatMap((one) => column(one)),
      ...column(...wide(-(2n ** 60n) - 1n)),
      ...column(0),
    ),
    true,
  );
  assert.equal(marks.aux[0], -(2 ** 60));
});

test('Directory.KnowsWhichTilesExist', () => {
  const directory = decodeDirectory(
    'd',
    encodeDirectory(
      [
        { first: 10, end: 900, count: 4096 },
        { first: 500, end: 600, count: 12 },
      ],
      [[0, 3], []],
    ),
    2,
  );
  assert.deepEqual([...directory.largestEnd], [900, 600]);
  assert.deepEqual([...directory.reach], [900, 900]);
  assert.deepEqual(
    directory.levels.map((level) => [...level]),
    [[0, 3], []],
  );
});

test('Sketch.IsDecodedFromBytesWrittenByHand', () => {
  const sketch = decodeSketch(
    'd',
    bytes(...head(6, 2, 0), ...column(5, 10), ...column(3, 4), ...column(100, 50)),
  );
  assert.deepEqual([...sketch.first], [5, 15]);
  assert.deepEqual([...sketch.last], [8, 19]);
});

test('Encoder.AndDecoderAgreeOnRandomSpans', () => {
  const next = random(11);
  const rows: SpanRow[] = [];
  let begin = 0;
  for (let i = 0; i < 3000; i++) {
    begin += Math.floor(next() ** 8 * 2 ** 40);
    rows.push({
      begin,
      length: Math.floor(next() ** 6 * 2 ** 36),
      name: Math.floor(next() * 300),
      task: next() < 0.1 ? undefined : BigInt(Math.floor(next() * 2 ** 52)) * 4093n,
      aux: Math.floor(next() * 1e6),
      row: Math.floor(next() * 4),
      flags: next() < 0.1 ? 1 : 0,
    });
  }
  const spans = decodeSpans('t', encodeSpans(rows));
  rows.forEach((row, i) => {
    assert.equal(spans.begin[i], row.begin);
    assert.equal(spans.length[i], row.length);
    const task = row.task === undefined ? null : `0x${row.task.toString(16).padStart(16, '0')}`;
    assert.equal(taskOf(spans, i), task);
  });
});

test('Blob.ThatLiesIsRefusedInWords', () => {
  const good = encodeSpans([{ begin: 1, length: 2, name: 0, task: 5n }]);
  const lies: [Uint8Array, RegExp][] = [
    [new Uint8Array(0), /shorter than its header/],
    [good.subarray(0, 30), /cut/],
    [Buffer.concat([good, Buffer.of(1)]), /cut|after its last column|add up/],
    [header(1, 0xffffffff, 0), /says it has 4294967295 rows/],
    [Buffer.concat([header(1, 1000000, 0), Buffer.from([4, 0, 0, 0, 1, 1, 1, 1])]), /too short/],
    [header(2, 0, 0), /is of kind 2/],
    [Buffer.concat([header(1, 1, 0), Buffer.from([255, 255, 255, 255])]), /cut inside/],
  ];
  for (const [blob, reason] of lies) {
    assert.throws(
      () => decodeSpans('t/1/0/0', blob),
      (error: Error) => {
        assert.ok(error instanceof BlobError);
        assert.match(error.message, /^t\/1\/0\/0: /);
        assert.match(error.message, reason);
        return true;
      },
    );
  }
});

test('Blob.OfRandomBytesNeverHangsAndNeverThrowsAnythingElse', () => {
  const next = random(5);
  const began = process.cpuUsage().user;
  const seeds = [
    encodeSpans([
      { begin: 1, length: 2, name: 0 },
      { begin: 3, length: 9, name: 1 },
    ]),
    encodeBuckets([{ bucket: 1, count: 2, busy: 3, longest: 4, name: 5, flags: 0 }]),
    encodeSamples([{ time: 4, value: 5 }]),
    encodeDirectory([{ first: 1, end: 2, count: 3 }], [[1]]),
  ];
  for (let i = 0; i < 20000; i++) {
    const blob = Uint8Array.from(seeds[i % seeds.length]);
    for (let k = 0; k < 1 + next() * 4; k++) {
      blob[Math.floor(next() * blob.length)] = Math.floor(next() * 256);
    }
    for (const decode of [
      decodeSpans,
      decodeBuckets,
      decodeSamples,
      decodeSampleBuckets,
      decodeSketch,
      (name: string, b: Uint8Array) => decodeDirectory(name, b, 1),
    ]) {
      try {
        decode('blob', blob);
      } catch (error) {
        assert.ok(error instanceof BlobError, String(error));
      }
    }
  }
  assert.ok(process.cpuUsage().user - began < 20e6, 'more than 20 s of processor time');
});

test('Inflate.StopsAtItsLimit', async () => {
  const bomb = deflateRawSync(Buffer.alloc(4 << 20));
  await assert.rejects(inflate('t', bomb, 1 << 20), /t: is larger than 1 MiB when unpacked/);
  assert.equal((await inflate('t', bomb, 8 << 20)).length, 4 << 20);
});

test('Inflate.RefusesWhatIsNoDeflate', async () => {
  await assert.rejects(inflate('t/9', Uint8Array.from([7, 1, 2, 3, 4, 5, 6])), /^Error: t\/9: /);
  await assert.rejects(inflate('t/9', deflateRawSync(Buffer.alloc(999)).subarray(0, 4)), /t\/9: /);
});

test('Base64.IsReadAndRefused', () => {
  const all = Uint8Array.from({ length: 256 }, (_, i) => i);
  for (const size of [0, 1, 2, 3, 255, 256]) {
    const part = all.subarray(0, size);
    assert.deepEqual([...fromBase64(`\n${Buffer.from(part).toString('base64')} `)], [...part]);
  }
  assert.throws(() => fromBase64('AA*A'), /character 42/);
});

test('Index.ThatIsForeignIsRefusedInWords', () => {
  const read = (value: unknown): unknown => readIndex(Buffer.from(JSON.stringify(value)));
  assert.throws(() => readIndex(Buffer.from('{')), /index.json: is no JSON/);
  assert.throws(() => read([]), /no JSON object/);
  assert.throws(() => read({}), /not of Tidemark/);
  assert.throws(
    () => read({ format: 'tidemark-tiles', version: 9 }),
    /version 9, this page reads 1/,
  );
  assert.throws(
    () => read({ format: 'tidemark-tiles', version: 1, error: 'no capture' }),
    /no capture/,
  );
});

test('Index.OfWrongTypesStillHasEveryNumber', () => {
  const index = readIndex(
    Buffer.from(
      JSON.stringify({
        format: 'tidemark-tiles',
        version: 1,
        ticks_per_second: -4,
        launch: 'x',
        end: null,
        shift: 1e9,
        level_count: 1e9,
        names: [1, null, 'a'],
        tracks: [{ id: 1 }, { id: 1 }, 7, null, { id: 'x' }],
        run: [],
        progress: 5,
        blobs: '../../etc/',
      }),
    ),
  );
  assert.equal(index.ticksPerSecond, 1e9);
  assert.equal(index.end, 1);
  assert.equal(index.shift, 40);
  assert.equal(index.tracks.length, 1);
  assert.deepEqual(index.names, ['1', '?', 'a']);
  assert.equal(index.blobs, '');
});

test('Prefix.LeadsNowhereElse', () => {
  for (const bad of ['../', '/', '//host/', 'http://host/', 'a/../b/', 'a', '.hidden/', 'a//']) {
    assert.equal(safePrefix(bad), '', bad);
  }
  for (const good of ['', 'other/', 'run/3/', 'run/a-b_c.d/']) assert.equal(safePrefix(good), good);
});
