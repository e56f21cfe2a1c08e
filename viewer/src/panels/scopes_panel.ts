// SPDX-License-Identifier: Apache-2.0
// What the scopes of a run held: occupancy over time under the line of its capacity, sites, peaks
// and the settings that would have been enough.
import type { AppView, Panel } from '../app/app_view';
import * as shape from '../codec/shape';
import type { Json } from '../codec/shape';
import { clampView, fitRange, pan, zoomAt } from '../timeline/view';
import { h, link, refill, type Child } from '../ui/dom';
import { Table } from '../ui/table';
import { bytes, count, duration, percent } from '../ui/units';
import { bar, withNames } from './overview_panel';
import { OccupancyChart, type Counter } from './occupancy_chart';
import { section } from './section';

export class ScopesPanel implements Panel {
  readonly id = 'scopes';
  readonly root = h('section', { class: 'panel scopes', 'aria-label': 'Scopes' });
  private charts: OccupancyChart[] = [];
  private sites: Table<Json> | null = null;
  private asked = 0;

  constructor(private readonly app: AppView) {}

  update(changed: Set<string>): void {
    if (changed.has('data') || changed.has('theme') || this.root.childElementCount === 0) {
      void this.load();
      return;
    }
    this.sites?.setSelected((row) => shape.text(row.site) === this.app.state.site);
    for (const chart of this.charts) chart.draw();
  }

  private async load(): Promise<void> {
    const asked = ++this.asked;
    const { run } = this.app;
    const scopes = run.index.documents.has('scopes') ? await run.documents.get('doc/scopes') : null;
    if (asked !== this.asked) return;
    if (!scopes) {
      const problem = run.documents.errors.get('doc/scopes');
      refill(
        this.root,
        h(
          'p',
          { class: problem ? 'nothing bad' : 'nothing' },
          problem ?? 'No scopes were recorded. tidemark run … --enable-scope-stats records them.',
        ),
      );
      return;
    }
    this.charts = this.countersOf(scopes).map((counter) => new OccupancyChart(this.app, counter));
    refill(
      this.root,
      culpritOf(scopes) ?? this.closest(scopes),
      section(
        'Occupancy over time',
        this.charts.length === 0 ? h('p', { class: 'quiet' }, 'No occupancy was recorded.') : null,
        h('div', { class: 'charts' }, ...this.charts.map((chart) => chart.root)),
      ),
      h(
        'div',
        { class: 'columns' },
        h('div', {}, this.peaks(scopes)),
        h('div', {}, this.siteTable(scopes)),
      ),
    );
    this.sites?.setSelected((row) => shape.text(row.site) === this.app.state.site);
    for (const chart of this.charts) chart.draw();
  }

  private closest(scopes: Json): HTMLElement | null {
    const rows = shape.records(scopes.resources);
    const most = rows.reduce<Json | null>(
      (best, row) => (shape.number(row.percent) > shape.number(best?.percent, -1) ? row : best),
      null,
    );
    if (!most || shape.number(most.peak) === 0) return null;
    const text = inBytes(shape.text(most.resource)) ? bytes : count;
    const full = shape.number(most.percent) >= 99.5;
    const site = shape.text(most.site);
    return h(
      'p',
      { class: 'sentence' },
      `Closest to its limit: the ${nameOfResource(most)}, ` +
        `${text(shape.number(most.peak))} of ${text(shape.number(most.capacity))} ` +
        `(${percent(shape.number(most.percent) / 100)})`,
      ...(site ? [', in the scope at ', link(site, () => this.app.set({ site }))] : []),
      ...withNames(full ? `. Raise ${shape.text(most.flag)} to let the program run ahead.` : '.'),
    );
  }

