// SPDX-License-Identifier: Apache-2.0
// What the page shows of random captures, at random pixels, beside what their records say. The tiles
// and the records come from tests/page/page_runs.cpp; the pixels from the page's own code.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Run } from '../src/app/run';
import { bucketWidth, readIndex, type Index, type Track } from '../src/codec/index_file';
import type { TileSource } from '../src/source/tile_source';
import { fillArea } from '../src/timeline/area_row';
import { point } from '../src/timeline/hit';
import { levelFor } from '../src/timeline/levels';
import { pixelRange } from '../src/timeline/pixel_row';
import { RowFiller, type FilledRows } from '../src/timeline/track_rows';
import { snapped, type View } from '../src/timeline/view';
import { duration } from '../src/ui/units';
import { random } from './demo_run';
import { settled } from './memory_source';

interface NaiveSpan {
  begin: number;
  end: number;
  row: number;
  name: string;
}

interface NaiveTrack {
  id: number;
  spans: NaiveSpan[];
  samples: [number, number][];
}

export interface Seen {
  pixels: number;
  filled: number; // pixels that show something
  bucketed: number; // of buckets
  samples: number;
  sums: number;
  tips: number;
}

export const kNothingSeen: Seen = {
  pixels: 0,
  filled: 0,
  bucketed: 0,
  samples: 0,
  sums: 0,
  tips: 0,
};

class FolderSource implements TileSource {
  readonly way = 'site';
  readonly follow = null;
  constructor(private readonly folder: string) {}

  get(name: string): Promise<Uint8Array | null> {
    return Promise.resolve(new Uint8Array(readFileSync(join(this.folder, name))));
  }
  index(): Promise<Index> {
    return Promise.resolve(
      readIndex(new Uint8Array(readFileSync(join(this.folder, 'index.json')))),
    );
  }
}

export async function checkSeed(folder: string, seed: number): Promise<Seen> {
  const source = new FolderSource(join(folder, 'tiles'));
  const run = new Run(source, await source.index());
  const naive = readNaive(join(folder, 'naive.json'));
  const seen = { ...kNothingSeen };
  const tracks = run.index.tracks.filter((track) => track.count > 0);
  for (const track of tracks) {
    const own = naive.get(track.id);
    assert.ok(own, `track ${track.id} is not in the records`);
    assert.equal(track.count, own.spans.length + own.samples.length, `count of ${track.name}`);
    if (track.values === 'spans') await checkSums(run, track, own.spans, seen);
  }
  const next = random(seed);
  for (let i = 0; i < 50 && tracks.length > 0; i++) {
    // Half of the looks are far ones at a track that has buckets, where there is one.
    const large = tracks.filter((track) => track.count > 3000);
    const far = large.length > 0 && i % 2 === 0;
    const track = (far ? large : tracks)[Math.floor(next() * (far ? large : tracks).length)];
    const own = naive.get(track.id) as NaiveTrack;
    const view = randomView(run.index, own, next, far);
    const what = `seed ${seed}, track ${track.id} ${track.name}, ${JSON.stringify(view)}`;
    if (track.values === 'samples') await checkArea(run, track, own, view, next, what, seen);
    else await checkPixel(run, track, own.spans, view, next, what, seen);
    assert.equal(run.tiles.errors.size, 0, [...run.tiles.errors.values()].join());
  }
  return seen;
}

function readNaive(path: string): Map<number, NaiveTrack> {
  const json = JSON.parse(readFileSync(path, 'utf8')) as {
    id: number;
    spans?: [number, number, number, number, string][];
    samples?: [number, number][];
  }[];
  return new Map(
    json.map(({ id, spans, samples }) => [
      id,
      {
        id,
        spans: (spans ?? []).map(([begin, length, row, , name]) => {
          return { begin, end: begin + length, row, name };
        }),
        samples: samples ?? [],
      },
    ]),
  );
}

interface Looked {
  begin: number;
  end: number;
  width: number;
}

