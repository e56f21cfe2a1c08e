// SPDX-License-Identifier: Apache-2.0
// The task graph around the selected task: a neighbourhood that can be read, why the task waited,
// and the chain that made it late.
import type { AppView, Panel } from '../app/app_view';
import * as shape from '../codec/shape';
import type { Json } from '../codec/shape';
import type { GraphTask } from '../tiles/graph_store';
import { h, link, refill } from '../ui/dom';
import { Table } from '../ui/table';
import { count, duration, taskText } from '../ui/units';
import { kBlames } from './critical_path';
import { drawGraph } from './graph_drawing';
import { neighbourhood, type Neighbourhood } from './graph_layers';
import { section } from './section';

const kMostChain = 200;

function spentOn(step: Json): number {
  return kBlames.reduce((sum, [key]) => sum + shape.number(step[key]), 0);
}

export class GraphPanel implements Panel {
  readonly id = 'graph';
  readonly root = h('section', { class: 'panel graph', 'aria-label': 'Graph' });
  private readonly picture_ = h('div', { class: 'drawing' });
  private readonly side = h('div', { class: 'side' });
  private readonly expanded = { before: new Set<string>(), after: new Set<string>() };
  private centre = '';
  private depth = 2;
  private asked = 0;

  constructor(private readonly app: AppView) {
    refill(this.root, this.picture_, this.side);
  }

  update(changed: Set<string>): void {
    const task = this.app.state.task ?? '';
    if (
      task === this.centre &&
      !changed.has('data') &&
      !changed.has('theme') &&
      this.picture_.childElementCount > 0
    )
      return;
    if (task !== this.centre) {
      this.expanded.before.clear();
      this.expanded.after.clear();
    }
    this.centre = task;
    void this.load();
  }

  private async load(): Promise<void> {
    const asked = ++this.asked;
    const { run } = this.app;
    const about = await run.graph.about();
    if (asked !== this.asked) return;
    if (!about) {
      const problem = run.documents.errors.get('doc/graph');
      refill(this.side);
      refill(
        this.picture_,
        h(
          'p',
          { class: problem ? 'nothing bad' : 'nothing' },
          problem ?? 'No graph was recorded. tidemark run … --enable-dep-gen records it.',
        ),
      );
      return;
    }
    const start = this.centre ? null : await this.startOf();
    if (asked !== this.asked) return;
    const centre = this.centre || start?.task || '';
    const near = await neighbourhood((id) => run.graph.find(id), centre, this.expanded, this.depth);
    const own = near.nodes[0]?.task ?? null;
    const chain = own ? await this.lateChain(own) : [];
    if (asked !== this.asked) return;
    if (!own) {
      refill(
        this.picture_,
        h(
          'p',
          { class: 'nothing' },
          this.centre
            ? `${taskText(this.centre)} is not in the recorded graph.`
            : 'No task was recorded.',
        ),
      );
    } else {
      this.draw(near, centre);
    }
    refill(
      this.side,
      start && own ? this.invitation(about, own, start) : null,
      ...this.words(own, about, chain),
      start ? this.pathTable(start.steps) : null,
    );
  }

  // Nothing is selected: the task of the critical path that cost most is where to begin.
  private async startOf(): Promise<{ task: string; steps: Json[] }> {
    const { run } = this.app;
    const overview = run.index.documents.has('overview')
      ? await run.documents.get('doc/overview')
      : null;
    const steps = shape.records(shape.record(shape.record(overview).critical_path).steps);
    const most = steps.reduce<Json | null>(
      (best, step) => (spentOn(step) > (best ? spentOn(best) : -1) ? step : best),
      null,
    );
    if (most) return { task: shape.text(most.task), steps };
    const first = (await run.graph.page(0))?.keys().next();
    return { task: first && !first.done ? first.value : '', steps };
  }

  private invitation(about: Json, own: GraphTask, start: { steps: Json[] }): HTMLElement {
    return h(
      'p',
      {},
      `${count(shape.number(about.tasks, this.app.run.index.tasks))} tasks were recorded. Nothing ` +
        'is selected, so this is around ',
      link(`${own.text} ${own.kernel}`, () => this.app.selectTask(own.id)),
      start.steps.length > 0 ? ', which cost most of the critical path' : '',
      '. Click on any task, or press / and write its name.',
    );
  }

  private pathTable(steps: Json[]): HTMLElement | null {
    if (steps.length === 0) return null;
    const table = new Table<Json>({
      label: 'Critical path',
      rows: steps,
      tall: 12,
      choose: (step) => this.app.selectTask(shape.text(step.task)),
      columns: [
        {
          title: 'Task',
          width: '5rem',
          value: (step) => shape.text(step.text) || taskText(shape.text(step.task)),
        },
        { title: 'Kernel', width: '1fr', value: (step) => shape.text(step.kernel) },
        {
          title: 'Cost',
          hint: 'its part of the critical path: execution and waiting',
          width: '5rem',
          number: true,
          value: spentOn,
          text: (step) => duration(spentOn(step)),
        },
      ],
    });
    return section('Critical path', table.root);
  }

