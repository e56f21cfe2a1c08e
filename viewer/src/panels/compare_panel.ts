// SPDX-License-Identifier: Apache-2.0
// Two runs side by side: what they are, time per kernel, the critical path by task, and where their
// values part.
import type { AppView, Panel } from '../app/app_view';
import { ledgerText, timeOf } from '../app/header';
import type { Run } from '../app/run';
import * as shape from '../codec/shape';
import type { Json } from '../codec/shape';
import { h, refill } from '../ui/dom';
import { Table, type Column } from '../ui/table';
import { count, duration } from '../ui/units';
import { blameBar } from './critical_path';
import { comparePaths } from './compare_paths';
import { CompareValues } from './compare_values';
import { swatch } from './kernel_table';
import { section } from './section';

export class ComparePanel implements Panel {
  readonly id = 'compare';
  readonly root = h('section', { class: 'panel compare', 'aria-label': 'Compare' });
  private readonly values: CompareValues;
  private asked = 0;

  constructor(private readonly app: AppView) {
    this.values = new CompareValues(app);
  }

  update(changed: Set<string>): void {
    if (changed.has('data') || changed.has('theme') || this.root.childElementCount === 0) {
      void this.load();
    }
  }

  private async load(): Promise<void> {
    const { run, other } = this.app;
    if (!other) {
      refill(
        this.root,
        h(
          'p',
          { class: 'nothing' },
          'There is no second run. ' +
            'tidemark report RUN --compare OTHER puts one beside it; a server compares two of its list.',
        ),
      );
      return;
    }
    const asked = ++this.asked;
    const [here, there] = await Promise.all(
      [run, other].map(async (one) =>
        shape.record(
          one.index.documents.has('overview') ? await one.documents.get('doc/overview') : null,
        ),
      ),
    );
    if (asked !== this.asked) return;
    refill(
      this.root,
      timesOf(run, other),
      this.values.root,
      h(
        'div',
        { class: 'columns' },
        this.facts(run, here, 'A, this run'),
        this.facts(other, there, 'B, the other run'),
      ),
      this.kernels(here, there),
      comparePaths(this.app, here, there),
    );
    await this.values.load(run, other);
  }

  private facts(run: Run, overview: Json, title: string): HTMLElement {
    const path = shape.record(overview.critical_path);
    const rows: [string, string][] = [
      ['status', shape.text(run.index.run.status, 'unknown')],
      ['time', timeOf(run).text],
      ['tasks', count(run.index.tasks)],
      ['records', ledgerText(run).text],
    ];
    return section(
      `${title}: ${run.index.title}`,
      h(
        'dl',
        { class: 'facts' },
        ...rows.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]),
      ),
      shape.isRecord(overview.critical_path) ? blameBar(path) : null,
    );
  }

  private kernels(here: Json, there: Json): HTMLElement | null {
    interface Pair {
      name: string;
      a: Json | null;
      b: Json | null;
    }
    const pairs = new Map<string, Pair>();
    for (const [side, overview] of [
      ['a', here],
      ['b', there],
    ] as const) {
      for (const kernel of shape.records(overview.kernels)) {
        const name = shape.text(kernel.name);
        const pair = pairs.get(name) ?? { name, a: null, b: null };
        pair[side] = kernel;
        pairs.set(name, pair);
      }
    }
    if (pairs.size === 0) return null;
    const of = (title: string, side: 'a' | 'b', key: string): Column<Pair> => ({
      title,
      width: '6.4rem',
      number: true,
      value: (pair) => shape.maybe(pair[side]?.[key]),
      text: (pair) =>
        pair[side] === null
          ? 'none'
          : key === 'count'
            ? count(shape.number(pair[side]?.[key]))
            : duration(shape.number(pair[side]?.[key])),
    });
    const ratio = (pair: Pair): number | null => {
      const a = shape.number(pair.a?.total_ns);
      const b = shape.number(pair.b?.total_ns);
      return a > 0 && b > 0 ? a / b : null;
    };
    const table = new Table<Pair>({
      label: 'Time per kernel in both runs',
      tall: 14,
      rows: [...pairs.values()],
      choose: (pair) => this.app.go('timeline', { kernel: pair.name }),
      columns: [
        {
          title: 'Kernel',
          width: 'minmax(8rem, 1fr)',
          value: (pair) => pair.name,
          cell: (pair) => h('span', {}, swatch(this.app.colors.ofText(pair.name)), pair.name),
        },
        of('Blocks A', 'a', 'count'),
        of('Blocks B', 'b', 'count'),
        of('Total A', 'a', 'total_ns'),
        of('Total B', 'b', 'total_ns'),
        of('Mean A', 'a', 'mean_ns'),
        of('Mean B', 'b', 'mean_ns'),
        {
          title: 'Total A ÷ B',
          hint: 'above 1: A took longer',
          width: '7rem',
          number: true,
          value: ratio,
          text: (pair) => (ratio(pair) === null ? '' : `${(ratio(pair) ?? 0).toFixed(2)} ×`),
        },
      ],
    });
    return section('Time per kernel', table.root);
  }
}

// Which took longer, where the device said how long.
function timesOf(run: Run, other: Run): HTMLElement | null {
  const [a, b] = [run, other].map((one) => shape.number(one.index.run.device_ns));
  if (a <= 0 || b <= 0) return null;
  const factor = Math.max(a, b) / Math.min(a, b);
  const words =
    factor < 1.02
      ? 'as long'
      : `${factor.toFixed(factor < 10 ? 2 : 0)} times ${a > b ? 'as long' : 'as fast'}`;
  return h(
    'p',
    { class: 'sentence' },
    `This run took ${duration(a)}, the other ${duration(b)}: ${words}.`,
  );
}
