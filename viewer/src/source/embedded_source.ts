// SPDX-License-Identifier: Apache-2.0
// Blobs inside this file: elements <script type="application/octet-stream" data-name="t/0/0/0">
// with base64 text. They are found once; their bytes are made only when somebody asks.
import { readIndex, type Index } from '../codec/index_file';
import { fromBase64 } from './base64';
import type { TileSource } from './tile_source';

let elements: Map<string, Element> | null = null;

function find(name: string): Element | undefined {
  if (!elements) {
    elements = new Map();
    for (const element of document.querySelectorAll('script[data-name]')) {
      elements.set(element.getAttribute('data-name') ?? '', element);
    }
  }
  return elements.get(name);
}

export class EmbeddedSource implements TileSource {
  readonly way = 'embedded';
  readonly follow = null;
  constructor(private readonly prefix: string) {}

  get(name: string): Promise<Uint8Array | null> {
    const element = find(this.prefix + name);
    if (!element) return Promise.resolve(null);
    return Promise.resolve().then(() => fromBase64(element.textContent ?? ''));
  }

  async index(): Promise<Index> {
    const bytes = await this.get('index.json');
    if (!bytes) throw new Error('index.json: is not in this file');
    return readIndex(bytes);
  }
}
