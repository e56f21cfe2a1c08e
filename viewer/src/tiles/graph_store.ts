// SPDX-License-Identifier: Apache-2.0
// Tasks of the graph by their ids, from the pages that hold them.
import type { Index } from '../codec/index_file';
import * as shape from '../codec/shape';
import type { Json } from '../codec/shape';
import type { DocumentStore } from './document_store';

export interface Edge {
  task: string;
  argument: number | null;
  reason: string;
  early: boolean; // the producer was already complete at the submit
}

export interface GraphTask {
  id: string;
  text: string;
  kernel: string;
  site: string;
  scope: string;
  track: number | null;
  submit: number | null;
  ready: number | null;
  dispatch: number | null;
  start: number | null;
  end: number | null;
  complete: number | null;
  critical: boolean;
  pred: Edge[];
  succ: string[];
}

// Pages looked through one by one where the graph has no index.
const kMostScanned = 32;

export class GraphStore {
  private readonly pages = new Map<number, Promise<Map<string, GraphTask> | null>>();

  constructor(
    private readonly documents: DocumentStore,
    private readonly index: () => Index,
  ) {}

  about(): Promise<Json | null> {
    return this.index().documents.has('graph')
      ? this.documents.get('doc/graph')
      : Promise.resolve(null);
  }

  async find(task: string): Promise<GraphTask | null> {
    const about = await this.about();
    if (!about) return null;
    for (const page of pagesOf(about, task)) {
      const found = (await this.page(page))?.get(task);
      if (found) return found;
    }
    return null;
  }

  page(page: number): Promise<Map<string, GraphTask> | null> {
    let tasks = this.pages.get(page);
    if (!tasks) {
      tasks = this.documents.get(`graph/${page}`).then(readPage);
      this.pages.set(page, tasks);
      if (this.pages.size > 32) this.pages.delete(this.pages.keys().next().value as number);
    }
    return tasks;
  }

  renew(): void {
    this.pages.clear();
  }
}

export function pagesOf(about: Json, task: string): number[] {
  const index = shape.list(about.index);
  if (index.length === 0) {
    const pages = Math.ceil(
      shape.number(about.tasks) / Math.max(1, shape.number(about.page, 2048)),
    );
    return Array.from({ length: Math.min(kMostScanned, pages) }, (_, i) => i);
  }
  const pages: number[] = [];
  for (const entry of index) {
    const [low, high, page] = shape.list(entry);
    // Of one length, so that they compare as numbers do.
    if (typeof low === 'string' && typeof high === 'string' && low <= task && task <= high) {
      pages.push(shape.number(page, -1));
    }
  }
  return pages.filter((page) => page >= 0);
}

function readPage(json: Json | null): Map<string, GraphTask> | null {
  if (!json) return null;
  const tasks = new Map<string, GraphTask>();
  for (const one of shape.records(json.tasks)) {
    const task = readTask(one);
    tasks.set(task.id, task);
  }
  return tasks;
}

function readTask(json: Json): GraphTask {
  return {
    id: shape.text(json.id),
    text: shape.text(json.text, shape.text(json.id)),
    kernel: shape.text(json.kernel, '(no kernel)'),
    site: shape.text(json.site),
    scope: shape.text(json.scope),
    track: shape.maybe(json.track),
    submit: shape.maybe(json.submit),
    ready: shape.maybe(json.ready),
    dispatch: shape.maybe(json.dispatch),
    start: shape.maybe(json.start),
    end: shape.maybe(json.end),
    complete: shape.maybe(json.complete),
    critical: shape.flag(json.critical),
    pred: shape
      .list(json.pred)
      .map((edge) => {
        const [task, argument, reason, early] = shape.list(edge);
        return {
          task: shape.text(task),
          argument: shape.maybe(argument),
          reason: shape.text(reason),
          early: shape.flag(early),
        };
      })
      .filter((edge) => edge.task !== ''),
    succ: shape.texts(json.succ),
  };
}
