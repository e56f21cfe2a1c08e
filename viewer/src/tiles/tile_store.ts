// SPDX-License-Identifier: Apache-2.0
// Decoded tiles of one run, made on demand and kept while there is room. A panel asks with peek():
// what is there comes at once, what is missing is on its way, and `arrived` is called when it came.
import { reasonOf } from '../codec/blob_error';
import {
  bytesOf,
  decodeBuckets,
  decodeDirectory,
  decodeSampleBuckets,
  decodeSamples,
  decodeSketch,
  decodeSpans,
  type Blob,
  type Buckets,
  type Directory,
  type SampleBuckets,
  type Samples,
  type Sketch,
  type Spans,
} from '../codec/blobs';
import type { Index, Track } from '../codec/index_file';
import { inflate } from '../source/inflate';
import type { TileSource } from '../source/tile_source';

interface Entry {
  blob: Blob | null; // null: does not exist, or could not be read
  bytes: number;
  stale: boolean; // of an older generation: drawn until the new one comes
}

interface Wanted {
  name: string;
  decode: (bytes: Uint8Array) => Blob;
  done: ((blob: Blob | null) => void)[];
}

const kCacheBytes = 96 << 20;
const kAtOnce = 8;
// Decoding stops for a frame after so long.
const kSliceMs = 6;
// While tiles come, whoever shows them hears of it so often.
const kTellMs = 50;

export class TileStore {
  arrived: () => void = () => undefined;
  readonly errors = new Map<string, string>();
  private readonly entries = new Map<string, Entry>();
  private readonly waiting = new Map<string, Wanted>();
  private readonly underWay = new Map<string, Wanted>();
  private held = 0;
  private epoch = 0;
  private sliceBegan = 0;
  private told = 0;

  constructor(
    readonly source: TileSource,
    public index: Index,
    private room = kCacheBytes,
  ) {}

  get missing(): number {
    return this.waiting.size + this.underWay.size;
  }

  get bytes(): number {
    return this.held;
  }

  directory(track: Track): Directory | null | undefined {
    if (this.index.progress.sketchOnly) return null;
    const name = `dir/${track.id}`;
    const blob = this.peek(name, (b) => decodeDirectory(name, b, this.index.levelCount));
    // Of the generation before there may be a sketch.
    return blob && blob.kind !== 'directory' ? undefined : (blob as Directory | null | undefined);
  }

  sketch(track: Track): Sketch | null | undefined {
    const name = `dir/${track.id}`;
    const blob = this.peek(name, (b) => decodeSketch(name, b));
    return blob && blob.kind !== 'sketch' ? null : (blob as Sketch | null | undefined);
  }

  leaf(track: Track, tile: number): Spans | Samples | null | undefined {
    return this.peek(`t/${track.id}/0/${tile}`, this.leafDecoder(track, tile)) as
      | Spans
      | Samples
      | null
      | undefined;
  }

  buckets(track: Track, level: number, tile: number): Buckets | SampleBuckets | null | undefined {
    const name = `t/${track.id}/${level}/${tile}`;
    const decode = track.values === 'spans' ? decodeBuckets : decodeSampleBuckets;
    return this.peek(name, (b) => decode(name, b)) as Buckets | SampleBuckets | null | undefined;
  }

  loadDirectory(track: Track): Promise<Directory | null> {
    if (this.index.progress.sketchOnly) return Promise.resolve(null);
    const name = `dir/${track.id}`;
    return this.load(name, (b) =>
      decodeDirectory(name, b, this.index.levelCount),
    ) as Promise<Directory | null>;
  }

  loadLeaf(track: Track, tile: number): Promise<Spans | Samples | null> {
    return this.load(`t/${track.id}/0/${tile}`, this.leafDecoder(track, tile)) as Promise<
      Spans | Samples | null
    >;
  }

  private leafDecoder(track: Track, tile: number): (bytes: Uint8Array) => Blob {
    const name = `t/${track.id}/0/${tile}`;
    return (bytes) =>
      track.values === 'spans'
        ? decodeSpans(name, bytes, track.kind === 'marks')
        : decodeSamples(name, bytes);
  }

