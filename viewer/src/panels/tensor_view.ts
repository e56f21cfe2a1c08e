// SPDX-License-Identifier: Apache-2.0
// One dumped argument: statistics, its place in its buffer, and the values of a slice as a heat
// map, a histogram and numbers; where the other stage was dumped, too, both side by side.
import type { TensorRow } from '../tiles/tensor_store';
import { h, svg, type Child } from '../ui/dom';
import { Table } from '../ui/table';
import { bytes, count, short } from '../ui/units';
import { elementBytes, histogram, rangeOf, shade, type Range, type Slice } from './elements';
import { section } from './section';

const kMapSide = 300;
const kBins = 48;
const kMostColumns = 10;

export function stageText(stage: string): string {
  return (
    (
      { before_dispatch: 'before', after_completion: 'after', at_hang: 'at hang' } as Record<
        string,
        string
      >
    )[stage] ?? stage
  );
}

// Of what is finite; null where nothing is.
export function finiteOf(row: TensorRow, key: 'min' | 'max' | 'mean' | 'l2'): number | null {
  const { stats } = row;
  if (!stats) return null;
  const elements = row.shape.reduce((all, size) => all * size, 1);
  return stats.nan + stats.inf >= elements ? null : stats[key];
}

export function statistics(row: TensorRow): HTMLElement {
  const { stats } = row;
  const wide = new Set(['type', 'hash', 'beware', 'value']);
  const elements = row.shape.reduce((all, size) => all * size, 1);
  const finite = (key: 'min' | 'max' | 'mean' | 'l2'): string => {
    const value = finiteOf(row, key);
    return value === null ? 'none' : short(value);
  };
  const facts: [string, string, boolean?][] = [
    ['stage', stageText(row.stage)],
    ['role', row.role],
    ['type', row.kind === 'scalar' ? row.dtype : `${row.dtype} [${row.shape.join(' × ')}]`],
  ];
  if (row.kind !== 'scalar') {
    facts.push(
      ['size', bytes(elements * elementBytes(row.dtype) || row.bytes)],
      ['elements', count(elements)],
    );
  }
  for (const remark of row.remarks) facts.push(['beware', remark, true]);
  if (row.kind === 'scalar') facts.push(['value', row.value]);
  if (stats) {
    facts.push(
      ['least', finite('min')],
      ['most', finite('max')],
      ['mean', finite('mean')],
      ['L2 norm', finite('l2')],
      ['zeros', count(stats.zero)],
      ['NaN', count(stats.nan), stats.nan > 0],
      ['infinite', count(stats.inf), stats.inf > 0],
      ['hash', stats.hash],
    );
  }
  return h(
    'dl',
    { class: 'facts two' },
    ...facts
      .filter(([, value]) => value !== '')
      .flatMap(([name, value, bad]) => [
        h('dt', { class: wide.has(name) ? 'first' : '' }, name),
        h('dd', { class: `${bad ? 'bad' : ''}${wide.has(name) ? ' across' : ''}` }, value),
      ]),
  );
}

export function heatMap(slice: Slice, range: Range, label: string): HTMLElement {
  const canvas = h('canvas', { class: 'heat', role: 'img', 'aria-label': `heat map, ${label}` });
  const columns = Math.min(slice.columns, kMapSide);
  const rows = Math.min(slice.rows, kMapSide);
  canvas.width = columns;
  canvas.height = rows;
  const size = Math.max(1, Math.floor(Math.min(kMapSide / columns, kMapSide / rows, 24)));
  canvas.style.width = `${Math.max(columns * size, 40)}px`;
  canvas.style.height = `${Math.max(rows * size, 12)}px`;
  const context = canvas.getContext('2d');
  const image = context?.createImageData(columns, rows);
  if (!context || !image) return canvas;
  for (let y = 0; y < rows; y++) {
    for (let x = 0; x < columns; x++) {
      const color = cellColor(slice, range, x, y, columns, rows);
      image.data.set([...color, 255], (y * columns + x) * 4);
    }
  }
  context.putImageData(image, 0, 0);
  canvas.addEventListener('pointermove', (event) => {
    const x = Math.floor((event.offsetX / canvas.clientWidth) * slice.columns);
    const y = Math.floor((event.offsetY / canvas.clientHeight) * slice.rows);
    const value = slice.values[y * slice.columns + x];
    canvas.title = value === undefined ? '' : `[${y}, ${x}] ${short(value)}`;
  });
  return canvas;
}

