// SPDX-License-Identifier: Apache-2.0
// The autopsy of a run that hung: the sentence, the stuck task, who waits for it, and what every
// unit was doing.
import type { AppView, Panel } from '../app/app_view';
import * as shape from '../codec/shape';
import type { Json } from '../codec/shape';
import { fitRange } from '../timeline/view';
import { ticksOf } from '../timeline/axis';
import { h, link, refill, type Child } from '../ui/dom';
import { Table } from '../ui/table';
import { bytes, count, duration, parseTask } from '../ui/units';
import { bar, withNames } from './overview_panel';
import { section } from './section';

export class HangPanel implements Panel {
  readonly id = 'hang';
  readonly root = h('section', { class: 'panel hang', 'aria-label': 'Hang' });
  private asked = 0;

  constructor(private readonly app: AppView) {}

  update(changed: Set<string>): void {
    if (changed.has('data') || this.root.childElementCount === 0) void this.load();
  }

  private async load(): Promise<void> {
    const asked = ++this.asked;
    const { run } = this.app;
    const hang = run.index.documents.has('hang') ? await run.documents.get('doc/hang') : null;
    if (asked !== this.asked) return;
    if (!hang) {
      const problem = run.documents.errors.get('doc/hang');
      refill(
        this.root,
        h('p', { class: problem ? 'nothing bad' : 'nothing' }, problem ?? 'This run did not hang.'),
      );
      return;
    }
    refill(
      this.root,
      h('p', { class: 'sentence' }, ...withNames(sentenceOf(hang))),
      this.advice(),
      h(
        'p',
        { class: 'quiet' },
        `${count(shape.number(hang.completed))} of ` +
          `${count(shape.number(hang.submitted))} tasks were complete. Noticed ` +
          `${duration(shape.number(hang.detected_ns))} after launch. ` +
          `(${shape.text(hang.code)} ${shape.text(hang.name)}: ${shape.text(hang.class)})`,
      ),
      this.stuck(hang),
      this.chain(hang),
      h(
        'div',
        { class: 'columns' },
        h('div', {}, this.units(hang)),
        h('div', {}, this.records(hang), this.rings(hang)),
      ),
      typeof hang.text === 'string' ? section('As text', h('pre', {}, hang.text)) : null,
    );
  }

  // What to change, and where it was full.
  private advice(): HTMLElement | null {
    const error = shape.record(this.app.run.index.run.error);
    const hint = asSentence(
      shape.text(error.hint).replace(/^'tidemark hang' shows the autopsy; /, ''),
    );
    const site = shape.text(error.scope);
    const scopes = site !== '' && this.app.run.index.documents.has('scopes');
    if (!hint && !scopes) return null;
    return h(
      'p',
      {},
      hint ? `${hint} ` : null,
      scopes ? link('The scope that was full', () => this.app.go('scopes', { site })) : null,
    );
  }

  private task(text: string, label = text): Child {
    const word = text.split(' ')[0];
    const task = parseTask(word);
    return task ? link(label, () => this.openTask(task)) : label;
  }

  private openTask(task: string): void {
    this.app.selectTask(task);
  }

  private stuck(hang: Json): HTMLElement | null {
    const stuck = shape.records(hang.stuck);
    if (stuck.length === 0) return null;
    // Only in a kernel it is known since when; the others have nothing of their own to say.
    const known = stuck.filter((one) => shape.number(one.for_ns) > 0);
    if (known.length === 0) return this.notComplete(stuck);
    return section(
      known.length === 1 ? 'Stuck' : `Stuck: ${count(known.length)}`,
      ...known.slice(0, 20).map((one) => {
        const waits = shape.texts(one.waits_for);
        const waiters = shape.texts(one.waiters);
        const task = shape.text(one.task);
        return h(
          'div',
          { class: 'stuck' },
          h('div', { class: 'large' }, this.task(task, `${task} ${shape.text(one.kernel)}`)),
          h(
            'dl',
            { class: 'facts' },
            ...fact('on', shape.maybe(one.core) !== null ? `core ${shape.number(one.core)}` : ''),
            ...fact('submitted at', shape.text(one.site)),
            ...fact('since', sinceOf(one)),
            ...fact('waits for', waits.join('; ')),
            h('dt', {}, 'who waits'),
            h(
              'dd',
              {},
              ...waiters.slice(0, 40).flatMap((waiter) => [this.task(waiter), ' ']),
              waiters.length === 0
                ? 'nobody'
                : waiters.length > 40
                  ? `and ${count(waiters.length - 40)} more`
                  : '',
            ),
          ),
          h('p', {}, ...this.waysOf(one)),
        );
      }),
    );
  }

