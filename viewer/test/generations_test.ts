// SPDX-License-Identifier: Apache-2.0
// A run whose tiles come while it is looked at: first from page headers alone, then all of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readIndex, type Index } from '../src/codec/index_file';
import { RowFiller } from '../src/timeline/track_rows';
import { TileStore } from '../src/tiles/tile_store';
import { encodeSketch, kShift, pack, packSpanTrack, type Blobs } from './encode';
import { MemorySource, settled } from './memory_source';

const kLevels = 4;
const kTracks = 20; // more than are asked for at once
const kEnd = 400000;

function indexOf(sketchOnly: boolean): Index {
  const tracks = Array.from({ length: kTracks }, (_, id) => ({
    id,
    kind: 'lane',
    name: `lane ${id}`,
    values: 'spans',
    count: 4000,
    rows: 1,
  }));
  const text = JSON.stringify({
    format: 'tidemark-tiles',
    version: 1,
    title: 'test',
    launch: 0,
    end: kEnd,
    level_count: kLevels,
    shift: kShift,
    names: ['a'],
    name_kinds: ['kernel'],
    tracks,
    progress: { complete: !sketchOnly, sketch_only: sketchOnly },
  });
  return readIndex(Buffer.from(text));
}

function sketchBlobs(): Blobs {
  const blobs: Blobs = new Map();
  for (let id = 0; id < kTracks; id++) {
    pack(blobs, `dir/${id}`, encodeSketch([{ first: 0, last: kEnd - 1, records: 4000 }]));
  }
  return blobs;
}

function wholeBlobs(): Blobs {
  const blobs: Blobs = new Map();
  const spans = Array.from({ length: 4000 }, (_, i) => ({ begin: i * 100, length: 90, name: 0 }));
  for (let id = 0; id < kTracks; id++) packSpanTrack(blobs, id, spans, kLevels);
  return blobs;
}

function fillAll(store: TileStore): { levels: Set<number>; complete: boolean; drawn: number } {
  const filler = new RowFiller();
  filler.beginFrame();
  const levels = new Set<number>();
  let complete = true;
  let drawn = 0;
  for (const track of store.index.tracks) {
    const result = filler.fill(store, track, { begin: 0, end: kEnd }, 500);
    levels.add(result.level);
    complete &&= result.complete;
    if (result.rows[0].share[250] > 0) drawn++;
  }
  return { levels, complete, drawn };
}

test('Generations.ASketchIsDrawnUntilTheTilesAreThere', async () => {
  const blobs = sketchBlobs();
  const store = new TileStore(new MemorySource(blobs), indexOf(true));
  fillAll(store);
  await settled(store);
  assert.deepEqual(fillAll(store), { levels: new Set([-1]), complete: true, drawn: kTracks });
  for (const [name, bytes] of wholeBlobs()) blobs.set(name, bytes);
  store.renew(indexOf(false));
  assert.deepEqual(fillAll(store), { levels: new Set([-1]), complete: false, drawn: kTracks });
  for (let i = 0; i < 4 && !fillAll(store).complete; i++) await settled(store);
  const { levels, complete, drawn } = fillAll(store);
  assert.ok(complete && drawn === kTracks && !levels.has(-1));
  assert.deepEqual([...store.errors], []);
});

// The sketch was asked for and has not come; what comes in its place is a directory.
test('Generations.WhatIsAskedForMeanwhileIsTakenForWhatItIs', async () => {
  const blobs = sketchBlobs();
  const store = new TileStore(new MemorySource(blobs), indexOf(true));
  fillAll(store);
  for (const [name, bytes] of wholeBlobs()) blobs.set(name, bytes);
  store.renew(indexOf(false));
  for (let i = 0; i < 6 && !fillAll(store).complete; i++) await settled(store);
  assert.ok(fillAll(store).complete);
  assert.deepEqual([...store.errors], []);
});

// A wide view of few spans is drawn from leaves. While they are on their way, coarser buckets stand
// in: only tiles that the directory has, of levels that fit its pixels; there would be millions else.
test('Generations.WhatStandsInForLeavesIsFoundAtOnce', async () => {
  const kLong = 2 ** 44;
  const blobs: Blobs = new Map();
  const spans = Array.from({ length: 3000 }, (_, i) => ({
    begin: i * (kLong / 3000),
    length: 5,
    name: 0,
  }));
  packSpanTrack(blobs, 0, spans, 12);
  const index = { ...indexOf(false), end: kLong, levelCount: 12 };
  const store = new TileStore(new MemorySource(blobs), index);
  await store.loadDirectory(index.tracks[0]);
  let looked = 0;
  const have = store.have.bind(store);
  store.have = (name) => {
    looked++;
    return have(name);
  };
  const filler = new RowFiller();
  filler.beginFrame();
  const result = filler.fill(store, index.tracks[0], { begin: 0, end: kLong }, 1000);
  assert.equal(result.complete, false);
  assert.ok(looked < 100, `${looked} tiles were looked for`);
});