// Of all sizes, and mostly where something is.
function randomView(index: Index, track: NaiveTrack, next: () => number, far: boolean): Looked {
  const width = 20 + Math.floor(next() * 1000);
  const last = track.spans.at(-1)?.begin ?? index.end;
  const least = far ? Math.max(4, Math.log2(last) - 3) : 4;
  const ticks = 2 ** (least + next() * (Math.log2(Math.max(far ? last : index.end, 32)) - least));
  const begins =
    track.spans.length > 0 ? track.spans.map((s) => s.begin) : track.samples.map((s) => s[0]);
  const middle = next() < 0.8 ? begins[Math.floor(next() * begins.length)] : next() * index.end;
  return { ...snapped({ begin: middle - ticks * next(), end: middle + ticks }, width), width };
}

async function filledRows(run: Run, track: Track, view: View, width: number): Promise<FilledRows> {
  for (;;) {
    const filler = new RowFiller();
    filler.beginFrame();
    const result = filler.fill(run.tiles, track, view, width);
    if (result.complete) return result;
    await settled(run.tiles);
  }
}

interface Range {
  begin: number;
  end: number;
}

// What a range of time holds. Ticks that several spans cover count once.
function held(
  spans: NaiveSpan[],
  { begin, end }: Range,
): {
  count: number;
  busy: number;
  longest: number;
  names: Set<string>;
} {
  const result = { count: 0, busy: 0, longest: 0, names: new Set<string>() };
  let covered = begin;
  for (const span of spans) {
    if (span.begin >= end) break;
    const begins = span.begin >= begin;
    if (begins) {
      result.count++;
      result.longest = Math.max(result.longest, span.end - span.begin);
    }
    const ticks = Math.min(span.end, end) - Math.max(span.begin, covered);
    if (ticks > 0) result.busy += ticks;
    if (begins || ticks > 0) result.names.add(span.name);
    covered = Math.max(covered, Math.min(span.end, end));
  }
  return result;
}

// A pixel shows the spans of its range of time; where it comes from buckets, of the whole buckets
// that begin in it; at the edge of a tile, of both.
function rangesOf(index: Index, view: Looked, x: number, level: number): Range[] {
  const perPixel = (view.end - view.begin) / view.width;
  const exact = { begin: view.begin + x * perPixel, end: view.begin + (x + 1) * perPixel };
  if (level <= 0) return [exact];
  const whole = pixelRange(view, view.width, x, bucketWidth(index, level));
  return [
    exact,
    whole,
    { begin: whole.begin, end: exact.end },
    { begin: exact.begin, end: whole.end },
  ];
}

async function checkPixel(
  run: Run,
  track: Track,
  spans: NaiveSpan[],
  view: Looked,
  next: () => number,
  what: string,
  seen: Seen,
): Promise<void> {
  const { index } = run;
  const filled = await filledRows(run, track, view, view.width);
  const x = Math.floor(next() * view.width);
  const perPixel = (view.end - view.begin) / view.width;
  // Times of days leave a pixel of less than a tick few digits.
  const close = 1e-3 + (index.end * 1e-15) / perPixel;
  seen.pixels++;
  filled.rows.forEach((row, i) => {
    const last = i === filled.rows.length - 1;
    const own = spans.filter(
      (span) => span.row === i || (last && span.row > i) || filled.rows.length === 1,
    );
    const expected = rangesOf(index, view, x, filled.level).map((range) => held(own, range));
    const name = row.name[x] < 0 ? '' : index.names[row.name[x]];
    const fits = expected.some(
      (one) =>
        one.count === row.spans[x] &&
        one.longest === row.longest[x] &&
        Math.abs(Math.min(1, one.busy / perPixel) - row.share[x]) < close &&
        (name === '' ? one.names.size === 0 : one.names.has(name)),
    );
    const shown = { count: row.spans[x], longest: row.longest[x], share: row.share[x], name };
    const wanted = expected.map((one) => ({
      ...one,
      share: one.busy / perPixel,
      names: [...one.names],
    }));
    assert.ok(
      fits,
      `${what}: row ${i} of ${filled.rows.length}, pixel ${x} at level ${filled.level} shows ` +
        `${JSON.stringify(shown)}, the records say ${JSON.stringify(wanted)}`,
    );
    if (name) seen.filled++;
    if (name && filled.level > 0) seen.bucketed++;
  });
  checkTip(run, track, spans, view, x, filled, what, seen);
}

