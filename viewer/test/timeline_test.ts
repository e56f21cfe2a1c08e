// SPDX-License-Identifier: Apache-2.0
// View arithmetic, the choice of tiles, and the drawing list against a naive computation.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeDirectory } from '../src/codec/blobs';
import { readIndex, type Index } from '../src/codec/index_file';
import { fillArea } from '../src/timeline/area_row';
import { axisTicks } from '../src/timeline/axis';
import { layOut, laneAt } from '../src/timeline/lanes';
import { leavesIn, levelFor, planTiles } from '../src/timeline/levels';
import { pixelRange, type PixelRow } from '../src/timeline/pixel_row';
import { drawRow } from '../src/timeline/span_target';
import { RowFiller } from '../src/timeline/track_rows';
import { clampView, pan, snapped, ticksAt, xOf, zoomAt, type View } from '../src/timeline/view';
import { TileStore } from '../src/tiles/tile_store';
import { random } from './demo_run';
import {
  kShift,
  packSampleTrack,
  packSpanTrack,
  type Blobs,
  type SampleRow,
  type SpanRow,
  encodeDirectory,
} from './encode';
import { MemorySource, settled } from './memory_source';

const kLevels = 10;

function indexOf(end: number, tracks: unknown[]): Index {
  return readIndex(
    Buffer.from(
      JSON.stringify({
        format: 'tidemark-tiles',
        version: 1,
        title: 'test',
        launch: 0,
        end,
        level_count: kLevels,
        shift: kShift,
        names: ['a', 'b', 'c', 'd'],
        name_kinds: ['kernel', 'kernel', 'kernel', 'kernel'],
        tracks,
        progress: { complete: true },
      }),
    ),
  );
}

function randomSpans(seed: number, count: number, gap: number, longest = 9000): SpanRow[] {
  const next = random(seed);
  const spans: SpanRow[] = [];
  let at = 0;
  for (let i = 0; i < count; i++) {
    at += Math.floor(next() ** 4 * gap);
    const length = next() < 0.05 ? 0 : Math.floor(next() ** 3 * longest);
    spans.push({ begin: at, length, name: Math.floor(next() * 4), flags: next() < 0.001 ? 1 : 0 });
    // Now and then spans of a lane overlap.
    at += next() < 0.03 ? Math.floor(length / 2) : length;
  }
  return spans;
}

async function storeOf(spans: SpanRow[]): Promise<{ store: TileStore; end: number }> {
  const blobs: Blobs = new Map();
  packSpanTrack(blobs, 0, spans, kLevels);
  const end = spans.reduce((most, span) => Math.max(most, span.begin + span.length), 1);
  const index = indexOf(end, [
    { id: 0, kind: 'core', name: 'core 0', values: 'spans', count: spans.length, rows: 1 },
  ]);
  return { store: new TileStore(new MemorySource(blobs), index), end };
}

async function filled(
  store: TileStore,
  view: View,
  width: number,
): Promise<{
  row: PixelRow;
  level: number;
}> {
  for (;;) {
    const filler = new RowFiller();
    filler.beginFrame();
    const result = filler.fill(store, store.index.tracks[0], view, width);
    if (result.complete) return { row: result.rows[0], level: result.level };
    await settled(store);
  }
}

// What a range of time holds, from the spans alone. Ticks that several cover belong to the first.
function naive(
  spans: SpanRow[],
  begin: number,
  end: number,
): {
  count: number;
  busy: number;
  longest: number;
  names: Map<number, number>;
  flags: number;
} {
  const result = { count: 0, busy: 0, longest: 0, names: new Map<number, number>(), flags: 0 };
  let covered = 0;
  for (const span of spans) {
    const last = span.begin + span.length;
    if (span.begin >= begin && span.begin < end) {
      result.count++;
      result.longest = Math.max(result.longest, span.length);
    }
    const ticks = Math.min(last, end) - Math.max(span.begin, covered, begin);
    if (ticks > 0) {
      result.busy += ticks;
      result.names.set(span.name, (result.names.get(span.name) ?? 0) + ticks);
    }
    covered = Math.max(covered, last);
  }
  return result;
}