  // The fullest first; those that never held anything are left out.
  private countersOf(scopes: Json): Counter[] {
    const { run } = this.app;
    const given = shape
      .list(scopes.counters)
      .map((one): Json => (typeof one === 'number' ? { track: one } : shape.record(one)));
    const resources = shape.records(scopes.resources);
    // Resources are named with their ring, counters may be without it.
    const same = (resource: Json, one: Json): boolean =>
      shape.text(resource.resource).startsWith(shape.text(one.resource, '?')) &&
      (resource.ring ?? null) === (one.ring ?? null);
    return given
      .map((one): Counter | null => {
        const track = run.track(shape.maybe(one.track));
        if (!track || track.values !== 'samples' || track.count === 0) return null;
        const of = resources.find((resource) => same(resource, one));
        return {
          track,
          title: track.name,
          capacity: shape.maybe(one.capacity) ?? shape.maybe(of?.capacity),
          peak: shape.maybe(of?.peak),
          flag: shape.text(of?.flag),
        };
      })
      .filter((one): one is Counter => one !== null)
      .sort((a, b) => shareOf(b) - shareOf(a))
      .slice(0, 24);
  }

  private peaks(scopes: Json): HTMLElement {
    const all = shape.records(scopes.resources);
    const rows = all
      .filter((row) => shape.number(row.peak) > 0)
      .sort((a, b) => shape.number(b.percent) - shape.number(a.percent));
    const unused = all.length - rows.length;
    const of = (row: Json, key: string): string => {
      const value = shape.number(row[key]);
      return inBytes(shape.text(row.resource)) ? bytes(value) : count(value);
    };
    const table = new Table<Json>({
      label: 'Peaks',
      rows,
      tall: 14,
      empty: 'nothing was held',
      classOf: (row) => (shape.number(row.percent) >= 99.5 ? 'bad' : ''),
      choose: (row) => this.app.set({ site: shape.text(row.site) }),
      columns: [
        {
          title: 'Resource',
          width: 'minmax(12rem, 1fr)',
          value: (row) => shape.text(row.resource),
          text: (row) => nameOfResource(row),
        },
        {
          title: 'Peak',
          width: '5.2rem',
          number: true,
          value: (row) => shape.number(row.peak),
          text: (row) => of(row, 'peak'),
        },
        {
          title: 'Capacity',
          width: '5.2rem',
          number: true,
          value: (row) => shape.number(row.capacity),
          text: (row) => of(row, 'capacity'),
        },
        {
          title: 'Use',
          width: '6rem',
          value: (row) => shape.number(row.percent),
          text: (row) => `${shape.number(row.percent).toFixed(1)} %`,
          cell: (row) =>
            h(
              'span',
              { class: 'use' },
              bar(shape.number(row.percent) / 100),
              ` ${percent(shape.number(row.percent) / 100)}`,
            ),
        },
        {
          title: 'Smallest setting',
          width: 'minmax(12rem, 1fr)',
          hint: 'with less this run could not have gone on as it did',
          value: (row) => shape.text(row.flag),
          text: (row) => `${shape.text(row.flag)} ${shape.text(row.needed)}`,
        },
      ],
    });
    const settings = shape.text(scopes.smallest_settings);
    return section(
      'Peaks and limits',
      table.root,
      unused > 0 ? h('p', { class: 'quiet' }, `${count(unused)} others were never used.`) : null,
      settings
        ? h('p', { class: 'quiet' }, 'The smallest sizes this run would have needed:')
        : null,
      settings ? h('pre', { class: 'wrap' }, settings) : null,
      settings
        ? h(
            'p',
            { class: 'quiet' },
            'How many dependency entries are needed depends on how fast producers are.',
          )
        : null,
    );
  }

