// SPDX-License-Identifier: Apache-2.0
// Rows of dumped arguments, page by page.
import type { Index } from '../codec/index_file';
import * as shape from '../codec/shape';
import type { Json } from '../codec/shape';
import type { DocumentStore } from './document_store';

export interface Statistics {
  min: number | null;
  max: number | null;
  mean: number | null;
  l2: number | null;
  nan: number;
  inf: number;
  zero: number;
  hash: string;
}

export interface TensorRow {
  row: number;
  task: string;
  text: string;
  kernel: string;
  role: string;
  stage: string;
  arg: number;
  kind: string;
  dtype: string;
  shape: number[];
  strides: number[];
  startOffset: number;
  buffer: string | null;
  bufferElements: number | null;
  time: number | null;
  core: number | null;
  track: number | null;
  stats: Statistics | null;
  value: string;
  payload: boolean;
  bytes: number;
  remarks: string[]; // what is not as it should be with this dump
}

export class TensorStore {
  private about: Promise<Json | null> | null = null;
  private readonly pages = new Map<number, Promise<TensorRow[] | null>>();

  constructor(
    private readonly documents: DocumentStore,
    private readonly index: () => Index,
  ) {}

  get rows(): number {
    return this.index().tensors;
  }

  document(): Promise<Json | null> {
    this.about ??= this.index().documents.has('tensors')
      ? this.documents.get('doc/tensors')
      : Promise.resolve(null);
    return this.about;
  }

  async pageRows(): Promise<number> {
    return Math.max(1, shape.number((await this.document())?.page, 2048));
  }

  page(page: number): Promise<TensorRow[] | null> {
    let rows = this.pages.get(page);
    if (!rows) {
      rows = this.documents
        .get(`tensors/${page}`)
        .then((json) => (json ? shape.records(json.rows).map(readRow) : null));
      this.pages.set(page, rows);
    }
    return rows;
  }

  async ofTask(task: string): Promise<TensorRow[]> {
    const about = await this.document();
    if (!about) return [];
    const found: TensorRow[] = [];
    for (const entry of shape.list(about.index)) {
      const [low, high, page] = shape.list(entry);
      if (typeof low !== 'string' || typeof high !== 'string' || low > task || task > high)
        continue;
      const rows = await this.page(shape.number(page));
      if (rows) found.push(...rows.filter((row) => row.task === task && !found.includes(row)));
    }
    return found;
  }

  // The raw bytes of a row, where they were kept.
  payload(row: TensorRow): Promise<Uint8Array | null> {
    return this.documents.bytes(`payload/${row.row}`, 256 << 20);
  }

  problem(name: string): string {
    return this.documents.errors.get(name) ?? '';
  }

  renew(): void {
    this.about = null;
    this.pages.clear();
  }
}

function readRow(json: Json): TensorRow {
  return {
    row: shape.number(json.row),
    task: shape.text(json.task),
    text: shape.text(json.text, shape.text(json.task)),
    kernel: shape.text(json.kernel),
    role: shape.text(json.role),
    stage: shape.text(json.stage),
    arg: shape.number(json.arg),
    kind: shape.text(json.kind, 'tensor'),
    dtype: shape.text(json.dtype),
    shape: shape.numbers(json.shape),
    strides: shape.numbers(json.strides),
    startOffset: shape.number(json.start_offset),
    buffer: json.buffer === null || json.buffer === undefined ? null : shape.text(json.buffer),
    bufferElements: shape.maybe(json.buffer_elements),
    time: shape.maybe(json.time),
    core: shape.maybe(json.core),
    track: shape.maybe(json.track),
    stats: shape.isRecord(json.stats) ? readStatistics(json.stats) : null,
    value: shape.text(json.value),
    payload: shape.flag(json.payload),
    bytes: shape.number(json.bytes),
    remarks: [
      shape.flag(json.truncated) ? 'cut: not all bytes were kept' : '',
      shape.flag(json.captured_after) ? 'captured only after the task' : '',
      shape.flag(json.torn) ? 'changed while it was copied' : '',
    ].filter((remark) => remark !== ''),
  };
}

function readStatistics(json: Json): Statistics {
  return {
    min: shape.wide(json.min),
    max: shape.wide(json.max),
    mean: shape.wide(json.mean),
    l2: shape.wide(json.l2),
    nan: shape.number(json.nan),
    inf: shape.number(json.inf),
    zero: shape.number(json.zero),
    hash: shape.text(json.hash),
  };
}

export function isFinite(stats: Statistics | null): boolean {
  return !stats || (stats.nan === 0 && stats.inf === 0);
}
