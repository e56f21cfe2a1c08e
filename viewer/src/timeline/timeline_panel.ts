// SPDX-License-Identifier: Apache-2.0
// The timeline as a panel: one canvas, drawn when something has changed, and never else.
import type { AppView, Panel } from '../app/app_view';
import { h, refill } from '../ui/dom';
import { count } from '../ui/units';
import { longestIn, neighbour, point, type Pointed, type SpanHit } from './hit';
import { Hands } from './hands';
import { laneAt, layOut, type Layout } from './lanes';
import { Minimap } from './minimap';
import { drawOverlay, type OverlayInput } from './overlay';
import { edgesOf, pathAndStuck } from './overlay_data';
import { measuresOf, Scene, type Drawn, type Measures, type SceneInput } from './scene';
import { clampView, fitRange, snapped, ticksAt, type View } from './view';

const kMapHeight = 44;
const kMostScale = 2;

export class TimelinePanel implements Panel {
  readonly id = 'timeline';
  readonly root: HTMLElement;
  private readonly canvas = h('canvas', {
    class: 'spans',
    tabindex: 0,
    role: 'img',
    'aria-label': 'Timeline. W and S zoom, A and D pan, Tab and the arrow keys walk the spans.',
  });
  private readonly map = h('canvas', { class: 'map', 'aria-hidden': 'true' });
  private readonly tip = h('div', { class: 'tip', hidden: true });
  private readonly note = h('div', { class: 'telling' });
  private readonly scene = new Scene();
  private readonly minimap = new Minimap();
  private readonly hands: Hands;
  private layout: Layout = { lanes: [], byTrack: new Map(), height: 0 };
  private scroll = 0;
  private drawn: Drawn | null = null;
  private asked = false;
  private shown = false;
  private overlay: OverlayInput = {
    selected: null,
    task: null,
    producers: [],
    consumers: [],
    path: [],
    measured: null,
    stuck: [],
  };
  private edgesOf = '';
  private seen = ''; // what the last frame showed

  constructor(private readonly app: AppView) {
    this.root = h(
      'section',
      { class: 'panel timeline', 'aria-label': 'Timeline' },
      this.map,
      this.canvas,
      this.tip,
      this.note,
    );
    this.hands = new Hands({
      canvas: this.canvas,
      map: this.map,
      left: () => this.measures.gutter,
      view: () => this.view,
      bounds: () => this.bounds,
      moveTo: (view) => this.app.set({ view }),
      scrollBy: (by) => this.scrollTo(this.scroll + by),
      measure: (range) => {
        this.overlay.measured = range;
        this.draw();
      },
      point: (x, y) => this.showTip(x, y),
      click: (x, y) => void this.click(x, y),
      fit: () => this.app.set({ view: null }),
    });
    new ResizeObserver(() => this.resize()).observe(this.root);
    void this.loadPath();
  }

  private get bounds(): { begin: number; end: number } {
    const { end } = this.app.run.index;
    const last = this.overlay.stuck.reduce((most, one) => Math.max(most, one.begin), end);
    return { begin: 0, end: this.overlay.stuck.length > 0 ? last * 1.15 : end };
  }

  get view(): View {
    return clampView(this.app.state.view ?? this.bounds, this.bounds);
  }

  update(changed: Set<string>): void {
    if (!this.shown || changed.has('size') || changed.has('data') || changed.has('panel')) {
      this.shown = true;
      this.resize();
    }
    if (changed.has('data')) {
      this.minimap.forget();
      void this.loadPath();
    }
    if (changed.has('view')) this.tip.hidden = true; // what it says is no longer there
    this.select();
    this.draw();
  }

  private resize(): void {
    const box = this.root.getBoundingClientRect();
    if (box.width === 0) return; // hidden
    const scale = this.scale;
    for (const [canvas, height] of [
      [this.canvas, box.height - kMapHeight],
      [this.map, kMapHeight],
    ] as const) {
      const wide = Math.max(200, Math.floor(box.width));
      const tall = Math.max(20, Math.floor(height));
      if (canvas.width !== Math.round(wide * scale)) canvas.width = Math.round(wide * scale);
      if (canvas.height !== Math.round(tall * scale)) canvas.height = Math.round(tall * scale);
      canvas.style.width = `${wide}px`;
      canvas.style.height = `${tall}px`;
    }
    this.layout = layOut(
      this.app.run.index,
      this.size.height - this.measures.axis,
      this.measures.font,
    );
    this.scrollTo(this.scroll);
  }

  private get scale(): number {
    return Math.min(kMostScale, Math.max(1, window.devicePixelRatio || 1));
  }