  private siteTable(scopes: Json): HTMLElement {
    const rows = asTree(shape.records(scopes.sites));
    this.sites = new Table<Json>({
      label: 'Scopes by site',
      rows,
      tall: 16,
      empty: 'no scope was recorded',
      choose: (row) => this.app.set({ site: shape.text(row.site) }),
      columns: [
        {
          title: 'Site',
          width: 'minmax(11rem, 1.4fr)',
          value: (row) => shape.text(row.site),
          cell: (row) => {
            const name = h('span', {}, shape.text(row.site));
            name.style.paddingLeft = `${Math.min(12, shape.number(row.depth)) * 14}px`;
            return name;
          },
        },
        { title: 'Ring', width: '2rem', number: true, value: (row) => shape.maybe(row.ring) },
        {
          title: 'Scopes',
          width: '3.4rem',
          number: true,
          value: (row) => shape.number(row.count),
          text: (row) => count(shape.number(row.count)),
        },
        {
          title: 'Longest',
          width: '4.4rem',
          number: true,
          value: (row) => shape.number(row.longest_ns),
          text: (row) => duration(shape.number(row.longest_ns)),
        },
        {
          title: 'Use',
          width: '3.6rem',
          number: true,
          value: (row) => shape.number(row.percent),
          text: (row) => percent(shape.number(row.percent) / 100),
        },
        {
          title: 'Closest to its limit',
          width: 'minmax(12rem, 1fr)',
          value: (row) => shape.text(row.closest),
        },
      ],
    });
    const chosen: Child = link('Show scopes in the timeline', () => this.app.go('timeline'));
    return section('Scopes by site', this.sites.root, h('p', {}, chosen));
  }

  key(event: KeyboardEvent): boolean {
    const bounds = { begin: 0, end: this.app.run.index.end };
    const view = clampView(this.app.state.view ?? bounds, bounds);
    const moves: Record<string, () => typeof view> = {
      a: () => pan(view, bounds, -0.2),
      d: () => pan(view, bounds, 0.2),
      w: () => zoomAt(view, bounds, 0.5, 0.6),
      s: () => zoomAt(view, bounds, 0.5, 1.7),
      '0': () => fitRange(bounds.begin, bounds.end, bounds),
    };
    const move = moves[event.key.toLowerCase()];
    if (!move) return false;
    this.app.set({ view: event.key === '0' ? null : move() });
    return true;
  }
}

// What stopped the program, where a limit did.
function culpritOf(scopes: Json): HTMLElement | null {
  if (!shape.flag(scopes.fatal)) return null;
  const culprit = shape.record(scopes.culprit);
  const resource = shape.text(culprit.resource);
  if (!resource) return h('p', { class: 'sentence bad' }, 'The program ended at a limit.');
  const ring = shape.maybe(culprit.ring);
  const text = inBytes(resource) ? bytes : count;
  const of = ring === null || /ring \d/.test(resource) ? '' : ` of ring ${ring}`;
  const setting = shape.text(culprit.setting);
  return h(
    'p',
    { class: 'sentence' },
    ...withNames(
      `The ${resource}${of} was full: ` +
        `${text(shape.number(culprit.used))} of ${text(shape.number(culprit.capacity))}` +
        `, in the scope at ${shape.text(culprit.scope, 'a place that is not known')}` +
        `${setting ? `; raise ${setting}` : ''}.`,
    ),
  );
}

function inBytes(resource: string): boolean {
  return /heap|arguments/i.test(resource);
}

function shareOf(counter: Counter): number {
  if (counter.capacity === null || counter.capacity <= 0) return 0;
  return (counter.peak ?? 0) / counter.capacity;
}

function nameOfResource(row: Json): string {
  const ring = shape.maybe(row.ring);
  const resource = shape.text(row.resource);
  return ring === null || /ring \d/.test(resource) ? resource : `${resource} of ring ${ring}`;
}

// Sites below the site outside them, where that is known; else as they come.
function asTree(sites: Json[]): Json[] {
  if (!sites.some((site) => typeof site.parent === 'number')) return sites;
  const below = new Map<number | null, number[]>();
  sites.forEach((site, i) => {
    const parent = shape.maybe(site.parent);
    const known = parent !== null && parent >= 0 && parent < sites.length && parent !== i;
    const key = known ? parent : null;
    below.set(key, [...(below.get(key) ?? []), i]);
  });
  const out: Json[] = [];
  const seen = new Set<number>();
  const visit = (i: number): void => {
    if (seen.has(i)) return;
    seen.add(i);
    out.push(sites[i]);
    for (const child of below.get(i) ?? []) visit(child);
  };
  for (const top of below.get(null) ?? []) visit(top);
  sites.forEach((_, i) => visit(i));
  return out;
}
