// SPDX-License-Identifier: Apache-2.0
// How full one resource was over the time that is in view, with its capacity as a line.
import type { AppView } from '../app/app_view';
import type { Track } from '../codec/index_file';
import { fillArea } from '../timeline/area_row';
import { axisTicks } from '../timeline/axis';
import { clampView, ticksAt, xOf, zoomAt } from '../timeline/view';
import { h, refill, svg } from '../ui/dom';
import { percent, quantity } from '../ui/units';

export interface Counter {
  track: Track;
  title: string;
  capacity: number | null;
  peak: number | null;
  flag: string;
}

const kHeight = 100;
const kTop = 16;
const kBottom = 18;

export class OccupancyChart {
  readonly root: HTMLElement;
  private readonly plot = svg('svg', { class: 'plot', height: kHeight, role: 'img' });
  private readonly words = h('span', { class: 'quiet' });

  constructor(
    private readonly app: AppView,
    private readonly counter: Counter,
  ) {
    this.plot.setAttribute('aria-label', `${counter.title} over time`);
    this.root = h(
      'figure',
      { class: 'chart' },
      h('figcaption', {}, h('strong', {}, counter.title), this.words),
      this.plot,
    );
    this.plot.addEventListener('wheel', (event) => this.wheel(event as WheelEvent), {
      passive: false,
    });
    this.plot.addEventListener('click', (event) => {
      const view = this.view;
      const time = ticksAt(view, this.width, (event as MouseEvent).offsetX);
      const half = (view.end - view.begin) / 8;
      this.app.go('timeline', {
        view: clampView({ begin: time - half, end: time + half }, this.bounds),
      });
    });
    new ResizeObserver(() => this.draw()).observe(this.root);
  }

  private get bounds(): { begin: number; end: number } {
    return { begin: 0, end: this.app.run.index.end };
  }

  private get view(): { begin: number; end: number } {
    return clampView(this.app.state.view ?? this.bounds, this.bounds);
  }

  private get width(): number {
    return Math.max(60, Math.floor(this.root.clientWidth || 400));
  }

  private wheel(event: WheelEvent): void {
    if (!event.ctrlKey && !event.shiftKey && Math.abs(event.deltaY) < 1) return;
    event.preventDefault();
    this.app.set({
      view: zoomAt(
        this.view,
        this.bounds,
        event.offsetX / this.width,
        Math.exp(event.deltaY * 0.002),
      ),
    });
  }

  draw(): void {
    if (!this.root.isConnected || this.root.clientWidth === 0) return;
    const { run } = this.app;
    const { track, capacity } = this.counter;
    const width = this.width;
    const area = fillArea(run.tiles, track, this.view, width);
    const peak = area.peak();
    const recorded = Math.max(0, Math.min(width, area.heldFrom)); // then it is only held
    // With a capacity that is far away the line is out of sight, and the words say how far.
    const near = capacity !== null && capacity > 0 && peak > capacity * 0.2;
    const top = near ? capacity : Math.max(peak * 1.15, 1e-9);
    const y = (value: number): number =>
      kTop + (1 - Math.max(0, value) / top) * (kHeight - kTop - kBottom);
    const unit = track.unitOfValue;
    const share = capacity ? `, ${percent(peak / capacity)} of ${quantity(capacity, unit)}` : '';
    this.words.textContent =
      `peak ${quantity(peak, unit)}${share}` + (area.complete ? '' : ' · loading');
    this.plot.setAttribute('width', String(width));
    this.plot.setAttribute('viewBox', `0 0 ${width} ${kHeight}`);
    const ticks = axisTicks(
      { index: run.index, absolute: this.app.state.absolute },
      this.view,
      width,
    );
    refill(
      this.plot,
      svg('path', { class: 'most', d: outline(area.most, y, y(0)) }),
      svg('path', { class: 'least', d: outline(area.least.subarray(0, recorded), y, y(0)) }),
      ...ticks.flatMap((tick) => {
        const x = xOf(this.view, width, tick.ticks);
        return [
          svg('line', { class: 'tick', x1: x, x2: x, y1: y(0), y2: y(0) + 4 }),
          x < width - 50
            ? svg('text', { class: 'label', x: x + 3, y: kHeight - 5 }, tick.text)
            : null,
        ];
      }),
      svg('line', { class: 'tick', x1: 0, x2: width, y1: y(0), y2: y(0) }),
      near
        ? svg('line', {
            class: peak >= capacity ? 'limit reached' : 'limit',
            x1: 0,
            x2: width,
            y1: y(capacity),
            y2: y(capacity),
          })
        : null,
      near
        ? svg(
            'text',
            { class: 'label', x: width - 4, y: y(capacity) - 4, 'text-anchor': 'end' },
            `capacity ${quantity(capacity, unit)}`,
          )
        : null,
    );
  }
}

function outline(values: Float64Array, y: (value: number) => number, zero: number): string {
  const parts: string[] = [];
  let open = false;
  for (let x = 0; x < values.length; x++) {
    if (Number.isNaN(values[x])) {
      if (open) parts.push(`V${zero.toFixed(1)}`);
      open = false;
      continue;
    }
    if (!open) parts.push(`M${x} ${zero.toFixed(1)}`);
    open = true;
    if (x === 0 || values[x] !== values[x - 1]) parts.push(`V${y(values[x]).toFixed(1)}`);
    parts.push(`H${x + 1}`);
  }
  if (open) parts.push(`V${zero.toFixed(1)}`);
  return parts.join('');
}
