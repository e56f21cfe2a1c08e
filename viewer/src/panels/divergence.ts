// SPDX-License-Identifier: Apache-2.0
// Where the values of two runs part, found by the hashes of their dumped arguments.
import type { TensorRow } from '../tiles/tensor_store';

export interface Difference {
  row: TensorRow;
  other: TensorRow;
}

export interface TaskDifference {
  task: string;
  text: string;
  kernel: string;
  inputs: Difference[];
  outputs: Difference[];
}

export interface Divergence {
  compared: number; // rows that both have and that can be compared
  onlyHere: number;
  onlyThere: number;
  differing: TaskDifference[]; // in the order of this run, at most kMostTasks
  differingTasks: number;
  // The first task whose inputs agree and whose outputs do not: it made the difference.
  maker: TaskDifference | null;
}

const kMostTasks = 500;

export function keyOf(row: TensorRow): string {
  return `${row.task} ${row.stage} ${row.arg}`;
}

// Null: cannot be compared, since one of them has neither hash nor value.
export function agree(a: TensorRow, b: TensorRow): boolean | null {
  if (a.kind === 'scalar' || b.kind === 'scalar') return a.kind === b.kind && a.value === b.value;
  if (a.dtype !== b.dtype || a.shape.join() !== b.shape.join()) return false;
  if (!a.stats?.hash || !b.stats?.hash) return null;
  return a.stats.hash === b.stats.hash;
}

export function findDivergence(here: TensorRow[], there: TensorRow[]): Divergence {
  const others = new Map(there.map((row) => [keyOf(row), row]));
  const result: Divergence = {
    compared: 0,
    onlyHere: 0,
    onlyThere: 0,
    differing: [],
    differingTasks: 0,
    maker: null,
  };
  for (const rows of tasksOf(here)) {
    const found: TaskDifference = {
      task: rows[0].task,
      text: rows[0].text,
      kernel: rows[0].kernel,
      inputs: [],
      outputs: [],
    };
    for (const row of rows) {
      const other = others.get(keyOf(row));
      if (!other) {
        result.onlyHere++;
        continue;
      }
      others.delete(keyOf(row));
      const same = agree(row, other);
      if (same !== null) result.compared++;
      if (same !== false) continue;
      (row.stage === 'before_dispatch' ? found.inputs : found.outputs).push({ row, other });
    }
    if (found.inputs.length + found.outputs.length === 0) continue;
    result.differingTasks++;
    if (result.differing.length < kMostTasks) result.differing.push(found);
    if (!result.maker && found.inputs.length === 0) result.maker = found;
  }
  result.onlyThere = others.size;
  return result;
}

// Rows of one task stand together, in the order in which the first of them comes.
function tasksOf(rows: TensorRow[]): TensorRow[][] {
  const tasks = new Map<string, TensorRow[]>();
  for (const row of rows) {
    const own = tasks.get(row.task);
    if (own) own.push(row);
    else tasks.set(row.task, [row]);
  }
  return [...tasks.values()];
}