test('View.ZoomKeepsWhatIsUnderThePointer', () => {
  const bounds = { begin: 0, end: 1e9 };
  let view: View = { begin: 2e8, end: 6e8 };
  for (let i = 0; i < 40; i++) {
    const before = ticksAt(view, 1000, 300);
    view = zoomAt(view, bounds, 0.3, i < 20 ? 0.8 : 1.25);
    assert.ok(Math.abs(ticksAt(view, 1000, 300) - before) < 1);
  }
});

test('View.StaysWithinTheRun', () => {
  const bounds = { begin: 0, end: 1000000 };
  const far = pan({ begin: 0, end: 1000 }, bounds, 1e9);
  assert.ok(far.end <= 1000050 && far.begin > 990000);
  const out = zoomAt({ begin: 10, end: 20 }, bounds, 0.5, 1e12);
  assert.ok(out.end - out.begin <= 1100000);
  const close = zoomAt({ begin: 10, end: 90 }, bounds, 0.5, 1e-9);
  assert.ok(close.end - close.begin >= 16);
  const odd = clampView({ begin: NaN, end: NaN }, bounds);
  assert.ok(odd.begin <= 0 && odd.end >= 1000000);
});

test('View.PixelsKeepTheirRangesWhilePanning', () => {
  const bounds = { begin: 0, end: 1e9 };
  const first = snapped({ begin: 1000.3, end: 501000.3 }, 500);
  const moved = snapped(pan(first, bounds, 7.4 / 500), 500);
  const steps = (moved.begin - first.begin) / ((first.end - first.begin) / 500);
  assert.ok(Math.abs(steps - Math.round(steps)) < 1e-6);
  assert.equal(Math.round(xOf(first, 500, ticksAt(first, 500, 123))), 123);
});

test('Level.IsTheCoarsestThatIsNoWiderThanAPixel', () => {
  const levels = { shift: 10, levelCount: 5 };
  assert.equal(levelFor(levels, 1023), 0);
  assert.equal(levelFor(levels, 1024), 1);
  assert.equal(levelFor(levels, 4095), 1);
  assert.equal(levelFor(levels, 4096), 2);
  assert.equal(levelFor(levels, 1e15), 5);
});

test('Leaves.AreThoseThatReachIntoTheRange', () => {
  const directory = decodeDirectory(
    'd',
    encodeDirectory(
      [
        { first: 0, end: 1000, count: 9 },
        { first: 500, end: 90000, count: 9 },
        { first: 2000, end: 3000, count: 9 },
        { first: 2900, end: 3200, count: 9 },
      ],
      [],
    ),
    0,
  );
  assert.deepEqual(leavesIn(directory, 1000, 1001, 9), [0, 1]);
  assert.deepEqual(leavesIn(directory, 1001, 2000, 9), [1]);
  assert.deepEqual(leavesIn(directory, 3000, 3100, 9), [1, 2, 3]);
  assert.deepEqual(leavesIn(directory, 3001, 9e9, 9), [1, 3]);
  assert.deepEqual(leavesIn(directory, 90001, 9e9, 9), []);
  assert.deepEqual(leavesIn(directory, 0, 9e9, 1), [0, 1]);
});

// Buckets of one tick in a run of days: what there is to look through are the tiles, not the days.
test('Plan.OfALongRunWithFewTilesIsShort', () => {
  const leaves = Array.from({ length: 20 }, (_, i) => ({
    first: i * 4e11,
    end: i * 4e11 + 9,
    count: 4096,
  }));
  const directory = decodeDirectory('d', encodeDirectory(leaves, [[5, 6, 390625000]]), 1);
  const plan = planTiles(directory, { shift: 0, levelCount: 1 }, { begin: 0, end: 8e12 }, 1000);
  const pieces = plan.pieces.map(({ begin, end, tile }) => [begin, end, tile]);
  assert.deepEqual(pieces, [
    [0, 5120, -1],
    [5120, 6144, 5],
    [6144, 7168, 6],
    [7168, 4e11, -1],
    [4e11, 4e11 + 1024, 390625000],
    [4e11 + 1024, 8e12, -1],
  ]);
  assert.deepEqual(
    plan.pieces.map(({ leaves: own }) => own.length),
    [1, 0, 0, 0, 0, 18],
  );
});

