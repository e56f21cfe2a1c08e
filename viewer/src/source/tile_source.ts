// SPDX-License-Identifier: Apache-2.0
// Where the blobs of a run come from. Three ways answer it: embedded in this file, beside it on any
// web server, or from `tidemark serve`, where they still change.
import type { Index } from '../codec/index_file';

export interface TileSource {
  // The compressed bytes of a blob, or null where there is none.
  get(name: string): Promise<Uint8Array | null>;
  index(): Promise<Index>;
  // Calls back whenever the run has gone on; null: it never does.
  follow: ((changed: (index: Index) => void, failed: (reason: string) => void) => void) | null;
  readonly way: 'embedded' | 'site' | 'served';
}