// The mean of the values below one cell; what is not finite shows at any size.
function cellColor(
  slice: Slice,
  range: Range,
  x: number,
  y: number,
  columns: number,
  rows: number,
): [number, number, number] {
  const x0 = Math.floor((x * slice.columns) / columns);
  const x1 = Math.max(x0 + 1, Math.floor(((x + 1) * slice.columns) / columns));
  const y0 = Math.floor((y * slice.rows) / rows);
  const y1 = Math.max(y0 + 1, Math.floor(((y + 1) * slice.rows) / rows));
  let sum = 0;
  let seen = 0;
  for (let i = y0; i < y1; i++) {
    for (let j = x0; j < x1; j++) {
      const value = slice.values[i * slice.columns + j];
      if (value === undefined) continue;
      if (Number.isNaN(value)) return [230, 40, 60];
      if (!Number.isFinite(value)) return [255, 120, 0];
      sum += value;
      seen++;
    }
  }
  if (seen === 0) return [128, 128, 128];
  const width = range.most - range.least;
  return shade(width > 0 ? (sum / seen - range.least) / width : 0.5);
}

export function histogramOf(slice: Slice, range: Range): Element {
  const counts = histogram(slice.values, range, kBins);
  const most = Math.max(1, ...counts);
  const wide = kMapSide / kBins;
  return svg(
    'svg',
    { class: 'plot', width: kMapSide, height: 84, role: 'img', 'aria-label': 'histogram' },
    ...[...counts].map((one, i) => {
      const tall = one > 0 ? Math.max(1.5, (one / most) * 58) : 0;
      const bar = svg('rect', {
        class: 'bin',
        x: i * wide,
        width: wide - 1,
        y: 62 - tall,
        height: tall,
      });
      bar.append(svg('title', {}, `${count(one)} values`));
      return bar;
    }),
    svg('line', { class: 'tick', x1: 0, x2: kMapSide, y1: 62.5, y2: 62.5 }),
    svg('text', { class: 'label', x: 0, y: 77 }, range.finite ? short(range.least) : ''),
    svg(
      'text',
      { class: 'label', x: kMapSide, y: 77, 'text-anchor': 'end' },
      range.finite ? short(range.most) : '',
    ),
  );
}

export function valuesTable(slice: Slice): HTMLElement {
  const columns = Math.min(slice.columns, kMostColumns);
  const value = (row: number, column: number): number => slice.values[row * slice.columns + column];
  const bad = (row: number): boolean => {
    for (let j = 0; j < columns; j++) if (!Number.isFinite(value(row, j))) return true;
    return false;
  };
  const table = new Table<number>({
    label: 'Values',
    tall: 10,
    rows: Array.from({ length: Math.min(slice.rows, 200000) }, (_, i) => i),
    classOf: (row) => (bad(row) ? 'bad' : ''),
    columns: [
      { title: '', width: '4rem', number: true, value: (row) => row },
      ...Array.from({ length: columns }, (_, j) => ({
        title: String(j),
        width: '5.6rem',
        number: true,
        value: (row: number) => value(row, j),
        text: (row: number) => short(value(row, j)),
      })),
    ],
  });
  const cut =
    slice.columns > columns
      ? h('p', { class: 'quiet' }, `The first ${columns} of ${count(slice.columns)} columns.`)
      : null;
  return h('div', {}, table.root, cut);
}