test('Plan.AsksForFewTilesAtEveryZoom', async () => {
  const { store, end } = await storeOf(randomSpans(3, 60000, 4000));
  const track = store.index.tracks[0];
  const directory = await store.loadDirectory(track);
  assert.ok(directory);
  const next = random(9);
  for (let i = 0; i < 300; i++) {
    const width = 2 ** (4 + next() * (Math.log2(end) - 4));
    const begin = next() * (end - width);
    const plan = planTiles(directory, store.index, { begin, end: begin + width }, 1100);
    const tiles = plan.pieces.reduce(
      (sum, piece) => sum + (piece.tile >= 0 ? 1 : piece.leaves.length),
      0,
    );
    assert.ok(tiles <= 16, `${tiles} tiles for ${width} ticks`);
  }
});

for (const [claim, seed, count, gap, length] of [
  ['Crowded', 6, 60000, 200, 200],
  ['Dense', 1, 40000, 900, 9000],
  ['Sparse', 2, 9000, 2e6, 9000],
  ['Small', 4, 500, 50000, 9000],
] as const) {
  test(`DrawingList.OfA${claim}TrackEqualsANaiveCountAtRandomPixels`, async () => {
    const spans = randomSpans(seed, count, gap, length);
    const { store, end } = await storeOf(spans);
    const next = random(seed + 100);
    const width = 700;
    const seen = new Set<number>();
    for (let round = 0; round < 60; round++) {
      const wide = 2 ** (6 + next() * (Math.log2(end) - 6));
      const begin = Math.floor(next() * (end - wide));
      const view = snapped({ begin, end: begin + wide }, width);
      const { row, level } = await filled(store, view, width);
      seen.add(level);
      for (let k = 0; k < 25; k++) {
        comparePixel(spans, row, view, width, Math.floor(next() * width), level);
      }
    }
    assert.ok(seen.has(0));
    if (claim === 'Dense' || claim === 'Crowded')
      assert.ok(seen.size >= 2, `levels seen: ${[...seen]}`);
  });
}

function comparePixel(
  spans: SpanRow[],
  row: PixelRow,
  view: View,
  width: number,
  x: number,
  level: number,
): void {
  const perPixel = (view.end - view.begin) / width;
  const exact = { begin: view.begin + x * perPixel, end: view.begin + (x + 1) * perPixel };
  const bucketed = level > 0 ? pixelRange(view, width, x, 2 ** (kShift + 2 * (level - 1))) : exact;
  // A pixel comes from buckets, or exactly from leaves where the range has few spans.
  const candidates = [bucketed, exact].map((range) => naive(spans, range.begin, range.end));
  const fits = candidates.some(
    (expected) =>
      expected.count === row.spans[x] &&
      expected.longest === row.longest[x] &&
      Math.abs(Math.min(1, expected.busy / perPixel) - row.share[x]) < 1e-3 &&
      expected.count + expected.busy > 0 === row.name[x] >= 0,
  );
  assert.ok(
    fits,
    `pixel ${x} at level ${level}: ${JSON.stringify({
      shown: {
        count: row.spans[x],
        longest: row.longest[x],
        share: row.share[x],
        name: row.name[x],
      },
      candidates: candidates.map((one) => ({ ...one, share: one.busy / perPixel })),
    })}`,
  );
  if (level > 0 || row.name[x] < 0) return;
  const best = Math.max(0, ...candidates[1].names.values());
  const shown = candidates[1].names.get(row.name[x]) ?? 0;
  assert.ok(shown >= best - 1e-6 * perPixel - 1e-9, `pixel ${x} shows ${row.name[x]}`);
}

