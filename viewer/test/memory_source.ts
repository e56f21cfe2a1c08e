// SPDX-License-Identifier: Apache-2.0
// A tile source of blobs in memory, for tests.
import { readIndex, type Index } from '../src/codec/index_file';
import type { TileSource } from '../src/source/tile_source';
import { TileStore } from '../src/tiles/tile_store';
import type { Blobs } from './encode';

export class MemorySource implements TileSource {
  readonly way = 'embedded';
  readonly follow = null;
  asked: string[] = [];

  constructor(readonly blobs: Blobs) {}

  get(name: string): Promise<Uint8Array | null> {
    this.asked.push(name);
    return Promise.resolve(this.blobs.get(name) ?? null);
  }

  index(): Promise<Index> {
    return Promise.resolve(readIndex(this.blobs.get('index.json') ?? new Uint8Array()));
  }
}

export async function settled(store: TileStore): Promise<void> {
  do await new Promise((resume) => setTimeout(resume, 1));
  while (store.missing > 0);
}
