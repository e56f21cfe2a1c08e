// SPDX-License-Identifier: Apache-2.0
// Blobs beside the page, as plain files of any web server.
import { readIndex, type Index } from '../codec/index_file';
import type { TileSource } from './tile_source';

export class SiteSource implements TileSource {
  readonly way: 'site' | 'served' = 'site';
  readonly follow: TileSource['follow'] = null;
  constructor(protected readonly prefix: string) {}

  get(name: string): Promise<Uint8Array | null> {
    return fetchBytes(this.prefix + name);
  }

  async index(): Promise<Index> {
    const bytes = await fetchBytes(`${this.prefix}index.json`, 'no-cache');
    if (!bytes) throw new Error(`${this.prefix}index.json: is not there`);
    return readIndex(bytes);
  }
}

export async function fetchBytes(
  name: string,
  cache: RequestCache = 'default',
): Promise<Uint8Array | null> {
  let answer: Response;
  try {
    answer = await fetch(name, { cache, redirect: 'error' });
  } catch {
    throw new Error(`${name}: no answer from the server`);
  }
  if (answer.status === 404) return null;
  if (answer.status === 410) throw new GoneError(name);
  if (!answer.ok) throw new Error(`${name}: the server answers ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}

// A blob of a generation that the server no longer keeps.
export class GoneError extends Error {
  constructor(name: string) {
    super(`${name}: is of an older state of the run`);
  }
}