test('DrawingList.SumsOverTheWholeRunEqualTheSpans', async () => {
  const spans = randomSpans(21, 50000, 2000);
  const { store, end } = await storeOf(spans);
  for (const wide of [end * 1.02, end * 1.07]) {
    const view = snapped({ begin: -end * 0.01, end: wide }, 1100);
    const { row } = await filled(store, view, 1100);
    assert.equal(
      row.spans.reduce((a, b) => a + b, 0),
      spans.length,
    );
    const busy = naive(spans, 0, end + 1).busy;
    const shown = row.share.reduce((a, b) => a + b, 0) * ((view.end - view.begin) / 1100);
    assert.ok(Math.abs(shown - busy) / busy < 0.02);
  }
});

test('DrawingList.HasAtMostOneRectanglePerPixel', async () => {
  const { store, end } = await storeOf(randomSpans(8, 40000, 700));
  for (const part of [1, 0.3, 0.01, 0.0005]) {
    const { row } = await filled(store, { begin: 0, end: end * part }, 640);
    const taken = new Uint8Array(640);
    const rectangles = drawRow(row, 0, 9, {
      run: (x, width) => {
        for (let i = x; i < x + width; i++) assert.equal(taken[i]++, 0);
      },
      endRow: () => undefined,
      plain: () => assert.fail('plain'),
      hatch: () => assert.fail('hatch'),
    });
    assert.ok(rectangles > 0 && rectangles <= 640);
    for (let x = 0; x < 640; x++) assert.equal(taken[x] > 0, row.name[x] >= 0);
  }
});

test('DrawingList.ShowsANotFiniteSpanAtEveryZoom', async () => {
  const spans = randomSpans(31, 30000, 1500).map((span) => ({ ...span, flags: 0 }));
  spans[17000].flags = 1;
  spans[17000].length = Math.max(1, spans[17000].length);
  const { store, end } = await storeOf(spans);
  const at = spans[17000].begin;
  for (let wide = 4000; wide < end * 2; wide *= 3) {
    const { row } = await filled(store, { begin: at - wide / 2, end: at + wide / 2 }, 500);
    assert.ok(
      row.flags.some((flags) => flags & 1),
      `at ${wide} ticks`,
    );
  }
});

test('Counter.HoldsItsValueAndShowsItsExtremes', async () => {
  const next = random(77);
  const samples: SampleRow[] = [];
  let time = 0;
  let value = 0;
  for (let i = 0; i < 20000; i++) {
    time += 1 + Math.floor(next() ** 3 * 40000);
    value = Math.max(0, value + Math.floor(next() * 21) - 10);
    samples.push({ time, value });
  }
  const blobs: Blobs = new Map();
  packSampleTrack(blobs, 0, samples, kLevels);
  const store = new TileStore(
    new MemorySource(blobs),
    indexOf(time + 10, [{ id: 0, kind: 'counter', values: 'samples', count: samples.length }]),
  );
  for (let round = 0; round < 60; round++) {
    const wide = 2 ** (8 + next() * (Math.log2(time) - 8));
    const begin = next() * (time - wide);
    const view = { begin, end: begin + wide };
    let area = fillArea(store, store.index.tracks[0], view, 400);
    while (!area.complete) {
      await settled(store);
      area = fillArea(store, store.index.tracks[0], view, 400);
    }
    const inside = samples.filter((one) => one.time >= view.begin && one.time < view.end);
    const before = samples.filter((one) => one.time < view.begin).pop();
    const all = [...inside, ...(before ? [before] : [])].map((one) => one.value);
    const slack = wide > 1e6 ? 40 : 0; // whole buckets reach over the edges of the view
    const shown = [...area.most].filter((one) => !Number.isNaN(one));
    if (all.length === 0 || shown.length === 0) continue;
    assert.ok(Math.abs(Math.max(...shown) - Math.max(...all)) <= slack);
    const last = inside[inside.length - 1] ?? before;
    if (last)
      assert.ok(area.least[399] <= last.value + slack && area.most[399] >= last.value - slack);
  }
});