  private incomplete(about: Json): HTMLElement[] {
    if (about.complete !== false) return [];
    return [
      h(
        'p',
        { class: 'bad' },
        `The graph is not complete: ${shape.text(about.why_incomplete, 'records are missing')}`,
      ),
    ];
  }

  private words(own: GraphTask | null, about: Json, chain: GraphTask[]): HTMLElement[] {
    const run = this.app.run;
    const parts = this.incomplete(about);
    if (!own) return parts;
    const after = (ticks: number | null): string =>
      ticks === null ? 'not recorded' : duration(run.ns(ticks - run.index.launch), 5);
    const span = (from: number | null, to: number | null): string =>
      from === null || to === null ? '' : ` (${duration(run.ns(to - from))})`;
    parts.push(
      section(
        `${own.text} ${own.kernel}`,
        h(
          'dl',
          { class: 'facts' },
          ...[
            ['submitted', after(own.submit) + (own.site ? ` at ${own.site}` : '')],
            ['ready', after(own.ready) + span(own.submit, own.ready)],
            ['dispatched', after(own.dispatch) + span(own.ready, own.dispatch)],
            ['started', after(own.start) + span(own.dispatch ?? own.ready, own.start)],
            ['ended', after(own.end) + span(own.start, own.end)],
            ['complete', after(own.complete)],
          ].flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]),
        ),
      ),
    );
    parts.push(section('Why it waited', this.why(own, chain)));
    if (chain.length > 1) {
      parts.push(
        section(
          'The chain that made it late',
          h(
            'ol',
            { class: 'chain' },
            ...chain.slice(0, 40).map((task) =>
              h(
                'li',
                {},
                link(`${task.text} ${task.kernel}`, () => this.app.selectTask(task.id)),
                task.start !== null && task.end !== null
                  ? h('span', { class: 'quiet' }, ` ${duration(run.ns(task.end - task.start))}`)
                  : null,
              ),
            ),
            chain.length > 40
              ? h('li', { class: 'quiet' }, `${count(chain.length - 40)} before them`)
              : null,
          ),
        ),
      );
    }
    return parts;
  }

  private why(own: GraphTask, chain: GraphTask[]): HTMLElement {
    const run = this.app.run;
    if (own.pred.length === 0)
      return h('p', {}, 'It waits for nobody: it was ready when submitted.');
    const last = chain[1];
    const edge = last ? own.pred.find((one) => one.task === last.id) : undefined;
    const later =
      last && last.complete !== null && own.submit !== null && last.complete > own.submit;
    const producers = new Set(own.pred.map((one) => one.task)).size;
    return h(
      'p',
      {},
      `It waits for ${count(producers)} ${producers === 1 ? 'task' : 'tasks'}. `,
      ...(last
        ? [
            'The last to be complete was ',
            link(`${last.text} ${last.kernel}`, () => this.app.selectTask(last.id)),
            edge
              ? ` (${[edge.reason, edge.argument !== null ? `argument ${edge.argument}` : '']
                  .filter((w) => w)
                  .join(', ')})`
              : '',
            later
              ? `, ${duration(run.ns((last.complete ?? 0) - (own.submit ?? 0)))} after the submit.`
              : ', and it was complete before the submit: nothing was waited for.',
          ]
        : []),
    );
  }

  // From the task back over the producer that was complete last, as long as that made it wait.
  private async lateChain(own: GraphTask): Promise<GraphTask[]> {
    const graph = this.app.run.graph;
    const chain = [own];
    const seen = new Set([own.id]);
    for (let at = own; chain.length < kMostChain; ) {
      const producers = await Promise.all(
        at.pred.slice(0, 64).map((edge) => graph.find(edge.task)),
      );
      const last = producers.reduce<GraphTask | null>(
        (best, one) => (one && (one.complete ?? -1) > (best?.complete ?? -1) ? one : best),
        null,
      );
      if (!last || seen.has(last.id)) break;
      chain.push(last);
      seen.add(last.id);
      if (at.submit !== null && last.complete !== null && last.complete <= at.submit) break;
      at = last;
    }
    return chain;
  }

  private draw(near: Neighbourhood, centre: string): void {
    const { element, left, top } = drawGraph(this.app, near, centre, (id, side) => {
      this.expanded[side].add(id);
      void this.load();
    });
    refill(
      this.picture_,
      h(
        'div',
        { class: 'controls' },
        h('button', { type: 'button', onclick: () => this.deepen(-1) }, 'Fewer tasks'),
        h('button', { type: 'button', onclick: () => this.deepen(1) }, 'More tasks'),
        h(
          'span',
          { class: 'quiet' },
          `${count(near.nodes.length)} tasks, up to ${this.depth} ` +
            'steps away; +N shows those left out',
        ),
      ),
      h('div', { class: 'canvas' }, element),
    );
    const box = this.picture_.querySelector('.canvas');
    if (!box) return;
    box.scrollLeft = -left - box.clientWidth / 2;
    box.scrollTop = -top - box.clientHeight / 2;
  }

  private deepen(by: number): void {
    this.depth = Math.max(1, Math.min(6, this.depth + by));
    void this.load();
  }
}
