// SPDX-License-Identifier: Apache-2.0
// The runs that a server has: one to open, or two to compare.
import { reasonOf } from '../codec/blob_error';
import * as shape from '../codec/shape';
import type { Json } from '../codec/shape';
import { safePrefix } from '../codec/index_file';
import { fetchBytes } from '../source/site_source';
import { h, refill } from '../ui/dom';
import { bytes, count } from '../ui/units';

export async function runList(page: HTMLElement, name: string): Promise<void> {
  let json: Json;
  try {
    const body = await fetchBytes(name, 'no-cache');
    if (!body) throw new Error(`${name}: is not there`);
    json = shape.parseJson(name, body);
  } catch (error) {
    refill(page, h('div', { class: 'opening bad', role: 'alert' }, reasonOf(error)));
    return;
  }
  const runs = shape.records(json.runs);
  const left = shape.number(json.left_out);
  const marked = new Set<string>();
  const compare = h('button', { type: 'button', disabled: true }, 'Compare two');
  compare.addEventListener('click', () => {
    const [first, second] = [...marked];
    location.search = `?run=${encodeURIComponent(first)}&other=${encodeURIComponent(second)}`;
  });
  const mark = (path: string, on: boolean): void => {
    if (on) marked.add(path);
    else marked.delete(path);
    compare.disabled = marked.size !== 2;
  };
  document.title = 'Tidemark runs';
  refill(
    page,
    h(
      'div',
      { class: 'runs' },
      h('h1', {}, 'Runs'),
      h(
        'p',
        { class: 'quiet' },
        runs.length === 0
          ? 'There is no run here yet.'
          : `${count(runs.length)} ${runs.length === 1 ? 'run' : 'runs'}, newest first` +
              (left > 0 ? `; ${count(left)} older ones are not listed` : ''),
      ),
      runs.length === 0
        ? null
        : h(
            'table',
            {},
            h(
              'thead',
              {},
              h(
                'tr',
                {},
                ...['', 'Run', 'What', 'Status', 'Size', 'Recorded'].map((head) =>
                  h('th', { class: head === 'Size' ? 'number' : '' }, head),
                ),
              ),
            ),
            h('tbody', {}, ...runs.map((run) => runRow(run, mark))),
          ),
      runs.length > 1
        ? h(
            'p',
            {},
            compare,
            h('span', { class: 'quiet' }, ' Tick the two that should be compared.'),
          )
        : null,
    ),
  );
}

function runRow(run: Json, mark: (path: string, on: boolean) => void): HTMLElement {
  const path = safePrefix(shape.text(run.path));
  const status = shape.flag(run.live) ? 'running' : shape.text(run.status, '?');
  const box = h('input', { type: 'checkbox', 'aria-label': `compare ${shape.text(run.name)}` });
  box.addEventListener('change', () => mark(path, box.checked));
  return h(
    'tr',
    {},
    h('td', {}, box),
    h('td', {}, h('a', { href: `?run=${encodeURIComponent(path)}` }, shape.text(run.name, path))),
    h('td', {}, shape.text(run.title)),
    h(
      'td',
      { class: `status ${status === 'ok' || status === 'running' ? 'good' : 'bad'}` },
      status,
    ),
    h('td', { class: 'number' }, bytes(shape.number(run.bytes))),
    h('td', {}, shape.text(run.time).replace('T', ' ').replace(/Z$/, ' UTC')),
  );
}
