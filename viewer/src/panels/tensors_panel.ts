// SPDX-License-Identifier: Apache-2.0
// What tasks read and wrote: a table of every dumped argument, and one of them at close range.
import type { AppView, Panel } from '../app/app_view';
import * as shape from '../codec/shape';
import { isFinite, type TensorRow } from '../tiles/tensor_store';
import { h, link, refill, type Child } from '../ui/dom';
import { Table, type Column } from '../ui/table';
import { bytes, count, duration, short } from '../ui/units';
import { elementBytes, elementsOf, sliceOf, type Slice } from './elements';
import { finiteOf, placeInBuffer, sideBySide, stageText, statistics } from './tensor_view';
import { section } from './section';

// So many pages are read on their own; more when asked for.
const kPagesAtOnce = 32;
const kMostElements = 1 << 24;

// What is shown where nothing was chosen: what went wrong, an output before inputs.
function foremost(rows: TensorRow[]): TensorRow | undefined {
  const tensors = rows.filter((row) => row.kind !== 'scalar');
  const written = tensors.filter((row) => row.stage !== 'before_dispatch');
  return (
    written.find((row) => !isFinite(row.stats)) ??
    tensors.find((row) => !isFinite(row.stats)) ??
    written[0] ??
    rows[0]
  );
}

function notFinite(stats: { nan: number; inf: number }): string {
  const parts = [
    stats.nan > 0 ? `${count(stats.nan)} NaN` : '',
    stats.inf > 0 ? `${count(stats.inf)} inf` : '',
  ];
  return parts.filter((part) => part).join(', ') || '0';
}

function scalarText(value: string): string {
  const number = Number(value);
  return value.length > 7 && Number.isFinite(number) ? short(number, 4) : value;
}

export class TensorsPanel implements Panel {
  readonly id = 'tensors';
  readonly root = h('section', { class: 'panel tensors', 'aria-label': 'Tensors' });
  private readonly filter = h('input', {
    type: 'search',
    placeholder: 'Filter: task, kernel, type',
    'aria-label': 'Filter',
    spellcheck: 'false',
  });
  private readonly odd = h('input', { type: 'checkbox', id: 'odd' });
  private readonly only = h('input', { type: 'checkbox', id: 'only' });
  private readonly words = h('span', { class: 'quiet', role: 'status' });
  private readonly detail = h('div', { class: 'detail' });
  private readonly table: Table<TensorRow>;
  private rows: TensorRow[] = [];
  private pagesAsked = kPagesAtOnce;
  private loading = 0;
  private shown = '';
  private at: number[] = [];

  constructor(private readonly app: AppView) {
    this.table = new Table<TensorRow>({
      label: 'Arguments',
      rows: [],
      empty: 'no argument is like this',
      classOf: (row) => (isFinite(row.stats) ? '' : 'bad'),
      choose: (row) =>
        this.app.selectTask(row.task, {
          tensor: row.row,
          ...(this.app.state.task === row.task ? this.spanOfState() : {}),
        }),
      columns: this.columns(),
    });
    for (const input of [this.filter, this.odd, this.only]) {
      input.addEventListener('input', () => this.sift());
    }
    refill(
      this.root,
      h(
        'div',
        { class: 'list' },
        h(
          'div',
          { class: 'controls' },
          this.filter,
          h('label', {}, this.odd, ' NaN or infinity'),
          h('label', {}, this.only, ' selected task'),
          this.words,
        ),
        this.table.root,
      ),
      this.detail,
    );
  }

  private spanOfState(): { track: number | null; begin: number | null; end: number | null } {
    const { track, begin, end } = this.app.state;
    return { track, begin, end };
  }