  // What is there, only if it is: nothing is asked for.
  have(name: string): Blob | null | undefined {
    const entry = this.entries.get(name);
    return entry ? entry.blob : undefined;
  }

  // undefined: not yet there, and now on its way. null: there is none.
  private peek(name: string, decode: Wanted['decode']): Blob | null | undefined {
    const entry = this.entries.get(name);
    if (entry) {
      this.entries.delete(name); // to the end: used last
      this.entries.set(name, entry);
      if (!entry.stale) return entry.blob;
    }
    this.want(name, decode);
    return entry?.blob ?? undefined;
  }

  private load(name: string, decode: Wanted['decode']): Promise<Blob | null> {
    const entry = this.entries.get(name);
    if (entry && !entry.stale) return Promise.resolve(entry.blob);
    return new Promise((done) => this.want(name, decode).done.push(done));
  }

  private want(name: string, decode: Wanted['decode']): Wanted {
    const known = this.underWay.get(name) ?? this.waiting.get(name);
    const wanted = known ?? { name, decode, done: [] };
    if (!this.underWay.has(name)) {
      this.waiting.delete(name);
      this.waiting.set(name, wanted);
      wanted.decode = decode; // what it is may have changed with the generation
      // Asked for once more: what the view needs now comes first.
      queueMicrotask(() => this.start());
    }
    return wanted;
  }

  // Requests of a view that is gone are given up; those that somebody awaits stay.
  forgetWaiting(): void {
    for (const [name, wanted] of this.waiting) {
      if (wanted.done.length === 0) this.waiting.delete(name);
    }
  }

  private start(): void {
    while (this.underWay.size < kAtOnce) {
      const next = this.waiting.values().next();
      if (next.done) return;
      this.waiting.delete(next.value.name);
      this.underWay.set(next.value.name, next.value);
      void this.fetch(next.value);
    }
  }

  private async fetch(wanted: Wanted): Promise<void> {
    const epoch = this.epoch;
    let blob: Blob | null = null;
    let reason = '';
    try {
      const packed = await this.source.get(wanted.name);
      if (packed) {
        const bytes = await inflate(wanted.name, packed);
        await this.breathe();
        blob = wanted.decode(bytes);
      }
    } catch (error) {
      reason = reasonOf(error);
    }
    this.underWay.delete(wanted.name);
    if (reason) this.errors.set(wanted.name, reason);
    else this.errors.delete(wanted.name);
    this.keep(wanted.name, blob, epoch !== this.epoch);
    for (const done of wanted.done) done(blob);
    this.start();
    this.tell();
  }

  // While more is on its way a frame for each tile would cost more than the tiles do.
  private tell(): void {
    const now = performance.now();
    if (this.missing > 0 && now - this.told < kTellMs) return;
    this.told = now;
    this.arrived();
  }

  // Lets a frame through when decoding has taken its part of one.
  private async breathe(): Promise<void> {
    const now = performance.now();
    if (now - this.sliceBegan < kSliceMs) return;
    await new Promise((resume) => setTimeout(resume, 0));
    this.sliceBegan = performance.now();
  }

  private keep(name: string, blob: Blob | null, stale: boolean): void {
    this.drop(name);
    const bytes = blob ? bytesOf(blob) : 100;
    this.entries.set(name, { blob, bytes, stale });
    this.held += bytes;
    for (const [oldest, entry] of this.entries) {
      if (this.held <= this.room || oldest === name) break;
      this.held -= entry.bytes;
      this.entries.delete(oldest);
    }
  }

  private drop(name: string): void {
    const entry = this.entries.get(name);
    if (!entry) return;
    this.held -= entry.bytes;
    this.entries.delete(name);
  }

  // A new generation: everything may have changed. The old is drawn until the new is there.
  renew(index: Index): void {
    this.index = index;
    this.epoch++;
    this.errors.clear();
    for (const entry of this.entries.values()) entry.stale = true;
  }
}