test('Counter.SaysFromWhereItIsOnlyHeld', async () => {
  const samples: SampleRow[] = [
    { time: 100, value: 3 },
    { time: 499, value: 5 },
  ];
  const blobs: Blobs = new Map();
  packSampleTrack(blobs, 0, samples, kLevels);
  const store = new TileStore(
    new MemorySource(blobs),
    indexOf(1000, [{ id: 0, kind: 'counter', values: 'samples', count: samples.length }]),
  );
  const area = async (begin: number, end: number) => {
    let one = fillArea(store, store.index.tracks[0], { begin, end }, 100);
    while (!one.complete) {
      await settled(store);
      one = fillArea(store, store.index.tracks[0], { begin, end }, 100);
    }
    return one;
  };
  const whole = await area(0, 1000);
  assert.equal(whole.heldFrom, 50);
  assert.deepEqual([whole.most[49], whole.most[50], whole.most[99]], [5, 5, 5]);
  assert.equal((await area(100, 300)).heldFrom, Infinity);
  assert.ok((await area(600, 1000)).heldFrom <= 0);
});

test('Store.KeepsWithinItsRoomAndStillAnswers', async () => {
  const { store, end } = await storeOf(randomSpans(3, 60000, 4000));
  const small = new TileStore(store.source, store.index, 400000);
  for (let i = 0; i < 40; i++) {
    const begin = (end * i) / 41;
    await filled(small, { begin, end: begin + 60000 }, 300);
    assert.ok(small.bytes <= 400000 + 400000, `${small.bytes} bytes are held`);
  }
});

test('Store.SaysWhatIsWrongWithATileAndDrawsTheRest', async () => {
  const spans = randomSpans(3, 4500, 4000);
  const blobs: Blobs = new Map();
  packSpanTrack(blobs, 0, spans, kLevels);
  blobs.set('t/0/0/1', Uint8Array.from([1, 2, 3]));
  const store = new TileStore(new MemorySource(blobs), indexOf(4e7, [{ id: 0, kind: 'core' }]));
  const end = spans[spans.length - 1].begin;
  const { row } = await filled(store, { begin: end - 4000000, end }, 300);
  assert.ok(row.name.some((name) => name >= 0));
  assert.match([...store.errors.values()].join(), /t\/0\/0\/1: /);
});

test('Lanes.PutLossesOverTheirParents', () => {
  const index = indexOf(100, [
    { id: 4, kind: 'core', name: 'core 0' },
    { id: 9, kind: 'loss', parent: 4 },
    { id: 2, kind: 'marks', parent: 4 },
    { id: 3, kind: 'loss', parent: null },
    { id: 8, kind: 'counter', values: 'samples' },
  ]);
  const layout = layOut(index, 600);
  assert.deepEqual(
    layout.lanes.map((lane) => lane.track.id),
    [4, 3, 8],
  );
  assert.deepEqual(
    layout.lanes[0].losses.map((track) => track.id),
    [9],
  );
  assert.deepEqual(
    layout.lanes[0].marks.map((track) => track.id),
    [2],
  );
  assert.equal(laneAt(layout, layout.height - 1)?.track.id, 8);
  assert.equal(laneAt(layout, layout.height + 1), null);
});

test('Axis.StepsAreRoundAndFewEnough', () => {
  const index = indexOf(1e12, []);
  for (let wide = 16; wide < 1e12; wide *= 7) {
    const ticks = axisTicks({ index, absolute: false }, { begin: 5000, end: 5000 + wide }, 1100);
    assert.ok(ticks.length >= 1 && ticks.length <= 24, `${ticks.length} at ${wide}`);
    assert.equal(new Set(ticks.map((tick) => tick.text)).size, ticks.length);
  }
});
