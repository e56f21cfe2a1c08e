// SPDX-License-Identifier: Apache-2.0
// A run that recorded nothing: what is known of it, and what would record more.
import type { NothingToShow } from '../codec/index_file';
import * as shape from '../codec/shape';
import { h, refill } from '../ui/dom';
import { count, duration } from '../ui/units';

export function showNothing(page: HTMLElement, nothing: NothingToShow): void {
  const { run, title } = nothing;
  const status = shape.text(run.status);
  const tasks = shape.record(run.tasks);
  const error = shape.record(run.error);
  const device = shape.number(run.device_ns);
  const facts: [string, string][] = [
    ['status', status],
    ['what happened', shape.text(error.message)],
    ['what to do', shape.text(error.hint)],
    [
      'tasks',
      shape.maybe(tasks.submitted) === null
        ? ''
        : `${count(shape.number(tasks.completed))} of ${count(shape.number(tasks.submitted))} complete`,
    ],
    ['result', shape.text(shape.record(run.result).text)],
    ['time', device > 0 ? duration(device) : ''],
  ];
  document.title = `${title || 'A run'} · Tidemark`;
  refill(
    page,
    h(
      'div',
      { class: 'opening nothing-there' },
      title ? h('h1', {}, title) : null,
      h('p', { role: 'alert' }, `This run cannot be shown: ${nothing.message}.`),
      h(
        'dl',
        { class: 'facts' },
        ...facts
          .filter(([, value]) => value !== '')
          .flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]),
      ),
      h('p', {}, 'A run records what its flags name. With these the page has all its panels:'),
      h(
        'pre',
        { class: 'wrap' },
        `tidemark run ${shape.text(run.workload, 'WORKLOAD')} --enable-l2-swimlane ` +
          '--enable-dep-gen --enable-scope-stats --dump-tensor',
      ),
    ),
  );
}
