// SPDX-License-Identifier: Apache-2.0
// A table of any length: sorted by a click on a head, walked with the arrow keys, and only the rows
// in sight are elements.
import { h, refill } from './dom';

export interface Column<Row> {
  title: string;
  // What it is sorted by, and its text where `cell` makes nothing else of it.
  value: (row: Row) => number | string | null;
  text?: (row: Row) => string;
  cell?: (row: Row) => Node | string;
  number?: boolean;
  width: string; // as in grid-template-columns
  hint?: string;
}

export interface TableOptions<Row> {
  label: string;
  columns: Column<Row>[];
  rows?: Row[];
  choose?: (row: Row) => void;
  classOf?: (row: Row) => string;
  empty?: string;
  tall?: number; // at most so many rows in sight; without it the table fills its place
}

export const kRowHeight = 24;

export class Table<Row> {
  readonly root: HTMLElement;
  private rows: Row[] = [];
  private sorted: Row[] = [];
  private by: { column: number; down: boolean } | null = null;
  private at = -1;
  private readonly head = h('div', { class: 'heads', role: 'row' });
  private readonly space = h('div', { class: 'space', role: 'rowgroup' });
  private readonly scroller: HTMLElement;

  constructor(private readonly options: TableOptions<Row>) {
    this.scroller = h(
      'div',
      { class: 'scroller', tabindex: 0, role: 'grid', 'aria-label': options.label },
      this.head,
      this.space,
    );
    this.root = h('div', { class: `table${options.tall ? '' : ' fills'}` }, this.scroller);
    const widths = options.columns.map((column) => column.width);
    this.root.style.setProperty('--columns', widths.map(shrinking).join(' '));
    this.root.style.setProperty('--least', `${leastWidth(widths)}rem`);
    this.scroller.addEventListener('scroll', () => this.fill());
    this.scroller.addEventListener('keydown', (event) => this.key(event));
    new ResizeObserver(() => {
      if (this.at >= 0) this.reveal();
      this.fill();
    }).observe(this.scroller);
    this.fillHead();
    this.setRows(options.rows ?? []);
  }

  setRows(rows: Row[]): void {
    this.rows = rows;
    this.at = -1;
    this.sort();
  }

  // The row that is selected elsewhere.
  setSelected(test: (row: Row) => boolean, reveal = true): void {
    this.at = this.sorted.findIndex(test);
    if (reveal && this.at >= 0) this.reveal();
    this.fill();
  }

  get size(): number {
    return this.rows.length;
  }

  private fillHead(): void {
    refill(
      this.head,
      ...this.options.columns.map((column, i) => {
        const sorted = this.by?.column === i;
        const order = sorted ? (this.by?.down ? 'descending' : 'ascending') : 'none';
        return h(
          'div',
          { role: 'columnheader', 'aria-sort': order, class: column.number ? 'number' : '' },
          h(
            'button',
            { type: 'button', title: column.hint, onclick: () => this.sortBy(i) },
            `${column.title}${sorted ? (this.by?.down ? ' ↓' : ' ↑') : ''}`,
          ),
        );
      }),
    );
  }

  private sortBy(column: number): void {
    const numbers = this.options.columns[column].number === true;
    if (this.by?.column !== column) this.by = { column, down: numbers };
    else if (this.by.down === numbers) this.by = { column, down: !numbers };
    else this.by = null;
    this.fillHead();
    this.sort();
  }

  private sort(): void {
    this.sorted = this.rows;
    if (this.by) {
      const { value } = this.options.columns[this.by.column];
      const sign = this.by.down ? -1 : 1;
      const keys = new Map(this.rows.map((row) => [row, value(row)]));
      this.sorted = [...this.rows].sort((a, b) => sign * compare(keys.get(a), keys.get(b)));
    }
    const tall = this.options.tall;
    if (tall) {
      const most = Math.max(1, Math.min(tall, this.sorted.length));
      this.scroller.style.height = `${(most + 1) * kRowHeight + 4}px`;
    }
    this.space.style.height = `${Math.max(1, this.sorted.length) * kRowHeight}px`;
    this.fill();
  }

  private fill(): void {
    const height = this.scroller.clientHeight || 600;
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / kRowHeight) - 4);
    const last = Math.min(this.sorted.length, first + Math.ceil(height / kRowHeight) + 8);
    if (this.sorted.length === 0) {
      refill(this.space, h('div', { class: 'quiet none' }, this.options.empty ?? 'nothing'));
      return;
    }
    const shown: HTMLElement[] = [];
    for (let i = first; i < last; i++) shown.push(this.row(this.sorted[i], i));
    refill(this.space, ...shown);
  }

  private row(row: Row, i: number): HTMLElement {
    const { columns, choose, classOf } = this.options;
    const element = h(
      'div',
      {
        class: `one ${classOf?.(row) ?? ''}`,
        role: 'row',
        'aria-selected': String(i === this.at),
        onclick: choose ? () => this.take(i) : undefined,
      },
      ...columns.map((column) => {
        const value = column.value(row);
        const text = column.text ? column.text(row) : value === null ? '' : String(value);
        return h(
          'div',
          { role: 'gridcell', class: column.number ? 'number' : '', title: text },
          column.cell ? column.cell(row) : text,
        );
      }),
    );
    element.style.top = `${i * kRowHeight}px`;
    return element;
  }

  private take(i: number): void {
    this.at = i;
    this.options.choose?.(this.sorted[i]);
    this.fill();
  }

  private reveal(): void {
    const top = this.at * kRowHeight;
    const { scrollTop, clientHeight } = this.scroller;
    // The head covers one row.
    const room = clientHeight - kRowHeight - 2;
    if (top < scrollTop) this.scroller.scrollTop = top;
    else if (top + kRowHeight > scrollTop + room) {
      this.scroller.scrollTop = top + kRowHeight - room;
    }
  }

  private key(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / kRowHeight) - 1);
    const steps: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -this.sorted.length,
      End: this.sorted.length,
    };
    if (event.key === 'Enter' && this.at >= 0) {
      this.options.choose?.(this.sorted[this.at]);
    } else if (event.key in steps) {
      this.at = Math.max(0, Math.min(this.sorted.length - 1, this.at + steps[event.key]));
      this.reveal();
      this.fill();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

// A column without a least width of its own may get narrow, but not vanish.
function shrinking(width: string): string {
  return width.endsWith('fr') ? `minmax(5rem, ${width})` : width;
}

// Of all columns together, so that a table that is too narrow scrolls instead of cutting text.
export function leastWidth(widths: string[]): number {
  const least = widths.map((width) => parseFloat(/([\d.]+)rem/.exec(width)?.[1] ?? '5'));
  return least.reduce((sum, one) => sum + one, 0) + (widths.length - 1) * 0.75 + 1;
}

function compare(
  a: number | string | null | undefined,
  b: number | string | null | undefined,
): number {
  if (a === b) return 0;
  if (a === null || a === undefined) return -1;
  if (b === null || b === undefined) return 1;
  return a < b ? -1 : 1;
}
