// SPDX-License-Identifier: Apache-2.0
// JSON documents of one run: each is read once, and said plainly where it cannot be.
import { reasonOf } from '../codec/blob_error';
import { parseJson, type Json } from '../codec/shape';
import { inflate } from '../source/inflate';
import type { TileSource } from '../source/tile_source';

const kMostKept = 48; // pages; a page has 2,048 tasks

export class DocumentStore {
  readonly errors = new Map<string, string>();
  private readonly kept = new Map<string, Promise<Json | null>>();

  constructor(private readonly source: TileSource) {}

  // Null: there is none, or it cannot be read; then errors has the reason.
  get(name: string): Promise<Json | null> {
    let document = this.kept.get(name);
    if (document) this.kept.delete(name);
    else document = this.read(name);
    this.kept.set(name, document);
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= kMostKept) break;
      this.kept.delete(oldest);
    }
    return document;
  }

  private async read(name: string): Promise<Json | null> {
    try {
      const packed = await this.source.get(name);
      if (!packed) return null;
      const json = parseJson(name, await inflate(name, packed));
      this.errors.delete(name);
      return json;
    } catch (error) {
      this.errors.set(name, reasonOf(error));
      return null;
    }
  }

  async bytes(name: string, most: number): Promise<Uint8Array | null> {
    try {
      const packed = await this.source.get(name);
      return packed ? await inflate(name, packed, most) : null;
    } catch (error) {
      this.errors.set(name, reasonOf(error));
      return null;
    }
  }

  renew(): void {
    this.kept.clear();
    this.errors.clear();
  }
}
