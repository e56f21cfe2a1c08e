// SPDX-License-Identifier: Apache-2.0
// Blobs from `tidemark serve`. They come in generations: the names of one index.json fit to each
// other below its `blobs` prefix. While the run goes on, index.json is asked for once a second.
import { readIndex, type Index } from '../codec/index_file';
import { reasonOf } from '../codec/blob_error';
import { fetchBytes, GoneError, SiteSource } from './site_source';

const kPollMs = 1000;
const kPollFailedMs = 3000;

export class ServedSource extends SiteSource {
  override readonly way = 'served';
  private last: Index | null = null;

  override async index(): Promise<Index> {
    const bytes = await fetchBytes(`${this.prefix}index.json`, 'no-cache');
    if (!bytes) throw new Error(`${this.prefix}index.json: the server knows no such run`);
    this.last = readIndex(bytes);
    return this.last;
  }

  override async get(name: string): Promise<Uint8Array | null> {
    try {
      return await fetchBytes(this.prefix + (this.last?.blobs ?? '') + name);
    } catch (error) {
      if (!(error instanceof GoneError)) throw error;
      await this.index();
      return fetchBytes(this.prefix + (this.last?.blobs ?? '') + name);
    }
  }

  override readonly follow = (
    changed: (index: Index) => void,
    failed: (reason: string) => void,
  ): void => {
    let generation = this.last?.progress.generation ?? -1;
    const poll = async (): Promise<void> => {
      let wait = kPollMs;
      try {
        const index = await this.index();
        const progress = index.progress;
        if (progress.generation !== generation) {
          generation = progress.generation;
          changed(index);
        }
        failed('');
        if (progress.complete && !progress.live) return;
      } catch (error) {
        failed(reasonOf(error));
        wait = kPollFailedMs;
      }
      setTimeout(poll, document.hidden ? 4 * wait : wait);
    };
    const progress = this.last?.progress;
    if (!progress || progress.live || !progress.complete) setTimeout(poll, kPollMs);
  };
}
