// SPDX-License-Identifier: Apache-2.0
// Time per kernel.
import type { AppView } from '../app/app_view';
import * as shape from '../codec/shape';
import type { Json } from '../codec/shape';
import { h } from '../ui/dom';
import { Table } from '../ui/table';
import { count, duration } from '../ui/units';
import { section } from './section';

export function swatch(color: string): HTMLElement {
  const spot = h('span', { class: 'swatch', 'aria-hidden': 'true' });
  spot.style.background = color;
  return spot;
}

export function kernelTable(app: AppView, overview: Json): HTMLElement | null {
  const rows = shape.records(overview.kernels);
  if (rows.length === 0) return null;
  const time = (title: string, key: string, hint: string): Parameters<typeof one>[0] => ({
    title,
    key,
    hint,
  });
  const one = (of: { title: string; key: string; hint: string }) => ({
    title: of.title,
    hint: of.hint,
    width: '4.4rem',
    number: true,
    value: (row: Json) => shape.maybe(row[of.key]),
    text: (row: Json) => duration(shape.number(row[of.key])),
  });
  const table = new Table<Json>({
    label: 'Kernels',
    tall: 12,
    rows,
    choose: (row) => app.go('timeline', { kernel: shape.text(row.name) }),
    columns: [
      {
        title: 'Kernel',
        width: 'minmax(6rem, 1fr)',
        value: (row) => shape.text(row.name),
        cell: (row) => {
          const name = shape.text(row.name);
          return h('span', {}, swatch(app.colors.ofText(name)), name);
        },
      },
      {
        title: 'Blocks',
        width: '4rem',
        number: true,
        value: (row) => shape.number(row.count),
        text: (row) => count(shape.number(row.count)),
      },
      one(time('Total', 'total_ns', 'from start to end, all blocks added up')),
      one(time('Mean', 'mean_ns', 'of one block')),
      one(time('Least', 'least_ns', 'the fastest block')),
      one(time('Most', 'most_ns', 'the slowest block')),
    ],
  });
  return section('Kernels', table.root);
}
