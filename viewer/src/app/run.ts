// SPDX-License-Identifier: Apache-2.0
// One run with everything that reads it.
import type { Index, Track } from '../codec/index_file';
import type { TileSource } from '../source/tile_source';
import { DocumentStore } from '../tiles/document_store';
import { GraphStore } from '../tiles/graph_store';
import { TensorStore } from '../tiles/tensor_store';
import { TileStore } from '../tiles/tile_store';

export class Run {
  readonly tiles: TileStore;
  readonly documents: DocumentStore;
  readonly graph: GraphStore;
  readonly tensors: TensorStore;
  private byId = new Map<number, Track>();

  constructor(
    readonly source: TileSource,
    index: Index,
  ) {
    this.tiles = new TileStore(source, index);
    this.documents = new DocumentStore(source);
    this.graph = new GraphStore(this.documents, () => this.index);
    this.tensors = new TensorStore(this.documents, () => this.index);
    this.renew(index);
  }

  get index(): Index {
    return this.tiles.index;
  }

  track(id: number | null): Track | null {
    return id === null ? null : (this.byId.get(id) ?? null);
  }

  ns(ticks: number): number {
    return (ticks / this.index.ticksPerSecond) * 1e9;
  }

  renew(index: Index): void {
    this.tiles.renew(index);
    this.documents.renew();
    this.graph.renew();
    this.tensors.renew();
    this.byId = new Map(index.tracks.map((track) => [track.id, track]));
  }
}