  // Only those that lead to something.
  private waysOf(one: Json): Child[] {
    const { index } = this.app.run;
    const go = (panel: 'tensors' | 'graph') => (): void => {
      this.openTask(shape.text(one.task_id, parseTask(shape.text(one.task)) ?? ''));
      this.app.go(panel);
    };
    const ways: [boolean, string, () => void][] = [
      [shape.number(one.for_ns) > 0, 'Its place in the timeline', () => this.showStuck(one)],
      [index.tensors > 0, 'Its arguments', go('tensors')],
      [index.documents.has('graph'), 'Why it was where it was', go('graph')],
    ];
    return ways
      .filter(([leads]) => leads)
      .flatMap(([, text, way], i) => (i > 0 ? [' · ', link(text, way)] : [link(text, way)]));
  }

  private notComplete(stuck: Json[]): HTMLElement {
    const waits = [...new Set(stuck.flatMap((one) => shape.texts(one.waits_for)))];
    return section(
      `Not complete: ${count(stuck.length)} ${stuck.length === 1 ? 'task' : 'tasks'}`,
      h(
        'p',
        {},
        ...stuck.slice(0, 40).flatMap((one): Child[] => {
          const task = shape.text(one.task);
          return [this.task(task, `${task} ${shape.text(one.kernel)}`), '  '];
        }),
        stuck.length > 40 ? `and ${count(stuck.length - 40)} more` : '',
      ),
      waits.length > 0 ? h('p', { class: 'quiet' }, `Waits for ${waits.join('; ')}.`) : null,
    );
  }

  private showStuck(one: Json): void {
    const index = this.app.run.index;
    const begin = index.launch + ticksOf(index, shape.number(one.since_ns));
    const track =
      index.tracks.find((t) => t.kind === 'core' && t.unit === `core ${shape.text(one.core)}`)
        ?.id ?? null;
    const task = parseTask(shape.text(one.task)) ?? shape.text(one.task_id);
    this.app.selectTask(task, { track, begin, end: Math.max(begin, index.end) });
    this.app.go('timeline', {
      view: fitRange(begin - (index.end - begin) * 0.1, index.end, { begin: 0, end: index.end }),
    });
  }

  private chain(hang: Json): HTMLElement | null {
    const chain = shape.texts(hang.chain);
    if (chain.length === 0) return null;
    return section(
      'Who waits for whom',
      h(
        'ol',
        { class: 'chain' },
        ...chain.slice(0, 60).map((one) => h('li', {}, this.task(one, one))),
        chain.length > 60 ? h('li', { class: 'quiet' }, `${count(chain.length - 60)} more`) : null,
      ),
    );
  }

  private units(hang: Json): HTMLElement {
    const units: Json[] = [
      ...(shape.isRecord(hang.orchestrator)
        ? [{ unit: 'orchestrator', ...hang.orchestrator }]
        : []),
      ...shape
        .records(hang.schedulers)
        .map((one) => ({ ...one, unit: `scheduler ${shape.text(one.scheduler)}` })),
      ...shape.records(hang.cores).map((one) => ({
        ...one,
        unit: `core ${shape.text(one.core)} (${shape.text(one.core_type, '?')})`,
      })),
    ];
    // Where none has left, the process is gone, and that says nothing of one of them.
    const some = units.some((unit) => unit.left !== false);
    const table = new Table<Json>({
      label: 'Units',
      rows: units,
      tall: 16,
      classOf: (row) => (row.left === false && (some || shape.text(row.task)) ? 'bad' : ''),
      choose: (row) => {
        const task = parseTask(shape.text(row.task));
        if (task) this.openTask(task);
      },
      columns: [
        { title: 'Unit', width: '6.6rem', value: (row) => shape.text(row.unit) },
        { title: 'State', width: '4rem', value: (row) => shape.text(row.state) },
        {
          title: 'For',
          width: '4.2rem',
          number: true,
          value: (row) => shape.number(row.for_ns),
          text: (row) => duration(shape.number(row.for_ns)),
        },
        { title: 'What', width: 'minmax(14rem, 2fr)', value: whatOf },
        {
          title: 'Left',
          width: '2.4rem',
          value: (row) => (row.left === false ? 'no' : 'yes'),
          hint: 'it left when it was asked to: where nothing did, the process had ended',
        },
      ],
    });
    return section('Units', table.root);
  }