export function sideBySide(
  parts: { row: TensorRow; slice: Slice | null; why: string }[],
): HTMLElement {
  const slices = parts.map((part) => part.slice).filter((slice): slice is Slice => slice !== null);
  if (slices.length === 0 && new Set(parts.map((part) => part.why)).size === 1) {
    const why = parts[0].why.replace(/\.$/, '');
    return h('p', { class: 'quiet' }, `${why.slice(0, 1).toUpperCase()}${why.slice(1)}.`);
  }
  const range = rangeOf(...slices.map((slice) => slice.values));
  const columns = parts.map(({ row, slice, why }): Child => {
    const label = stageText(row.stage);
    const own = slice ? rangeOf(slice.values) : null;
    const odd =
      own && own.nan + own.inf > 0
        ? h(
            'p',
            { class: 'bad' },
            `${count(own.nan)} NaN, ${count(own.inf)} infinite in this slice`,
          )
        : null;
    return h(
      'div',
      {},
      h('h3', {}, label),
      odd,
      ...(slice
        ? [heatMap(slice, range, label), histogramOf(slice, range), valuesTable(slice)]
        : [h('p', { class: 'quiet' }, why)]),
    );
  });
  return h('div', { class: 'stages' }, ...columns, differences(slices));
}

function differences(slices: Slice[]): HTMLElement | null {
  if (slices.length !== 2 || slices[0].values.length !== slices[1].values.length) return null;
  const [before, after] = slices.map((slice) => slice.values);
  let differ = 0;
  let most = 0;
  for (let i = 0; i < before.length; i++) {
    if (before[i] === after[i] || (Number.isNaN(before[i]) && Number.isNaN(after[i]))) continue;
    differ++;
    const by = Math.abs(after[i] - before[i]);
    if (by > most) most = by;
  }
  return h(
    'p',
    { class: 'wide' },
    differ === 0
      ? 'Both stages have the same values.'
      : `${count(differ)} of ${count(before.length)} values differ, by ${short(most)} at most.`,
  );
}

// A view of a buffer drawn inside it: as a block where rows of the buffer are known, else as a bar.
export function placeInBuffer(row: TensorRow): HTMLElement | null {
  const whole = row.bufferElements;
  if (row.buffer === null || !whole || whole <= 0 || row.kind === 'scalar') return null;
  const inner = row.shape[row.shape.length - 1] ?? 1;
  const outer = row.shape[row.shape.length - 2] ?? 1;
  const stride = row.strides[row.strides.length - 2] ?? inner;
  const last = row.shape.reduce(
    (sum, size, dim) => sum + (Math.max(1, size) - 1) * (row.strides[dim] ?? 0),
    row.startOffset,
  );
  const words =
    `elements ${count(row.startOffset)} to ${count(last)} of ${count(whole)} ` + `of ${row.buffer}`;
  const block = row.shape.length === 2 && outer > 1 && stride >= inner && whole % stride === 0;
  const [wide, tall] = block ? [stride, whole / stride] : [whole, 1];
  const x = row.startOffset % wide;
  const y = Math.floor(row.startOffset / wide);
  const width = block ? inner : Math.max(1, last - row.startOffset + 1);
  const w = kMapSide;
  const t = block ? Math.max(24, Math.min(160, (tall / wide) * kMapSide)) : 22;
  return section(
    'Place in its buffer',
    svg(
      'svg',
      { class: 'plot buffer', width: w, height: t, role: 'img', 'aria-label': words },
      svg('rect', { class: 'whole', x: 0.5, y: 0.5, width: w - 1, height: t - 1 }),
      svg('rect', {
        class: 'part',
        x: (x / wide) * w,
        y: (y / tall) * t,
        width: Math.max(2, Math.min(1, width / wide) * w),
        height: Math.max(2, ((block ? outer : tall) / tall) * t),
      }),
    ) as unknown as HTMLElement,
    h('p', { class: 'quiet' }, words),
  );
}
