// SPDX-License-Identifier: Apache-2.0
// The first screen: what stands out in sentences, then the numbers behind it.
import type { AppView, Panel } from '../app/app_view';
import { ledgerText } from '../app/header';
import { kPanels, panelTitle, type PanelId, type State } from '../app/selection';
import * as shape from '../codec/shape';
import type { Json } from '../codec/shape';
import { fitRange } from '../timeline/view';
import { h, refill, type Child } from '../ui/dom';
import { Table } from '../ui/table';
import { count, duration, percent, taskText } from '../ui/units';
import { criticalPath } from './critical_path';
import { kernelTable } from './kernel_table';
import { section } from './section';

export class OverviewPanel implements Panel {
  readonly id = 'overview';
  readonly root = h('section', { class: 'panel overview', 'aria-label': 'Overview' });
  private asked = 0;

  constructor(private readonly app: AppView) {}

  update(changed: Set<string>): void {
    if (
      changed.has('data') ||
      changed.has('panel') ||
      changed.has('theme') ||
      this.root.childElementCount === 0
    )
      void this.load();
  }

  private async load(): Promise<void> {
    const asked = ++this.asked;
    const { run } = this.app;
    const document = run.index.documents.has('overview')
      ? await run.documents.get('doc/overview')
      : null;
    if (asked !== this.asked) return;
    const overview = shape.record(document);
    const problem = run.documents.errors.get('doc/overview');
    refill(
      this.root,
      problem ? h('p', { class: 'bad', role: 'alert' }, problem) : null,
      this.findings(overview),
      h(
        'div',
        { class: 'columns' },
        column(kernelTable(this.app, overview), this.slowest(overview)),
        column(
          criticalPath(this.app, overview),
          this.cores(overview),
          this.ledger(),
          this.losses(overview),
          notMade(overview),
        ),
      ),
    );
  }

  private findings(overview: Json): HTMLElement {
    const findings = shape.records(overview.findings).slice(0, 7);
    const error = shape.record(this.app.run.index.run.error);
    const lines: Child[] = findings.map((finding) => {
      const severity = shape.text(finding.severity, 'note');
      const text = shape.text(finding.text);
      const way = shape.record(finding.link);
      const go = this.wayOf(way);
      return h(
        'li',
        { class: severity },
        h('span', { class: 'sign', 'aria-label': severity }),
        go
          ? h(
              'button',
              { class: 'link', type: 'button', onclick: go },
              h('span', {}, ...withNames(text)),
              h('span', { class: 'way' }, `→ ${panelTitle(way.panel as PanelId)}`),
            )
          : h('span', {}, ...withNames(text)),
      );
    });
    if (lines.length === 0) {
      const message = shape.text(error.message);
      lines.push(
        h(
          'li',
          { class: message ? 'bad' : 'note' },
          h('span', { class: 'sign' }),
          message || 'Nothing stands out.',
        ),
      );
    }
    return h('ul', { class: 'findings', 'aria-label': 'Findings' }, ...lines);
  }

  // Where a finding leads.
  private wayOf(way: Json): (() => void) | null {
    const panel = shape.text(way.panel) as PanelId;
    if (!kPanels.includes(panel)) return null;
    // A finding about the whole run has no place of its own.
    if (panel === 'timeline' && typeof way.task !== 'string' && shape.maybe(way.time) === null) {
      return null;
    }
    const { index } = this.app.run;
    if ((panel === 'scopes' || panel === 'graph') && !index.documents.has(panel)) return null;
    if (panel === 'tensors' && index.tensors === 0) return null;
    return () => {
      const change: Partial<State> = {};
      const time = shape.maybe(way.time);
      if (typeof way.site === 'string') change.site = way.site;
      if (typeof way.kernel === 'string') change.kernel = way.kernel;
      change.tensor = shape.maybe(way.row);
      change.track = shape.maybe(way.track);
      if (time !== null) {
        const bounds = { begin: 0, end: this.app.run.index.end };
        const end = shape.number(way.end, time + Math.max(1, bounds.end / 200));
        change.view = fitRange(time, end, bounds);
      }
      const task = shape.text(way.task);
      if (/^0x[0-9a-f]{16}$/.test(task)) this.app.selectTask(task, change);
      this.app.go(panel, change);
    };
  }

  private cores(overview: Json): HTMLElement | null {
    const types = shape.records(overview.core_types);
    if (types.length === 0) return null;
    const starvation = shape.records(overview.starvation);
    return section(
      'Cores',
      h(
        'table',
        { class: 'plain' },
        h(
          'tbody',
          {},
          ...types.map((one) => {
            const share = shape.number(one.share);
            const idle = starvation.find((row) => row.type === one.type);
            const idleNs = idle ? shape.number(idle.total_ns) : 0;
            return h(
              'tr',
              {},
              h('th', {}, shape.text(one.type)),
              h(
                'td',
                {},
                `${count(shape.number(one.cores))} ${one.cores === 1 ? 'core' : 'cores'}`,
              ),
              h('td', {}, bar(share > 1 ? share / 100 : share)),
              h('td', { class: 'number' }, `${percent(share > 1 ? share / 100 : share)} busy`),
              h(
                'td',
                { class: 'quiet' },
                idleNs > 0 ? `${duration(idleNs)} idle while work was ready` : '',
              ),
            );
          }),
        ),
      ),
    );
  }

