// SPDX-License-Identifier: Apache-2.0
// The task graph around the selected task: a neighbourhood that can be read, why the task waited, and
// the chain that made it late.
import type { AppView, Panel } from '../app/app_view';
import * as shape from '../codec/shape';
import type { Json } from '../codec/shape';
import { fitting } from '../timeline/scene';
import type { GraphTask } from '../tiles/graph_store';
import { h, link, refill, svg } from '../ui/dom';
import { count, duration, taskText } from '../ui/units';
import { criticalPath } from './critical_path';
import { neighbourhood, type Neighbourhood, type Node } from './graph_layers';
import { section } from './section';

const kWide = 128;
const kTall = 40;
const kApartX = 146;
const kApartY = 86;
const kMostChain = 200;

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
    if (task === this.centre && !changed.has('data') && !changed.has('theme') &&
      this.picture_.childElementCount > 0) return;
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
      refill(this.picture_, h('p', { class: problem ? 'nothing bad' : 'nothing' }, problem ??
        'No graph was recorded. tidemark run … --enable-dep-gen records it.'));
      return;
    }
    if (!this.centre) {
      await this.showStart(about, asked);
      return;
    }
    const near = await neighbourhood((id) => run.graph.find(id), this.centre, this.expanded,
      this.depth);
    const own = near.nodes[0]?.task ?? null;
    const chain = own ? await this.lateChain(own) : [];
    if (asked !== this.asked) return;
    if (!own) {
      refill(this.picture_, h('p', { class: 'nothing' },
        `${taskText(this.centre)} is not in the recorded graph.`));
    } else {
      this.draw(near);
    }
    refill(this.side, ...this.words(own, about, chain));
  }

  // Nothing is selected: the longest chain is where to begin.
  private async showStart(about: Json, asked: number): Promise<void> {
    const { run } = this.app;
    const overview = run.index.documents.has('overview')
      ? await run.documents.get('doc/overview') : null;
    if (asked !== this.asked) return;
    const first = (await run.graph.page(0))?.keys().next();
    const task = first && !first.done ? first.value : '';
    if (asked !== this.asked) return;
    refill(this.picture_, h('div', { class: 'nothing' },
      h('p', {}, `${count(shape.number(about.tasks, run.index.tasks))} tasks were recorded.`),
      h('p', {}, 'Choose one: of the critical path beside, in the timeline, or with / and its name.'),
      task ? h('p', {}, link(`The first: ${taskText(task)}`, () => this.app.selectTask(task))) : null));
    refill(this.side, ...this.incomplete(about), criticalPath(this.app,
      shape.record(overview), (row) => this.app.selectTask(shape.text(row.task))));
  }

  private incomplete(about: Json): HTMLElement[] {
    if (about.complete !== false) return [];
    return [h('p', { class: 'bad' }, `The graph is not complete: ${shape.text(about.why_incomplete,
      'records are missing')}`)];
  }

  private words(own: GraphTask | null, about: Json, chain: GraphTask[]): HTMLElement[] {
    const run = this.app.run;
    const parts = this.incomplete(about);
    if (!own) return parts;
    const after = (ticks: number | null): string =>
      (ticks === null ? 'not recorded' : duration(run.ns(ticks - run.index.launch), 5));
    const span = (from: number | null, to: number | null): string =>
      (from === null || to === null ? '' : ` (${duration(run.ns(to - from))})`);
    parts.push(section(`${own.text} ${own.kernel}`, h('dl', { class: 'facts' },
      ...[['submitted', after(own.submit) + (own.site ? ` at ${own.site}` : '')],
        ['ready', after(own.ready) + span(own.submit, own.ready)],
        ['dispatched', after(own.dispatch) + span(own.ready, own.dispatch)],
        ['started', after(own.start) + span(own.dispatch ?? own.ready, own.start)],
        ['ended', after(own.end) + span(own.start, own.end)],
        ['complete', after(own.complete)],
      ].flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]))));
    parts.push(section('Why it waited', this.why(own, chain)));
    if (chain.length > 1) {
      parts.push(section('The chain that made it late', h('ol', { class: 'chain' },
        ...chain.slice(0, 40).map((task) => h('li', {}, link(`${task.text} ${task.kernel}`,
          () => this.app.selectTask(task.id)),
        task.start !== null && task.end !== null
          ? h('span', { class: 'quiet' }, ` ${duration(run.ns(task.end - task.start))}`) : null)),
        chain.length > 40 ? h('li', { class: 'quiet' }, `${count(chain.length - 40)} before them`)
          : null)));
    }
    return parts;
  }

  private why(own: GraphTask, chain: GraphTask[]): HTMLElement {
    const run = this.app.run;
    if (own.pred.length === 0) return h('p', {}, 'It waits for nobody: it was ready when submitted.');
    const last = chain[1];
    const edge = last ? own.pred.find((one) => one.task === last.id) : undefined;
    const later = last && last.complete !== null && own.submit !== null &&
      last.complete > own.submit;
    return h('p', {}, `It waits for ${count(own.pred.length)} ` +
      `${own.pred.length === 1 ? 'task' : 'tasks'}. `,
    ...(last ? ['The last to be complete was ',
      link(`${last.text} ${last.kernel}`, () => this.app.selectTask(last.id)),
      edge ? ` (${[edge.reason, edge.argument !== null ? `argument ${edge.argument}` : '']
        .filter((w) => w).join(', ')})` : '',
      later ? `, ${duration(run.ns((last.complete ?? 0) - (own.submit ?? 0)))} after the submit.`
        : ', and it was complete before the submit: nothing was waited for.'] : []));
  }

  // From the task back over the producer that was complete last, as long as that made it wait.
  private async lateChain(own: GraphTask): Promise<GraphTask[]> {
    const graph = this.app.run.graph;
    const chain = [own];
    const seen = new Set([own.id]);
    for (let at = own; chain.length < kMostChain;) {
      const producers = await Promise.all(at.pred.slice(0, 64).map((edge) => graph.find(edge.task)));
      const last = producers.reduce<GraphTask | null>((best, one) =>
        (one && (one.complete ?? -1) > (best?.complete ?? -1) ? one : best), null);
      if (!last || seen.has(last.id)) break;
      chain.push(last);
      seen.add(last.id);
      if (at.submit !== null && last.complete !== null && last.complete <= at.submit) break;
      at = last;
    }
    return chain;
  }

  private draw(near: Neighbourhood): void {
    const xs = near.nodes.map((node) => node.x);
    const left = Math.min(...xs) * kApartX - kWide / 2 - 12;
    const right = Math.max(...xs) * kApartX + kWide / 2 + 12;
    const top = near.layers.first * kApartY - kTall / 2 - 26;
    const bottom = near.layers.last * kApartY + kTall / 2 + 26;
    const at = new Map(near.nodes.map((node) => [node.id, node]));
    const drawing = svg('svg', { viewBox: `${left} ${top} ${right - left} ${bottom - top}`,
      width: right - left, height: bottom - top, role: 'group', 'aria-label': 'Tasks around it' });
    for (const edge of near.edges) {
      const from = at.get(edge.from);
      const to = at.get(edge.to);
      if (from && to) drawing.append(...this.edge(from, to, edge));
    }
    for (const node of near.nodes) drawing.append(this.node(node));
    refill(this.picture_,
      h('div', { class: 'controls' },
        h('button', { type: 'button', onclick: () => this.deepen(-1) }, 'Fewer'),
        h('button', { type: 'button', onclick: () => this.deepen(1) }, 'More'),
        h('span', { class: 'quiet' }, `${count(near.nodes.length)} tasks, up to ${this.depth} ` +
          'steps away; a number leads to those left out')),
      h('div', { class: 'canvas' }, drawing));
    const box = this.picture_.querySelector('.canvas');
    if (!box) return;
    box.scrollLeft = -left - box.clientWidth / 2;
    box.scrollTop = -top - box.clientHeight / 2;
  }

  private deepen(by: number): void {
    this.depth = Math.max(1, Math.min(6, this.depth + by));
    void this.load();
  }

  private edge(
    from: Node, to: Node, edge: { argument: number | null; reason: string },
  ): SVGElement[] {
    const x0 = from.x * kApartX;
    const y0 = from.layer * kApartY + kTall / 2;
    const x1 = to.x * kApartX;
    const y1 = to.layer * kApartY - kTall / 2;
    const bend = Math.max(18, (y1 - y0) / 2);
    const own = from.id === this.centre || to.id === this.centre;
    const path = svg('path', { class: own ? 'edge own' : 'edge',
      d: `M${x0} ${y0}C${x0} ${y0 + bend} ${x1} ${y1 - bend} ${x1} ${y1}` });
    path.append(svg('title', {}, [edge.reason, edge.argument !== null
      ? `argument ${edge.argument}` : ''].filter((w) => w).join(', ')));
    return [path, svg('path', { class: own ? 'head own' : 'head',
      d: `M${x1} ${y1}l-3.5 -7h7z` })];
  }

  private node(node: Node): SVGElement {
    const x = node.x * kApartX - kWide / 2;
    const y = node.layer * kApartY - kTall / 2;
    const { task } = node;
    const run = this.app.run;
    const time = task && task.start !== null && task.end !== null
      ? duration(run.ns(task.end - task.start)) : 'not run';
    const group = svg('g', {
      class: `node${node.id === this.centre ? ' centre' : ''}${task?.critical ? ' critical' : ''}`,
      tabindex: 0, role: 'button', 'aria-label': `${task?.text ?? node.id} ${task?.kernel ?? ''}`,
    });
    const choose = (): void => {
      if (node.id !== this.centre) this.app.selectTask(node.id);
    };
    group.addEventListener('click', choose);
    group.addEventListener('keydown', (event) => {
      if ((event as KeyboardEvent).key === 'Enter') choose();
    });
    group.append(
      svg('rect', { class: 'box', x, y, width: kWide, height: kTall, rx: 4 }),
      svg('rect', { x, y, width: 5, height: kTall, rx: 2,
        fill: task ? this.app.colors.ofText(task.kernel) : '#888888' }),
      svg('text', { class: 'name', x: x + 12, y: y + 16 },
        fitting(task?.text ?? taskText(node.id), kWide - 20, 7)),
      svg('text', { class: 'what', x: x + 12, y: y + 31 },
        fitting(task ? `${task.kernel} ${time}` : 'not recorded', kWide - 16, 6)),
      svg('title', {}, `${task?.text ?? node.id} ${task?.kernel ?? ''} ${time}` +
        (task?.critical ? ', on the critical path' : '')));
    if (node.moreBefore > 0) group.append(this.more(node, 'before', y - 7));
    if (node.moreAfter > 0) group.append(this.more(node, 'after', y + kTall + 15));
    return group;
  }

  private more(node: Node, side: 'before' | 'after', y: number): SVGElement {
    const number = side === 'before' ? node.moreBefore : node.moreAfter;
    const text = svg('text', { class: 'more', x: node.x * kApartX, y, 'text-anchor': 'middle',
      tabindex: 0, role: 'button' }, `+${count(number)} ${side}`);
    const open = (event: Event): void => {
      event.stopPropagation();
      this.expanded[side].add(node.id);
      void this.load();
    };
    text.addEventListener('click', open);
    text.addEventListener('keydown', (event) => {
      if ((event as KeyboardEvent).key === 'Enter') open(event);
    });
    return text;
  }
}
