// SPDX-License-Identifier: Apache-2.0
// Wheel, drags and keys of the timeline, as people know them from other viewers of traces.
import { pan, ticksAt, zoomAt, type Bounds, type View } from './view';

export interface HandsOf {
  canvas: HTMLCanvasElement;
  map: HTMLCanvasElement;
  left: () => number; // where the spans begin
  view(): View;
  bounds(): Bounds;
  moveTo(view: View): void;
  scrollBy(pixels: number): void;
  measure(range: View | null): void;
  point(x: number, y: number): void; // x < 0: nothing is pointed at
  click(x: number, y: number): void;
  fit(): void;
}

const kClickPixels = 4;
// Keys that are held move this part of the view in a second.
const kPanPerSecond = 1.1;
const kZoomPerSecond = 3.5;
const kMoves: Record<string, string> = {
  w: 'in',
  s: 'out',
  a: 'left',
  d: 'right',
  ArrowLeft: 'left',
  ArrowRight: 'right',
  '+': 'in',
  '=': 'in',
  '-': 'out',
};

export class Hands {
  private drag: { x: number; y: number; view: View; measure: boolean; moved: boolean } | null =
    null;
  private readonly held = new Set<string>();
  private lastFrame = 0;
  private pointer = 0.5;

  constructor(private readonly of: HandsOf) {
    const { canvas, map } = of;
    canvas.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    map.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    canvas.addEventListener('pointerdown', (event) => this.down(event));
    canvas.addEventListener('pointermove', (event) => this.move(event));
    canvas.addEventListener('pointerup', (event) => this.up(event));
    canvas.addEventListener('pointercancel', () => (this.drag = null));
    canvas.addEventListener('pointerleave', () => of.point(-1, -1));
    canvas.addEventListener('dblclick', () => of.fit());
    map.addEventListener('pointerdown', (event) => {
      map.setPointerCapture(event.pointerId);
      this.centre(event);
    });
    map.addEventListener('pointermove', (event) => {
      if (event.buttons & 1) this.centre(event);
    });
    window.addEventListener('blur', () => this.held.clear());
  }

  private get width(): number {
    return Math.max(1, this.of.canvas.clientWidth - this.of.left());
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 18 : event.deltaMode === 2 ? 400 : 1;
    if (event.offsetX < this.of.left() || event.altKey) {
      this.of.scrollBy(event.deltaY * lines);
      return;
    }
    const across = event.shiftKey ? event.deltaY + event.deltaX : event.deltaX;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      this.of.moveTo(pan(this.of.view(), this.of.bounds(), (across * lines) / this.width));
      return;
    }
    const at = (event.offsetX - this.of.left()) / this.width;
    const factor = Math.exp(Math.max(-1, Math.min(1, event.deltaY * lines * 0.002)));
    this.of.moveTo(zoomAt(this.of.view(), this.of.bounds(), at, factor));
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.of.canvas.setPointerCapture(event.pointerId);
    this.drag = {
      x: event.offsetX,
      y: event.offsetY,
      view: this.of.view(),
      measure: event.shiftKey,
      moved: false,
    };
  }

  private move(event: PointerEvent): void {
    this.pointer = Math.max(0, Math.min(1, (event.offsetX - this.of.left()) / this.width));
    const drag = this.drag;
    if (!drag) {
      this.of.point(event.offsetX, event.offsetY);
      return;
    }
    const dx = event.offsetX - drag.x;
    const dy = event.offsetY - drag.y;
    if (!drag.moved && Math.hypot(dx, dy) < kClickPixels) return;
    if (!drag.moved) this.of.point(-1, -1);
    drag.moved = true;
    if (drag.measure) {
      this.of.measure({
        begin: ticksAt(drag.view, this.width, drag.x - this.of.left()),
        end: ticksAt(drag.view, this.width, event.offsetX - this.of.left()),
      });
      return;
    }
    this.of.moveTo(pan(drag.view, this.of.bounds(), -dx / this.width));
    this.of.scrollBy(-event.movementY);
  }

  private up(event: PointerEvent): void {
    const drag = this.drag;
    this.drag = null;
    if (drag && !drag.moved) this.of.click(event.offsetX, event.offsetY);
  }

  // The minimap: what was clicked comes into the middle.
  private centre(event: PointerEvent): void {
    const bounds = this.of.bounds();
    const view = this.of.view();
    const part = (event.offsetX - this.of.left()) / this.width;
    const middle = bounds.begin + part * (bounds.end - bounds.begin);
    const by = (middle - (view.begin + view.end) / 2) / (view.end - view.begin);
    this.of.moveTo(pan(view, bounds, by));
  }

  // True: the key moves the view. Held keys move it until they are let go.
  keyDown(event: KeyboardEvent): boolean {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
      this.of.scrollBy(event.key === 'ArrowDown' ? 40 : -40);
      return true;
    }
    const move = kMoves[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!move) return false;
    const idle = this.held.size === 0;
    this.held.add(move);
    if (idle) {
      this.lastFrame = performance.now() - 16;
      requestAnimationFrame((now) => this.step(now));
    }
    return true;
  }

  keyUp(event: KeyboardEvent): void {
    const move = kMoves[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (move) this.held.delete(move);
  }

  private step(now: number): void {
    const seconds = Math.min(0.1, Math.max(0.008, (now - this.lastFrame) / 1000));
    this.lastFrame = now;
    let view = this.of.view();
    const bounds = this.of.bounds();
    const across = (this.held.has('right') ? 1 : 0) - (this.held.has('left') ? 1 : 0);
    const zoom = (this.held.has('out') ? 1 : 0) - (this.held.has('in') ? 1 : 0);
    if (across) view = pan(view, bounds, across * kPanPerSecond * seconds);
    if (zoom) view = zoomAt(view, bounds, this.pointer, kZoomPerSecond ** (zoom * seconds));
    if (across || zoom) this.of.moveTo(view);
    if (this.held.size > 0) requestAnimationFrame((next) => this.step(next));
  }
}
