// SPDX-License-Identifier: Apache-2.0
// Where the values of two runs part, in words: the first task that differs, and in what.
import type { AppView } from '../app/app_view';
import type { Run } from '../app/run';
import type { TensorRow } from '../tiles/tensor_store';
import { h, link, refill, type Child } from '../ui/dom';
import { count, short } from '../ui/units';
import {
  findDivergence,
  type Difference,
  type Divergence,
  type TaskDifference,
} from './divergence';
import { section } from './section';
import { stageText } from './tensor_view';

const kMostPages = 64;

export class CompareValues {
  readonly root = h('div', {});
  private asked = 0;

  constructor(private readonly app: AppView) {}

  async load(run: Run, other: Run): Promise<void> {
    const asked = ++this.asked;
    if (run.index.tensors === 0 || other.index.tensors === 0) {
      refill(
        this.root,
        section(
          'Values',
          h(
            'p',
            { class: 'quiet' },
            'Values are compared where both runs have their dumps (--dump-tensor).',
          ),
        ),
      );
      return;
    }
    const say = (text: string): void =>
      refill(this.root, section('Values', h('p', { class: 'quiet', role: 'status' }, text)));
    const read = async (one: Run): Promise<TensorRow[]> => {
      const pages = Math.min(
        kMostPages,
        Math.ceil(one.index.tensors / (await one.tensors.pageRows())),
      );
      const rows: TensorRow[] = [];
      for (let page = 0; page < pages && asked === this.asked; page++) {
        rows.push(...((await one.tensors.page(page)) ?? []));
        say(`Reading arguments: ${count(rows.length)} of ${count(one.index.tensors)}`);
      }
      return rows;
    };
    const here = await read(run);
    const there = await read(other);
    if (asked !== this.asked) return;
    const found = findDivergence(here, there);
    const cut = here.length < run.index.tensors || there.length < other.index.tensors;
    refill(
      this.root,
      section(
        'Where the values part',
        ...this.verdict(found),
        cut
          ? h(
              'p',
              { class: 'quiet' },
              `Of ${count(run.index.tensors)} arguments the first ` +
                `${count(here.length)} were compared.`,
            )
          : null,
      ),
    );
  }

  private verdict(found: Divergence): Child[] {
    const first = found.differing[0];
    if (!first) {
      return [
        h(
          'p',
          {},
          found.compared === 0
            ? 'Nothing can be compared: the dumps have no hashes.'
            : `All ${count(found.compared)} arguments that both runs have are the same.`,
        ),
      ];
    }
    const maker = found.maker && found.maker.task !== first.task ? found.maker : null;
    return [
      h(
        'p',
        { class: 'sentence' },
        'The first task that differs is ',
        link(`${first.text} ${first.kernel}`, () => this.open(first)),
        '.',
      ),
      this.listOf(first),
      maker
        ? h(
            'p',
            {},
            'The first whose inputs agree and whose outputs do not is ',
            link(`${maker.text} ${maker.kernel}`, () => this.open(maker)),
            '.',
          )
        : null,
      h(
        'p',
        { class: 'quiet' },
        `${count(found.differingTasks)} tasks differ; ` +
          `${count(found.compared)} arguments were compared` +
          (found.onlyHere + found.onlyThere > 0
            ? `, ${count(found.onlyHere)} are in this run alone, ${count(found.onlyThere)} in the other`
            : '') +
          '.',
      ),
    ];
  }

  private open(found: TaskDifference): void {
    const row = (found.outputs[0] ?? found.inputs[0])?.row;
    this.app.selectTask(found.task, { tensor: row?.row ?? null });
    this.app.go('tensors');
  }

  private listOf(found: TaskDifference): HTMLElement {
    return h(
      'table',
      { class: 'plain' },
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          ...['argument', 'A, this run', 'B, the other run'].map((head) => h('th', {}, head)),
        ),
      ),
      h(
        'tbody',
        {},
        ...[...found.inputs, ...found.outputs]
          .slice(0, 12)
          .map(({ row, other }) =>
            h(
              'tr',
              {},
              h('th', {}, `${row.arg} ${row.role} ${stageText(row.stage)}`),
              ...describe({ row, other }).map((text) => h('td', {}, text)),
            ),
          ),
      ),
    );
  }
}

function describe({ row, other }: Difference): string[] {
  return [row, other].map((one) => {
    if (one.kind === 'scalar') return one.value;
    const { stats } = one;
    if (!stats) return `${one.dtype} [${one.shape.join(' × ')}]`;
    const odd =
      stats.nan + stats.inf > 0 ? `, ${count(stats.nan)} NaN, ${count(stats.inf)} infinite` : '';
    return (
      `mean ${short(stats.mean ?? NaN)}, ${short(stats.min ?? NaN)} to ` +
      `${short(stats.max ?? NaN)}${odd}`
    );
  });
}
