// SPDX-License-Identifier: Apache-2.0
// What the keys do.
import { h } from '../ui/dom';

const kKeys: [string, [string, string][]][] = [
  [
    'Everywhere',
    [
      ['1 … 7', 'the panels'],
      ['/', 'search: task, kernel, site, track'],
      ['Esc', 'clear the selection'],
      ['T', 'times after launch, or ticks of the device'],
      ['?', 'this sheet'],
      ['Tab, Enter', 'walk and follow links; arrows walk the rows of a table'],
    ],
  ],
  [
    'Timeline',
    [
      ['W S', 'zoom in, out'],
      ['A D, ← →', 'move in time'],
      ['↑ ↓', 'scroll the tracks'],
      ['. ,', 'the next span of the track, the one before'],
      ['F', 'fit the selection'],
      ['0', 'the whole run'],
      ['wheel', 'zoom at the pointer; with Shift: move; over the names: scroll'],
      ['drag', 'move; with Shift: measure'],
      ['double click', 'the whole run'],
    ],
  ],
  [
    'What it shows',
    [
      ['hatched red', 'records that were dropped or overwritten'],
      ['hatched amber', 'a producer waited for the recorder'],
      ['red notch', 'a task that made a NaN or an infinity'],
      ['red line above', 'a task that had one in its arguments'],
      ['paler counter', 'no record after that: its last value'],
      ['line below', 'the critical path'],
      ['thick arrow', 'what the task waited for last'],
    ],
  ],
];

export function helpSheet(close: () => void): HTMLElement {
  const sheet = h(
    'div',
    { class: 'help', role: 'dialog', 'aria-label': 'Keys', hidden: true },
    ...kKeys.map(([title, keys]) =>
      h(
        'div',
        {},
        h('h2', {}, title),
        h('dl', {}, ...keys.flatMap(([key, what]) => [h('dt', {}, key), h('dd', {}, what)])),
      ),
    ),
    h('button', { type: 'button', onclick: close }, 'Close'),
  );
  return sheet;
}