// The words under the pointer.
function checkTip(
  run: Run,
  track: Track,
  spans: NaiveSpan[],
  view: Looked,
  x: number,
  filled: FilledRows,
  what: string,
  seen: Seen,
): void {
  const lane = { track, y: 0, height: 20, rowHeight: 20, losses: [], marks: [] };
  const drawn = { lane, filled, area: null, losses: [], marks: [] };
  const clock = { index: run.index, absolute: false };
  const pointed = point(run, clock, drawn, view, view.width, x, 0);
  const row = filled.rows[0];
  if (row.name[x] < 0) {
    assert.deepEqual(pointed.lines, [], what);
    return;
  }
  seen.tips++;
  const { span } = pointed;
  if (span) {
    // A span: it is one of the records, and the words have its length.
    const one = spans.find(
      (own) => own.begin === span.begin && own.end === span.end && own.name === span.name,
    );
    assert.ok(one, `${what}: no record is ${JSON.stringify(span)}`);
    const words = `${duration(run.ns(one.end - one.begin))} on ${track.name}`;
    assert.ok(pointed.lines.includes(words), `${what}: ${pointed.lines.join(' | ')}`);
    return;
  }
  assert.ok(pointed.range, what);
  const words = ` ${row.spans[x] === 1 ? 'begins' : 'begin'} here`;
  const count = pointed.lines.find((line) => line.endsWith(words));
  assert.ok(count, `${what}: ${pointed.lines.join(' | ')}`);
  assert.equal(Number(/([\d,]+) begins? here/.exec(count)?.[1].replaceAll(',', '')), row.spans[x]);
}

// Whatever the zoom, all pixels of the whole run together have every span once.
async function checkSums(run: Run, track: Track, spans: NaiveSpan[], seen: Seen): Promise<void> {
  const { index } = run;
  for (let level = 1; level <= index.levelCount; level += 2) {
    const ticks = bucketWidth(index, level) * 1.5;
    const width = Math.ceil((index.end + 2) / ticks);
    if (width > 4000) continue;
    const view = { begin: 0, end: ticks * width };
    assert.equal(levelFor(index, ticks), level);
    const { rows } = await filledRows(run, track, view, width);
    let count = 0;
    for (const row of rows) for (const begun of row.spans) count += begun;
    assert.equal(count, spans.length, `${track.name} at level ${level}`);
    seen.sums++;
  }
}

async function checkArea(
  run: Run,
  track: Track,
  naive: NaiveTrack,
  view: Looked,
  next: () => number,
  what: string,
  seen: Seen,
): Promise<void> {
  let area = fillArea(run.tiles, track, view, view.width);
  while (!area.complete) {
    await settled(run.tiles);
    area = fillArea(run.tiles, track, view, view.width);
  }
  const x = Math.floor(next() * view.width);
  const perPixel = (view.end - view.begin) / view.width;
  const level = Math.max(1, levelFor(run.index, perPixel));
  const expected = rangesOf(run.index, view, x, level).map((range) => {
    return valuesIn(naive.samples, range, run.index.end);
  });
  const shown = { least: area.least[x], most: area.most[x] };
  const same = (a: number, b: number): boolean => a === b || (Number.isNaN(a) && Number.isNaN(b));
  assert.ok(
    expected.some((one) => same(one.least, shown.least) && same(one.most, shown.most)),
    `${what}: pixel ${x} shows ${JSON.stringify(shown)}, the records say ${JSON.stringify(expected)}`,
  );
  seen.pixels++;
  if (!Number.isNaN(shown.most)) seen.samples++;
}

// The value that a range begins with, and those in it.
function valuesIn(
  samples: [number, number][],
  range: Range,
  end: number,
): { least: number; most: number } {
  const result = { least: NaN, most: NaN };
  let before = NaN;
  const see = (value: number): void => {
    result.least = Number.isNaN(result.least) ? value : Math.min(result.least, value);
    result.most = Number.isNaN(result.most) ? value : Math.max(result.most, value);
  };
  for (const [time, value] of samples) {
    if (time >= range.end) break;
    if (time < range.begin) before = value;
    else see(value);
  }
  if (!Number.isNaN(before) && range.begin < end) see(before);
  return result;
}
