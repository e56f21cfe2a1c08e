// SPDX-License-Identifier: Apache-2.0
// Node 18 (Debian 12's) knows raw deflate in its zlib, but not in DecompressionStream, where browsers
// and newer Nodes have it. Part of every test program that Node runs; the page does not need it.
import { Duplex } from 'node:stream';
import { createInflateRaw } from 'node:zlib';

const Known = globalThis.DecompressionStream;

function knowsRaw() {
  try {
    return new Known('deflate-raw') !== undefined;
  } catch {
    return false;
  }
}

if (!knowsRaw()) {
  globalThis.DecompressionStream = class {
    constructor(format) {
      const { readable, writable } =
        format === 'deflate-raw' ? Duplex.toWeb(createInflateRaw()) : new Known(format);
      this.readable = readable;
      this.writable = writable;
    }
  };
}