  private columns(): Column<TensorRow>[] {
    const statistic = (title: string, key: 'min' | 'max' | 'mean') => ({
      title,
      width: '4rem',
      number: true,
      value: (row: TensorRow) => finiteOf(row, key),
      text: (row: TensorRow) => {
        const value = finiteOf(row, key);
        return value === null ? '' : short(value, 4);
      },
    });
    return [
      { title: 'Row', width: '3rem', number: true, value: (row) => row.row },
      { title: 'Task', width: '3.9rem', value: (row) => row.text },
      { title: 'Kernel', width: 'minmax(6.7rem, 1fr)', value: (row) => row.kernel },
      {
        title: 'Arg',
        hint: 'argument, and what the kernel does with it',
        width: '4rem',
        value: (row) => row.arg,
        text: (row) => `${row.arg} ${row.role}`,
      },
      {
        title: 'Stage',
        width: '3.2rem',
        hint: 'before the kernel ran, or after it',
        value: (row) => stageText(row.stage),
      },
      { title: 'Type', width: '3.5rem', value: (row) => row.dtype },
      {
        title: 'Shape',
        hint: 'or the value of a scalar',
        width: '4.6rem',
        value: (row) =>
          row.kind === 'scalar' ? `= ${scalarText(row.value)}` : row.shape.join(' × '),
      },
      {
        title: 'Not finite',
        width: '4.4rem',
        number: true,
        value: (row) => (row.stats ? row.stats.nan + row.stats.inf : null),
        text: (row) => (row.stats ? notFinite(row.stats) : ''),
      },
      statistic('Least', 'min'),
      statistic('Most', 'max'),
      statistic('Mean', 'mean'),
    ];
  }

  update(changed: Set<string>): void {
    if (changed.has('data') || this.loading === 0) void this.load();
    if (this.only.checked && changed.has('task')) this.sift();
    this.showSelected();
  }

  private async load(): Promise<void> {
    const asked = ++this.loading;
    const store = this.app.run.tensors;
    if (store.rows === 0) {
      refill(
        this.root,
        h(
          'p',
          { class: 'nothing' },
          'No arguments were recorded. tidemark run … --dump-tensor records them.',
        ),
      );
      return;
    }
    const perPage = await store.pageRows();
    const pages = Math.min(Math.ceil(store.rows / perPage), this.pagesAsked);
    const rows: TensorRow[] = [];
    for (let page = 0; page < pages; page++) {
      const some = await store.page(page);
      if (asked !== this.loading) return;
      if (some) rows.push(...some);
      if (page % 8 === 7 || page === pages - 1) {
        this.rows = rows;
        this.sift();
      }
    }
    const document = await store.document();
    if (asked !== this.loading) return;
    const about = shape.record(document);
    const first = shape.maybe(about.nan_first) ?? shape.maybe(about.infinity_first);
    this.sift(first);
    this.shown = '';
    this.showSelected();
  }

  private sift(first: number | null = null): void {
    const word = this.filter.value.trim().toLowerCase();
    const { task } = this.app.state;
    const rows = this.rows.filter(
      (row) =>
        (!this.odd.checked || !isFinite(row.stats)) &&
        (!this.only.checked || row.task === task) &&
        (word === '' ||
          `${row.text} ${row.kernel} ${row.dtype} ${row.role} ${row.shape.join('x')} ` +
            `${stageText(row.stage)} ${row.buffer ?? ''}`.toLowerCase().includes(word)),
    );
    this.table.setRows(rows);
    const all = this.app.run.tensors.rows;
    const part = this.rows.length < all;
    const shown =
      rows.length === this.rows.length ? '' : `${count(rows.length)} ${part ? 'shown, ' : 'of '}`;
    const read = part ? `${count(this.rows.length)} of ${count(all)} rows read ` : '';
    refill(
      this.words,
      shown,
      read || `${count(all)} ${all === 1 ? 'row' : 'rows'}`,
      part
        ? link('read more', () => {
            this.pagesAsked += kPagesAtOnce;
            void this.load();
          })
        : null,
      first !== null ? ' · ' : null,
      first !== null ? link(`first NaN or infinity: row ${first}`, () => this.choose(first)) : null,
    );
    this.table.setSelected((row) => row.row === this.app.state.tensor);
  }

  private choose(number: number): void {
    const row = this.rows.find((one) => one.row === number);
    if (row) this.app.selectTask(row.task, { tensor: number });
  }

  private showSelected(): void {
    const { task, tensor } = this.app.state;
    const own =
      this.rows.find((row) => row.row === tensor) ??
      foremost(task ? this.rows.filter((row) => row.task === task) : this.rows);
    this.table.setSelected((row) => row === own);
    const key = JSON.stringify([own?.row, own?.task, task, this.rows.length]);
    if (key === this.shown) return;
    if (own?.row !== tensor) this.at = [];
    this.shown = key;
    if (own) void this.showRow(own, key);
    else void this.showNothing(task, key);
  }

