// SPDX-License-Identifier: Apache-2.0
// One line about what is selected, below every panel: what it is, what it waited for, where it
// comes from, and the ways on.
import { swatch } from '../panels/kernel_table';
import { h, link, refill, type Child } from '../ui/dom';
import type { GraphTask } from '../tiles/graph_store';
import { duration, taskText } from '../ui/units';
import { momentText } from '../timeline/axis';
import type { AppView } from './app_view';

const kMostInLegend = 8;

export class SelectedBar {
  readonly root = h('footer', { class: 'selected', 'aria-label': 'Selected' });
  private shown = '';
  private problem = '';

  constructor(private readonly app: AppView) {}

  say(problem: string): void {
    if (problem === this.problem) return;
    this.problem = problem;
    this.shown = '';
    this.update();
  }

  update(): void {
    const { task, track, begin, end, kernel, site, absolute } = this.app.state;
    const key = JSON.stringify([
      task,
      track,
      begin,
      end,
      kernel,
      site,
      absolute,
      this.app.state.panel,
      this.app.theme.dark,
      this.problem,
      this.app.run.index.progress.generation,
    ]);
    if (key === this.shown) return;
    this.shown = key;
    if (task) void this.showTask(task, key);
    else this.showOther();
  }

  private fill(...parts: Child[]): void {
    const problem = this.problem ? h('span', { class: 'bad', role: 'alert' }, this.problem) : null;
    refill(this.root, problem, ...parts);
  }

  private showOther(): void {
    const { track, begin, end, kernel, site } = this.app.state;
    const own = this.app.run.track(track);
    if (begin !== null && own) {
      this.fill(h('strong', {}, own.name), h('span', {}, this.spanText(begin, end)));
    } else if (kernel !== null) {
      this.fill(
        h('strong', {}, kernel),
        h('span', { class: 'quiet' }, 'stands out in the timeline'),
        this.app.state.panel === 'timeline'
          ? null
          : link('Timeline', () => this.app.go('timeline')),
        link('All kernels', () => this.app.set({ kernel: null })),
      );
    } else if (site !== null) {
      this.fill(
        h('span', { class: 'quiet' }, 'scope'),
        h('strong', {}, site),
        link('Scopes', () => this.app.go('scopes')),
      );
    } else {
      this.fill(
        h('span', { class: 'quiet' }, 'Nothing is selected: click on a task. ? shows the keys.'),
        h('span', { class: 'spacer' }),
        ...(this.app.state.panel === 'timeline' ? this.legend() : []),
      );
    }
  }

  // The colours of the kernels; a click on one lets it stand out.
  private legend(): HTMLElement[] {
    const { names, nameKinds } = this.app.run.index;
    const kernels = names.filter((_, i) => nameKinds[i] === 'kernel');
    return kernels.slice(0, kMostInLegend).map((name) => {
      return h(
        'button',
        { class: 'link entry', type: 'button', onclick: () => this.app.set({ kernel: name }) },
        swatch(this.app.colors.ofText(name)),
        name,
      );
    });
  }

  private spanText(begin: number, end: number | null): string {
    const run = this.app.run;
    const clock = { index: run.index, absolute: this.app.state.absolute };
    return `${duration(run.ns((end ?? begin) - begin))} from ${momentText(clock, begin, 1000)}`;
  }

  private async showTask(task: string, key: string): Promise<void> {
    const run = this.app.run;
    const { begin, end, track } = this.app.state;
    const own = run.track(track);
    const spanWords = [own?.name, begin !== null ? this.spanText(begin, end) : ''].filter(
      (word): word is string => !!word,
    );
    const parts: Child[] = [
      h('strong', {}, taskText(task)),
      ...spanWords.map((word) => h('span', {}, word)),
    ];
    this.fill(...parts, ...this.ways(null));
    const found = await run.graph.find(task);
    if (this.shown !== key || !found) return;
    const last = await this.lastProducer(found);
    if (this.shown !== key) return;
    this.fill(
      h('strong', {}, `${found.text} ${found.kernel}`),
      ...spanWords.map((word) => h('span', {}, word)),
      last,
      found.site ? h('span', {}, h('span', { class: 'quiet' }, 'submitted at '), found.site) : null,
      ...this.ways(found),
    );
  }

  private async lastProducer(task: GraphTask): Promise<HTMLElement | null> {
    const graph = this.app.run.graph;
    let best: { producer: GraphTask; argument: number | null; reason: string } | null = null;
    for (const edge of task.pred.slice(0, 64)) {
      const producer = await graph.find(edge.task);
      if (!producer) continue;
      if (!best || (producer.complete ?? -1) > (best.producer.complete ?? -1)) {
        best = { producer, argument: edge.argument, reason: edge.reason };
      }
    }
    if (!best) return null;
    const { producer, argument, reason } = best;
    const why = [reason, argument !== null ? `argument ${argument}` : '']
      .filter((w) => w)
      .join(', ');
    return h(
      'span',
      {},
      h('span', { class: 'quiet' }, 'waited for '),
      link(`${producer.text} ${producer.kernel}`, () => this.app.selectTask(producer.id)),
      why ? h('span', { class: 'quiet' }, ` (${why})`) : null,
    );
  }

  private ways(found: GraphTask | null): HTMLElement[] {
    const ways: [string, () => void, boolean][] = [
      ['Timeline', () => this.app.go('timeline'), true],
      ['Graph', () => this.app.go('graph'), this.app.run.index.documents.has('graph')],
      ['Arguments', () => this.app.go('tensors'), this.app.run.index.tensors > 0],
      [
        'Scope',
        () => this.app.go('scopes', { site: found?.scope || found?.site || null }),
        found !== null && this.app.run.index.documents.has('scopes'),
      ],
    ];
    return [
      h('span', { class: 'spacer' }),
      ...ways.filter((way) => way[2]).map(([text, go]) => link(text, go)),
    ];
  }
}