  private records(hang: Json): HTMLElement | null {
    const rows = shape
      .records(hang.cores)
      .flatMap((core) =>
        shape.records(core.last_records).map((one) => ({ ...one, core: core.core }) as Json),
      );
    if (rows.length === 0) return null;
    const table = new Table<Json>({
      label: 'Last records',
      rows,
      tall: 9,
      choose: (row) => {
        const task = parseTask(shape.text(row.task));
        if (task) this.openTask(task);
      },
      columns: [
        { title: 'Core', width: '4rem', number: true, value: (row) => shape.maybe(row.core) },
        { title: 'Task', width: '6rem', value: (row) => shape.text(row.task) },
        { title: 'Kernel', width: '1fr', value: (row) => shape.text(row.kernel) },
        {
          title: 'Start',
          width: '6rem',
          number: true,
          value: (row) => shape.number(row.start_ns),
          text: (row) => duration(shape.number(row.start_ns), 4),
        },
        {
          title: 'Time',
          width: '5.5rem',
          number: true,
          value: (row) => shape.number(row.end_ns) - shape.number(row.start_ns),
          text: (row) => duration(shape.number(row.end_ns) - shape.number(row.start_ns)),
        },
      ],
    });
    return section('Last records of the cores', table.root);
  }

  private rings(hang: Json): HTMLElement | null {
    const rings = shape.records(hang.rings);
    if (rings.length === 0) return null;
    const cell = (used: number, of: number, text: (n: number) => string): HTMLElement =>
      h('td', {}, bar(of > 0 ? used / of : 0), ` ${text(used)} of ${text(of)}`);
    return section(
      'Rings at that moment',
      h(
        'table',
        { class: 'plain' },
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            ...['ring', 'tasks', 'heap', 'dependencies'].map((head) => h('th', {}, head)),
          ),
        ),
        h(
          'tbody',
          {},
          ...rings.map((ring) =>
            h(
              'tr',
              {},
              h('th', {}, shape.text(ring.ring)),
              cell(shape.number(ring.tasks), shape.number(ring.task_window), count),
              cell(shape.number(ring.heap), shape.number(ring.heap_bytes), bytes),
              cell(shape.number(ring.dep_pool_used), shape.number(ring.dep_pool), count),
            ),
          ),
        ),
      ),
    );
  }
}

function sentenceOf(hang: Json): string {
  return (
    asSentence(shape.text(hang.sentence) || shape.text(hang.message)) || 'The run was stopped.'
  );
}

function asSentence(text: string): string {
  return text ? `${text[0].toUpperCase()}${text.slice(1).replace(/\.$/, '')}.` : '';
}

// Empty: it was never begun.
function sinceOf(one: Json): string {
  const time = shape.number(one.for_ns);
  if (time === 0) return '';
  return `${duration(shape.number(one.since_ns))} after launch, for ${duration(time)}`;
}

function fact(name: string, value: string): HTMLElement[] {
  return value ? [h('dt', {}, name), h('dd', {}, value)] : [];
}

function whatOf(row: Json): string {
  const task = [shape.text(row.task), shape.text(row.kernel)].filter((w) => w).join(' ');
  if (task) return task;
  if (typeof row.scheduler === 'number') {
    return (
      `${count(shape.number(row.ready))} ready, ${count(shape.number(row.running))} running, ` +
      `${count(shape.number(row.waiting))} waiting`
    );
  }
  const last = shape.text(row.last_submitted);
  return last ? `submitted ${last} (${shape.text(row.last_site)})` : '';
}