  private async showNothing(task: string | null, key: string): Promise<void> {
    const rows = task ? await this.app.run.tensors.ofTask(task) : [];
    if (this.shown !== key) return;
    if (rows.length > 0) {
      this.rows = [
        ...this.rows,
        ...rows.filter((row) => !this.rows.some((o) => o.row === row.row)),
      ];
      this.sift();
      this.showSelected();
      return;
    }
    this.root.classList.add('wide');
    refill(
      this.detail,
      h(
        'p',
        { class: 'nothing' },
        task ? 'No argument of the selected task was recorded.' : 'Choose an argument.',
      ),
      this.app.run.index.payloadNote
        ? h('p', { class: 'quiet' }, this.app.run.index.payloadNote)
        : null,
    );
  }

  private async showRow(row: TensorRow, key: string): Promise<void> {
    const task = await this.app.run.tensors.ofTask(row.task);
    const mates = task.length > 0 ? task : this.rows.filter((one) => one.task === row.task);
    const stages =
      row.kind === 'scalar'
        ? [row]
        : mates.filter((one) => one.arg === row.arg && one.kind === row.kind);
    const order = ['before_dispatch', 'after_completion', 'at_hang'];
    stages.sort((a, b) => order.indexOf(a.stage) - order.indexOf(b.stage));
    const parts = await Promise.all(
      (stages.length > 0 ? stages : [row]).slice(0, 3).map((one) => this.part(one)),
    );
    if (this.shown !== key) return;
    const run = this.app.run;
    this.root.classList.remove('wide');
    refill(
      this.detail,
      h('h2', {}, `${row.text} ${row.kernel}, argument ${row.arg}`),
      h(
        'p',
        { class: 'quiet' },
        [
          row.time === null
            ? ''
            : `dumped ${duration(run.ns(row.time - run.index.launch), 5)} after launch`,
          row.core === null ? '' : `core ${row.core}`,
        ]
          .filter((w) => w)
          .join(', '),
      ),
      statistics(row),
      row.kind === 'scalar' ? null : section('Values', this.pickers(row), sideBySide(parts)),
      placeInBuffer(row),
      this.sameBuffer(row),
    );
  }

  private sameBuffer(row: TensorRow): Child {
    if (row.buffer === null) return null;
    const others = this.rows.filter((one) => one.buffer === row.buffer).length;
    return others < 2
      ? null
      : h(
          'p',
          {},
          link(`${count(others)} arguments are views of this buffer`, () => {
            this.filter.value = row.buffer ?? '';
            this.sift();
          }),
        );
  }

  private async part(
    row: TensorRow,
  ): Promise<{ row: TensorRow; slice: Slice | null; why: string }> {
    const note = this.app.run.index.payloadNote;
    if (!row.payload) return { row, slice: null, why: note || 'The values were not kept.' };
    if (elementBytes(row.dtype) === 0) {
      return { row, slice: null, why: `Values of type ${row.dtype} are not shown.` };
    }
    const raw = await this.app.run.tensors.payload(row);
    if (!raw) {
      return {
        row,
        slice: null,
        why: this.app.run.tensors.problem(`payload/${row.row}`) || 'The values are not there.',
      };
    }
    const elements = elementsOf(raw.subarray(0, kMostElements * 8), row.dtype);
    const slice = elements ? sliceOf(elements, row.shape, this.at) : null;
    return {
      row,
      slice: slice && slice.values.length > 0 ? slice : null,
      why: `The values are cut: ${bytes(raw.length)} are there.`,
    };
  }

  // Which slice of a tensor of more than two dimensions.
  private pickers(row: TensorRow): Child {
    const held = row.shape.slice(0, -2);
    if (held.length === 0) return null;
    return h(
      'div',
      { class: 'controls' },
      'Slice',
      ...held.map((size, dim) => {
        const input = h('input', {
          type: 'number',
          min: 0,
          max: size - 1,
          value: this.at[dim] ?? 0,
          'aria-label': `index of dimension ${dim}`,
        });
        input.addEventListener('change', () => {
          this.at[dim] = Math.max(0, Math.min(size - 1, Math.floor(Number(input.value)) || 0));
          this.shown += ' ';
          void this.showRow(row, this.shown);
        });
        return input;
      }),
      h('span', { class: 'quiet' }, `of ${row.shape.join(' × ')}`),
    );
  }
}
