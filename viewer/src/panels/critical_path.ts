// SPDX-License-Identifier: Apache-2.0
// The chain of tasks that decided how long the run took, and what its time was spent on.
import type { AppView } from '../app/app_view';
import * as shape from '../codec/shape';
import type { Json } from '../codec/shape';
import { fitRange } from '../timeline/view';
import { h } from '../ui/dom';
import { Table } from '../ui/table';
import { count, duration, percent, taskText } from '../ui/units';
import { section } from './section';

export const kBlames = [
  ['execution_ns', 'execution'],
  ['core_wait_ns', 'waiting for a core'],
  ['scheduler_ns', 'scheduler'],
  ['orchestrator_ns', 'orchestrator'],
] as const;

export function blameBar(path: Json): HTMLElement {
  const whole = Math.max(
    1,
    kBlames.reduce((sum, [key]) => sum + shape.number(path[key]), 0),
  );
  const parts = kBlames.map(([key, word], i) => {
    const share = shape.number(path[key]) / whole;
    const part = h('span', { class: `blame b${i}`, title: `${word} ${percent(share)}` });
    part.style.width = `${share * 100}%`;
    return part;
  });
  const words = kBlames.map(([key, word], i) =>
    h(
      'li',
      {},
      h('span', { class: `swatch b${i}`, 'aria-hidden': 'true' }),
      `${word} ${percent(shape.number(path[key]) / whole)}`,
    ),
  );
  return h(
    'div',
    { class: 'blames' },
    h('div', { class: 'stack' }, ...parts),
    h('ul', { class: 'legend' }, ...words),
  );
}

export function criticalPath(
  app: AppView,
  overview: Json,
  choose: (row: Json) => void = (row) => openStep(app, row),
): HTMLElement | null {
  if (!shape.isRecord(overview.critical_path)) return null;
  const path = overview.critical_path;
  const rows = shape.records(path.steps);
  const left = shape.number(path.steps_left_out);
  const ns = (title: string, key: string, hint: string, width = '4.6rem') => ({
    title,
    hint,
    width,
    number: true,
    value: (row: Json) => shape.maybe(row[key]),
    text: (row: Json) => (shape.number(row[key]) > 0 ? duration(shape.number(row[key])) : '·'),
  });
  const table = new Table<Json>({
    label: 'Critical path',
    rows,
    tall: 9,
    choose,
    columns: [
      {
        title: 'Task',
        width: '4.5rem',
        value: (row) => shape.text(row.text) || shape.text(row.task),
        text: (row) => shape.text(row.text) || taskText(shape.text(row.task)),
      },
      { title: 'Kernel', width: 'minmax(4.5rem, 1fr)', value: (row) => shape.text(row.kernel) },
      ns('Execution', 'execution_ns', 'from start to end of its kernel'),
      ns('Core', 'core_wait_ns', 'ready, and every core of its type was busy'),
      ns('Scheduler', 'scheduler_ns', 'ready, a core was idle, and nobody had dispatched it'),
      ns('Orchestrator', 'orchestrator_ns', 'nothing but its submit was missing', '5.6rem'),
    ],
  });
  const words =
    `${count(rows.length + left)} tasks, ${duration(shape.number(path.length_ns))}` +
    (left > 0 ? `; the ${count(rows.length)} longest are listed` : '');
  return section(
    'Critical path',
    path.complete === false
      ? h('p', { class: 'bad' }, 'The graph was not recorded whole: the true path may be another.')
      : null,
    h('p', { class: 'quiet' }, words),
    blameBar(path),
    table.root,
  );
}

function openStep(app: AppView, row: Json): void {
  const task = shape.text(row.task);
  const begin = shape.maybe(row.start);
  const end = shape.maybe(row.end);
  if (begin === null || end === null) {
    app.selectTask(task);
    app.go('graph');
    return;
  }
  const bounds = { begin: 0, end: app.run.index.end };
  app.selectTask(task, { track: shape.maybe(row.track), begin, end });
  app.go('timeline', {
    view: fitRange(begin - 3 * (end - begin), end + 3 * (end - begin), bounds),
  });
}
