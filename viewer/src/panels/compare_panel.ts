// SPDX-License-Identifier: Apache-2.0
// Two runs side by side: what they are, time per kernel, the critical path by task, and where their
// values part.
import type { AppView, Panel } from '../app/app_view';
import { ledgerText } from '../app/header';
import type { Run } from '../app/run';
import * as shape from '../codec/shape';
import type { Json } from '../codec/shape';
import type { TensorRow } from '../tiles/tensor_store';
import { h, link, refill, type Child } from '../ui/dom';
import { Table, type Column } from '../ui/table';
import { count, duration, short, taskText } from '../ui/units';
import { blameBar } from './critical_path';
import { findDivergence, type Difference, type Divergence, type TaskDifference } from './divergence';
import { swatch } from './kernel_table';
import { section } from './section';
import { stageText } from './tensor_view';

const kMostPages = 64;

export class ComparePanel implements Panel {
  readonly id = 'compare';
  readonly root = h('section', { class: 'panel compare', 'aria-label': 'Compare' });
  private readonly values = h('div', {});
  private asked = 0;

  constructor(private readonly app: AppView) {}

  update(changed: Set<string>): void {
    if (changed.has('data') || changed.has('theme') || this.root.childElementCount === 0) {
      void this.load();
    }
  }

  private async load(): Promise<void> {
    const { run, other } = this.app;
    if (!other) {
      refill(this.root, h('p', { class: 'nothing' }, 'There is no second run. ' +
        'tidemark report RUN --compare OTHER puts one beside it; a server compares two of its list.'));
      return;
    }
    const asked = ++this.asked;
    const [here, there] = await Promise.all([run, other].map(async (one) => shape.record(
      one.index.documents.has('overview') ? await one.documents.get('doc/overview') : null)));
    if (asked !== this.asked) return;
    refill(this.root,
      this.values,
      h('div', { class: 'columns' }, this.facts(run, here, 'This run'),
        this.facts(other, there, 'The other')),
      this.kernels(here, there), this.paths(here, there));
    await this.compareValues(run, other, asked);
  }

