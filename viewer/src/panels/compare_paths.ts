// SPDX-License-Identifier: Apache-2.0
// The critical paths of two runs, task by task.
import type { AppView } from '../app/app_view';
import * as shape from '../codec/shape';
import type { Json } from '../codec/shape';
import { h } from '../ui/dom';
import { Table, type Column } from '../ui/table';
import { count, duration, taskText } from '../ui/units';
import { section } from './section';

export function comparePaths(app: AppView, here: Json, there: Json): HTMLElement | null {
  const rows = alignSteps(stepsOf(here), stepsOf(there));
  if (rows.length === 0) return null;
  const step = (title: string, side: 'a' | 'b', key: string): Column<StepPair> => ({
    title,
    width: '7rem',
    number: true,
    value: (row) => shape.maybe(row[side]?.[key]),
    text: (row) => (row[side] === null ? '·' : duration(shape.number(row[side]?.[key]))),
  });
  const total = (one: Json | null): number =>
    one === null
      ? 0
      : ['execution_ns', 'core_wait_ns', 'scheduler_ns', 'orchestrator_ns'].reduce(
          (sum, key) => sum + shape.number(one[key]),
          0,
        );
  const difference = (row: StepPair): number | null =>
    row.a && row.b ? total(row.a) - total(row.b) : null;
  const table = new Table<StepPair>({
    label: 'Critical paths by task',
    tall: 14,
    rows,
    classOf: (row) => (row.a && row.b ? '' : 'single'),
    choose: (row) => app.selectTask(row.task),
    columns: [
      {
        title: 'Task',
        width: '6rem',
        value: (row) => shape.text((row.a ?? row.b)?.text) || taskText(row.task),
      },
      {
        title: 'Kernel',
        width: 'minmax(7rem, 1fr)',
        value: (row) => shape.text((row.a ?? row.b)?.kernel),
      },
      {
        title: 'On the path of',
        width: '8rem',
        value: (row) => (row.a && row.b ? 'both' : row.a ? 'A' : 'B'),
      },
      step('Execution A', 'a', 'execution_ns'),
      step('Execution B', 'b', 'execution_ns'),
      {
        title: 'Cost A',
        hint: 'its part of the critical path: execution and waiting',
        width: '7rem',
        number: true,
        value: (row) => total(row.a),
        text: (row) => (row.a ? duration(total(row.a)) : '·'),
      },
      {
        title: 'Cost B',
        width: '7rem',
        number: true,
        value: (row) => total(row.b),
        text: (row) => (row.b ? duration(total(row.b)) : '·'),
      },
      {
        title: 'A − B',
        width: '7rem',
        number: true,
        value: difference,
        text: (row) => (difference(row) === null ? '' : signed(difference(row) ?? 0)),
      },
    ],
  });
  const both = rows.filter((row) => row.a && row.b).length;
  return section(
    'Critical paths',
    h(
      'p',
      { class: 'quiet' },
      `${count(both)} ${both === 1 ? 'task is' : 'tasks are'} on both paths, ` +
        `${count(rows.length - both)} on one of them.`,
    ),
    table.root,
  );
}

function signed(ns: number): string {
  return ns === 0 ? 'none' : `${ns > 0 ? '+' : '−'}${duration(Math.abs(ns))}`;
}

function stepsOf(overview: Json): Json[] {
  return shape.records(shape.record(overview.critical_path).steps);
}

export interface StepPair {
  task: string;
  a: Json | null;
  b: Json | null;
}

// Steps of the same task in one row; what only one path has comes where that path has it.
export function alignSteps(here: Json[], there: Json[]): StepPair[] {
  const others = new Map(there.map((step, i) => [shape.text(step.task), i]));
  const own = new Set(here.map((step) => shape.text(step.task)));
  const rows: StepPair[] = [];
  let next = 0;
  const takeUpTo = (end: number): void => {
    for (; next < end; next++) {
      const task = shape.text(there[next].task);
      if (!own.has(task)) rows.push({ task, a: null, b: there[next] });
    }
  };
  for (const step of here) {
    const task = shape.text(step.task);
    const at = others.get(task);
    if (at !== undefined) takeUpTo(at);
    rows.push({ task, a: step, b: at === undefined ? null : there[at] });
  }
  takeUpTo(there.length);
  return rows;
}