  private get measures(): Measures {
    return measuresOf(this.size.width);
  }

  private get size(): { width: number; height: number } {
    return { width: this.canvas.width / this.scale, height: this.canvas.height / this.scale };
  }

  private scrollTo(to: number): void {
    const most = Math.max(0, this.layout.height - (this.size.height - this.measures.axis));
    this.scroll = Math.max(0, Math.min(most, to));
    this.draw();
  }

  // Soon: many causes make one frame.
  draw(): void {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.paint();
    });
  }

  private input(): SceneInput {
    const { width, height } = this.size;
    const columns = Math.max(1, Math.floor((width - this.measures.gutter) * this.scale));
    return {
      run: this.app.run,
      view: snapped(this.view, columns),
      layout: this.layout,
      scroll: this.scroll,
      width,
      height,
      scale: this.scale,
      measures: this.measures,
      colors: this.app.colors,
      theme: this.app.theme,
      clock: { index: this.app.run.index, absolute: this.app.state.absolute },
    };
  }

  private paint(): void {
    if (!this.root.isConnected || this.root.hidden) return;
    const context = this.canvas.getContext('2d');
    const map = this.map.getContext('2d');
    if (!context || !map) return;
    const tiles = this.app.run.tiles;
    const input = this.input();
    const seen = `${input.view.begin} ${input.view.end} ${this.scroll}`;
    if (seen !== this.seen) tiles.forgetWaiting();
    this.seen = seen;
    this.drawn = this.scene.paint(context, input, (painter) =>
      drawOverlay(painter, input, this.overlay),
    );
    this.minimap.draw(
      map,
      this.app.run,
      this.view,
      this.bounds,
      this.app.theme,
      input.width,
      kMapHeight,
      this.scale,
      this.measures,
    );
    this.map.title = this.minimap.title;
    this.say(tiles.missing);
    const complete = this.drawn.complete && tiles.missing === 0;
    document.documentElement.dataset.picture = complete ? 'complete' : 'coming';
    document.documentElement.dataset.rectangles = String(this.drawn.rectangles);
    if (this.drawn.complete && performance.getEntriesByName('first-picture').length === 0) {
      performance.mark('first-picture');
    }
    if (!this.minimap.ready) setTimeout(() => this.draw(), 160);
  }

  // What is not there yet, and what could not be read: with a number.
  private say(missing: number): void {
    const errors = this.app.run.tiles.errors;
    const progress = this.app.run.index.progress;
    const lines: string[] = [];
    if (progress.sketchOnly) {
      lines.push(
        'from page headers alone; the records are being read ' +
          `(${count(progress.recordsDone)} of ${count(progress.records)})`,
      );
    }
    if (missing > 0) lines.push(`${count(missing)} tiles on their way`);
    if (this.layout.lanes.length === 0) lines.push('this run recorded nothing that has a time');
    const first = errors.values().next();
    if (!first.done) {
      lines.push(
        `${count(errors.size)} ${errors.size === 1 ? 'tile' : 'tiles'} cannot be read: ` +
          first.value,
      );
    }
    refill(this.note, lines.join(' · '));
    this.note.classList.toggle('bad', errors.size > 0);
    this.note.hidden = lines.length === 0;
  }

  private at(x: number, y: number): Pointed | null {
    if (!this.drawn || x < this.measures.gutter || y < this.measures.axis) return null;
    const lane = laneAt(this.layout, y - this.measures.axis + this.scroll);
    const drawn = this.drawn.lanes.find((one) => one.lane === lane);
    if (!lane || !drawn) return null;
    const input = this.input();
    const columns = Math.floor((input.width - this.measures.gutter) * this.scale);
    const pixel = Math.min(
      columns - 1,
      Math.max(0, Math.floor((x - this.measures.gutter) * this.scale)),
    );
    const inLane = (y - this.measures.axis + this.scroll - lane.y) / lane.height;
    return point(this.app.run, input.clock, drawn, input.view, columns, pixel, inLane);
  }

  private showTip(x: number, y: number): void {
    const pointed = x < 0 ? null : this.at(x, y);
    this.tip.hidden = !pointed || pointed.lines.length === 0;
    if (!pointed || this.tip.hidden) return;
    refill(
      this.tip,
      ...pointed.lines.map((line, i) => h('div', { class: i === 0 ? 'first' : '' }, line)),
    );
    const { width, height } = this.size;
    const tip = this.tip.getBoundingClientRect();
    const left = x + 16 + tip.width > width ? x - tip.width - 12 : x + 16;
    const top = Math.min(y + 16, height - tip.height - 4);
    this.tip.style.left = `${Math.max(0, left)}px`;
    this.tip.style.top = `${Math.max(0, top) + kMapHeight}px`;
  }

  private async click(x: number, y: number): Promise<void> {
    this.canvas.focus();
    const pointed = this.at(x, y);
    if (!pointed) return;
    if (pointed.span) this.choose(pointed.span);
    else if (pointed.range) {
      const lane = laneAt(this.layout, y - this.measures.axis + this.scroll);
      const span = lane ? await longestIn(this.app.run, lane.track, pointed.range) : null;
      if (span) this.choose(span);
    } else {
      this.app.set({ task: null, track: null, begin: null, end: null });
    }
  }

  private choose(span: SpanHit): void {
    const change = { track: span.track.id, begin: span.begin, end: span.end };
    if (span.task) this.app.selectTask(span.task, change);
    else {
      this.app.set({
        ...change,
        task: null,
        kernel: null,
        site: span.nameKind === 'site' ? span.name : null,
      });
    }
    this.app.announce(`${span.name} on ${span.track.name}`);
  }

  // The overlay follows what is selected.
  private select(): void {
    const { task, track, begin, end } = this.app.state;
    this.overlay.selected = begin !== null ? { track, begin, end: end ?? begin } : null;
    if ((task ?? '') === this.edgesOf) return;
    this.edgesOf = task ?? '';
    this.overlay.task = null;
    this.overlay.producers = [];
    this.overlay.consumers = [];
    if (task) void this.loadEdges(task);
  }

  private async loadEdges(task: string): Promise<void> {
    const edges = await edgesOf(this.app.run, task);
    if (!edges || this.edgesOf !== task) return;
    Object.assign(this.overlay, edges);
    this.draw();
  }

  // The critical path, and the tasks that never returned.
  private async loadPath(): Promise<void> {
    Object.assign(this.overlay, await pathAndStuck(this.app.run));
    this.draw();
  }

  // Brings a range of time into view, and its track.
  reveal(begin: number, end: number, track: number | null): void {
    this.app.set({ view: fitRange(begin, end, this.bounds) }, true);
    this.revealTrack(track);
  }

  private revealTrack(track: number | null): void {
    const lane = track === null ? undefined : this.layout.byTrack.get(track);
    if (!lane) return;
    const room = this.size.height - this.measures.axis;
    if (lane.y < this.scroll || lane.y + lane.height > this.scroll + room) {
      this.scrollTo(lane.y - room / 2);
    }
  }

  key(event: KeyboardEvent): boolean {
    if (this.hands.keyDown(event)) return true;
    const { begin, end, track } = this.app.state;
    if (event.key === 'f' || event.key === 'F') {
      const range = this.overlay.measured;
      if (begin !== null) this.reveal(begin, end ?? begin, track);
      else if (range)
        this.reveal(Math.min(range.begin, range.end), Math.max(range.begin, range.end), null);
      return true;
    }
    if (event.key === '0' || event.key === 'Home') {
      this.app.set({ view: null });
      return true;
    }
    if (event.key === '.' || event.key === ',') {
      void this.step(event.key === '.' ? 1 : -1);
      return true;
    }
    if (event.key === 'Escape' && this.overlay.measured) {
      this.overlay.measured = null;
      this.draw();
      return true;
    }
    return false;
  }

  keyUp(event: KeyboardEvent): void {
    this.hands.keyUp(event);
  }

  // The next or the last span of the track; without a selection the first in view.
  private async step(by: 1 | -1): Promise<void> {
    const { begin, track } = this.app.state;
    const own =
      this.app.run.track(track) ??
      this.layout.lanes.find((lane) => lane.track.kind === 'core' && lane.track.count > 0)?.track ??
      this.layout.lanes.find((lane) => lane.track.values === 'spans')?.track;
    if (!own) return;
    const from = begin ?? ticksAt(this.view, 1, 0) - 1;
    const span = await neighbour(this.app.run, own, from, by);
    if (!span) return;
    this.choose(span);
    const view = this.view;
    if (span.begin < view.begin || span.end > view.end) {
      const width = view.end - view.begin;
      const middle = (span.begin + span.end) / 2;
      this.app.set({
        view: clampView({ begin: middle - width / 2, end: middle + width / 2 }, this.bounds),
      });
    }
    this.revealTrack(own.id);
  }

  picture(): string {
    const input = this.input();
    return this.scene.toSvg(
      {
        ...input,
        scale: 1,
        view: snapped(this.view, Math.floor(input.width - this.measures.gutter)),
      },
      (painter) => drawOverlay(painter, input, this.overlay),
    );
  }
}