  private facts(run: Run, overview: Json, title: string): HTMLElement {
    const path = shape.record(overview.critical_path);
    const device = shape.number(run.index.run.device_ns) || run.ns(run.index.end - run.index.launch);
    const rows: [string, string][] = [
      ['status', shape.text(run.index.run.status, 'unknown')], ['time', duration(device)],
      ['tasks', count(run.index.tasks)], ['records', ledgerText(run).text],
    ];
    return section(`${title}: ${run.index.title}`, h('dl', { class: 'facts' },
      ...rows.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)])),
    shape.isRecord(overview.critical_path) ? blameBar(path) : null);
  }

  private kernels(here: Json, there: Json): HTMLElement | null {
    interface Pair { name: string; a: Json | null; b: Json | null }
    const pairs = new Map<string, Pair>();
    for (const [side, overview] of [['a', here], ['b', there]] as const) {
      for (const kernel of shape.records(overview.kernels)) {
        const name = shape.text(kernel.name);
        const pair = pairs.get(name) ?? { name, a: null, b: null };
        pair[side] = kernel;
        pairs.set(name, pair);
      }
    }
    if (pairs.size === 0) return null;
    const of = (title: string, side: 'a' | 'b', key: string): Column<Pair> => ({
      title, width: '6.4rem', number: true,
      value: (pair) => shape.maybe(pair[side]?.[key]),
      text: (pair) => (pair[side] === null ? 'none' : key === 'count'
        ? count(shape.number(pair[side]?.[key])) : duration(shape.number(pair[side]?.[key]))),
    });
    const ratio = (pair: Pair): number | null => {
      const a = shape.number(pair.a?.total_ns);
      const b = shape.number(pair.b?.total_ns);
      return a > 0 && b > 0 ? a / b : null;
    };
    const table = new Table<Pair>({
      label: 'Time per kernel in both runs', tall: 14, rows: [...pairs.values()],
      choose: (pair) => this.app.go('timeline', { kernel: pair.name }),
      columns: [
        { title: 'Kernel', width: 'minmax(8rem, 1fr)', value: (pair) => pair.name,
          cell: (pair) => h('span', {}, swatch(this.app.colors.ofText(pair.name)), pair.name) },
        of('Blocks', 'a', 'count'), of('other', 'b', 'count'),
        of('Total', 'a', 'total_ns'), of('other', 'b', 'total_ns'),
        of('Mean', 'a', 'mean_ns'), of('other', 'b', 'mean_ns'),
        { title: 'Total ÷ other', width: '7rem', number: true, value: ratio,
          text: (pair) => (ratio(pair) === null ? '' : `${(ratio(pair) ?? 0).toFixed(2)} ×`) },
      ],
    });
    return section('Time per kernel', table.root);
  }

  private paths(here: Json, there: Json): HTMLElement | null {
    const rows = alignSteps(stepsOf(here), stepsOf(there));
    if (rows.length === 0) return null;
    const step = (title: string, side: 'a' | 'b', key: string): Column<StepPair> => ({
      title, width: '7rem', number: true, value: (row) => shape.maybe(row[side]?.[key]),
      text: (row) => (row[side] === null ? '·' : duration(shape.number(row[side]?.[key]))),
    });
    const total = (one: Json | null): number => (one === null ? 0 : ['execution_ns', 'core_wait_ns',
      'scheduler_ns', 'orchestrator_ns'].reduce((sum, key) => sum + shape.number(one[key]), 0));
    const difference = (row: StepPair): number | null =>
      (row.a && row.b ? total(row.a) - total(row.b) : null);
    const table = new Table<StepPair>({
      label: 'Critical paths by task', tall: 14, rows,
      classOf: (row) => (row.a && row.b ? '' : 'single'),
      choose: (row) => this.app.selectTask(row.task),
      columns: [
        { title: 'Task', width: '6rem', value: (row) => shape.text((row.a ?? row.b)?.text) ||
          taskText(row.task) },
        { title: 'Kernel', width: 'minmax(7rem, 1fr)',
          value: (row) => shape.text((row.a ?? row.b)?.kernel) },
        { title: 'On the path of', width: '8rem',
          value: (row) => (row.a && row.b ? 'both' : row.a ? 'this run' : 'the other') },
        step('Execution', 'a', 'execution_ns'), step('other', 'b', 'execution_ns'),
        { title: 'All ', width: '7rem', number: true, value: (row) => total(row.a),
          text: (row) => (row.a ? duration(total(row.a)) : '·') },
        { title: 'other', width: '7rem', number: true, value: (row) => total(row.b),
          text: (row) => (row.b ? duration(total(row.b)) : '·') },
        { title: 'Difference', width: '7rem', number: true, value: difference,
          text: (row) => (difference(row) === null ? '' : signed(difference(row) ?? 0)) },
      ],
    });
    const both = rows.filter((row) => row.a && row.b).length;
    return section('Critical paths', h('p', { class: 'quiet' },
      `${count(both)} tasks are on both paths, ${count(rows.length - both)} on one of them.`),
    table.root);
  }

  private async compareValues(run: Run, other: Run, asked: number): Promise<void> {
    if (run.index.tensors === 0 || other.index.tensors === 0) {
      refill(this.values, section('Values', h('p', { class: 'quiet' },
        'Values are compared where both runs have their dumps (--dump-tensor).')));
      return;
    }
    const say = (text: string): void => refill(this.values, section('Values',
      h('p', { class: 'quiet', role: 'status' }, text)));
    const read = async (one: Run): Promise<TensorRow[]> => {
      const pages = Math.min(kMostPages, Math.ceil(one.index.tensors / await one.tensors.pageRows()));
      const rows: TensorRow[] = [];
      for (let page = 0; page < pages && asked === this.asked; page++) {
        rows.push(...(await one.tensors.page(page) ?? []));
        say(`Reading arguments: ${count(rows.length)} of ${count(one.index.tensors)}`);
      }
      return rows;
    };
    const here = await read(run);
    const there = await read(other);
    if (asked !== this.asked) return;
    const found = findDivergence(here, there);
    const cut = here.length < run.index.tensors || there.length < other.index.tensors;
    refill(this.values, section('Where the values part', ...this.verdict(found),
      cut ? h('p', { class: 'quiet' }, `Of ${count(run.index.tensors)} arguments the first ` +
        `${count(here.length)} were compared.`) : null));
  }

  private verdict(found: Divergence): Child[] {
    const first = found.differing[0];
    if (!first) {
      return [h('p', {}, found.compared === 0 ? 'Nothing can be compared: the dumps have no hashes.'
        : `All ${count(found.compared)} arguments that both runs have are the same.`)];
    }
    const maker = found.maker && found.maker.task !== first.task ? found.maker : null;
    return [
      h('p', { class: 'sentence' }, 'The first task that differs is ',
        link(`${first.text} ${first.kernel}`, () => this.open(first)), '.'),
      this.listOf(first),
      maker ? h('p', {}, 'The first whose inputs agree and whose outputs do not is ',
        link(`${maker.text} ${maker.kernel}`, () => this.open(maker)), '.') : null,
      h('p', { class: 'quiet' }, `${count(found.differingTasks)} tasks differ; ` +
        `${count(found.compared)} arguments were compared` +
        (found.onlyHere + found.onlyThere > 0
          ? `, ${count(found.onlyHere)} are in this run alone, ${count(found.onlyThere)} in the other`
          : '') + '.'),
    ];
  }

  private open(found: TaskDifference): void {
    const row = (found.outputs[0] ?? found.inputs[0])?.row;
    this.app.selectTask(found.task, { tensor: row?.row ?? null });
    this.app.go('tensors');
  }

  private listOf(found: TaskDifference): HTMLElement {
    return h('table', { class: 'plain' }, h('thead', {}, h('tr', {},
      ...['argument', 'this run', 'the other'].map((head) => h('th', {}, head)))),
    h('tbody', {}, ...[...found.inputs, ...found.outputs].slice(0, 12).map(({ row, other }) =>
      h('tr', {}, h('th', {}, `${row.arg} ${row.role} ${stageText(row.stage)}`),
        ...describe({ row, other }).map((text) => h('td', {}, text))))));
  }
}

function describe({ row, other }: Difference): string[] {
  return [row, other].map((one) => {
    if (one.kind === 'scalar') return one.value;
    const { stats } = one;
    if (!stats) return `${one.dtype} [${one.shape.join(' × ')}]`;
    const odd = stats.nan + stats.inf > 0 ? `, ${count(stats.nan)} NaN, ${count(stats.inf)} infinite` : '';
    return `mean ${short(stats.mean ?? NaN)}, ${short(stats.min ?? NaN)} to ` +
      `${short(stats.max ?? NaN)}${odd}`;
  });
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