  private slowest(overview: Json): HTMLElement | null {
    const rows = shape.records(overview.slowest);
    if (rows.length === 0) return null;
    const run = this.app.run;
    const length = (row: Json): number => shape.number(row.end) - shape.number(row.start);
    const table = new Table<Json>({
      label: 'Slowest tasks',
      tall: 8,
      rows,
      choose: (row) => this.openTask(row),
      columns: [
        {
          title: 'Task',
          width: '7rem',
          value: (row) => shape.text(row.text, shape.text(row.task)),
          text: (row) => shape.text(row.text) || taskText(shape.text(row.task)),
        },
        { title: 'Kernel', width: '1fr', value: (row) => shape.text(row.kernel) },
        { title: 'Core', width: '4rem', number: true, value: (row) => shape.maybe(row.core) },
        { title: 'Block', width: '4rem', number: true, value: (row) => shape.maybe(row.block) },
        {
          title: 'Time',
          width: '6rem',
          number: true,
          value: length,
          text: (row) => duration(run.ns(length(row))),
        },
      ],
    });
    return section('Slowest', table.root);
  }

  private openTask(row: Json): void {
    const begin = shape.number(row.start);
    const end = shape.number(row.end);
    const track = shape.maybe(row.track);
    const bounds = { begin: 0, end: this.app.run.index.end };
    this.app.selectTask(shape.text(row.task), { track, begin, end });
    this.app.go('timeline', {
      view: fitRange(begin - 3 * (end - begin), end + 3 * (end - begin), bounds),
    });
  }

  private ledger(): HTMLElement {
    const missing = this.app.run.index.missing;
    const { text, bad } = ledgerText(this.app.run);
    const streams = shape.record(this.app.run.index.run.streams);
    const rows = Object.entries(streams)
      .slice(0, 40)
      .map(([name, stream]) => numbersOf(name, shape.record(stream)));
    return section(
      'Ledger',
      h('p', { class: bad ? 'bad' : 'quiet' }, `${text[0].toUpperCase()}${text.slice(1)}.`),
      h(
        'table',
        { class: 'plain numbers' },
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            ...['stream', 'produced', 'delivered', 'recovered', 'dropped', 'overwritten'].map(
              (head) => h('th', {}, head),
            ),
          ),
        ),
        h('tbody', {}, ...rows, rows.length !== 1 ? numbersOf('all', missing) : null),
      ),
    );
  }

  private losses(overview: Json): HTMLElement | null {
    const rows = shape.records(overview.losses);
    if (rows.length === 0) return null;
    const run = this.app.run;
    const left = shape.number(overview.losses_left_out);
    const table = new Table<Json>({
      label: 'Losses',
      rows,
      tall: 8,
      choose: (row) => {
        const from = shape.number(row.from);
        this.app.go('timeline', {
          track: shape.maybe(row.track),
          begin: from,
          end: shape.number(row.to),
          task: null,
          view: fitRange(from, shape.number(row.to), { begin: 0, end: run.index.end }),
        });
      },
      columns: [
        { title: 'Stream', width: '6rem', value: (row) => shape.text(row.stream) },
        { title: 'Producer', width: '1fr', value: (row) => shape.text(row.producer) },
        {
          title: 'Lost',
          width: '5rem',
          number: true,
          value: (row) => shape.number(row.lost),
          text: (row) => count(shape.number(row.lost)),
        },
        { title: 'Reason', width: '8rem', value: (row) => shape.text(row.reason) },
        {
          title: 'At',
          width: '7rem',
          number: true,
          value: (row) => shape.number(row.from),
          text: (row) => duration(run.ns(shape.number(row.from) - run.index.launch)),
        },
      ],
    });
    return section(
      'Losses',
      table.root,
      left > 0 ? h('p', { class: 'quiet' }, `${count(left)} more are not listed.`) : null,
    );
  }
}

// Names that a sentence has between back quotes stand out, and no flag is broken at its hyphens.
export function withNames(text: string): Child[] {
  return text.split(/(`[^`]*`|--[a-z][a-z-]*)/).map((part, i) => {
    if (i % 2 === 0) return part;
    const name = part.startsWith('`');
    return h('span', { class: name ? 'name' : 'flag' }, name ? part.slice(1, -1) : part);
  });
}

// A column that has nothing takes no place.
function column(...parts: (HTMLElement | null)[]): HTMLElement | null {
  return parts.some((part) => part) ? h('div', {}, ...parts) : null;
}

function notMade(overview: Json): HTMLElement | null {
  const rows = shape.records(overview.not_made);
  return rows.length === 0
    ? null
    : section(
        'Not recorded',
        ...rows.map((row) =>
          h('p', { class: 'quiet' }, `${shape.text(row.document)}: ${shape.text(row.why)}`),
        ),
      );
}

function numbersOf(name: string, json: Json): HTMLElement {
  return h(
    'tr',
    {},
    h('th', {}, name),
    ...['produced', 'delivered', 'recovered', 'dropped', 'overwritten'].map((key) => {
      const value = shape.number(json[key]);
      const lost = value > 0 && (key === 'dropped' || key === 'overwritten');
      return h('td', { class: lost ? 'number bad' : 'number' }, count(value));
    }),
  );
}

export function bar(share: number): HTMLElement {
  const inner = h('span', {});
  inner.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return h('span', { class: 'bar' }, inner);
}
