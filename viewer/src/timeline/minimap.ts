// SPDX-License-Identifier: Apache-2.0
// The whole run at the top: how many cores were busy, what is shown below, and where something is
// missing.
import type { Run } from '../app/run';
import { nameOf } from '../codec/index_file';
import { hex, mix, type Theme } from '../ui/palette';
import { kFont } from '../ui/painter';
import { isStall, type Measures } from './scene';
import { RowFiller } from './track_rows';
import { xOf, type View } from './view';

const kMostTracks = 512;
const kAgainMs = 150;

const kLost = 1;
const kStalled = 2;

function lossOf(run: Run, name: number): number {
  if (name < 0) return 0;
  return isStall(nameOf(run.index, name)) ? kStalled : kLost;
}

export class Minimap {
  private readonly filler = new RowFiller();
  private busy: Float64Array | null = null;
  private lost: Uint8Array = new Uint8Array(0);
  private units = 1;
  private complete = false;
  private made = 0;
  private end = 0; // of what it shows
  // What does not change while the view moves, drawn once.
  private readonly base = document.createElement('canvas');
  private baseOf: unknown[] = [];
  title = '';

  forget(): void {
    this.complete = false;
    this.made = 0;
  }

  get ready(): boolean {
    return this.complete;
  }

  draw(
    context: CanvasRenderingContext2D,
    run: Run,
    view: View,
    whole: View,
    theme: Theme,
    width: number,
    height: number,
    scale: number,
    measures: Measures,
  ): void {
    const left = measures.gutter;
    const columns = Math.max(1, Math.floor(width - left));
    this.gather(run, whole, columns);
    const of = [this.busy, theme, width, height, scale, measures.gutter];
    if (of.some((one, i) => one !== this.baseOf[i])) {
      this.baseOf = of;
      this.drawBase(theme, width, height, scale, measures, columns);
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.base, 0, 0);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    const x0 = left + Math.max(0, xOf(whole, columns, view.begin));
    const x1 = left + Math.min(columns, xOf(whole, columns, view.end));
    context.fillStyle = hex(theme.page);
    context.globalAlpha = 0.55;
    context.fillRect(left, 0, x0 - left, height);
    context.fillRect(x1, 0, width - x1, height);
    context.globalAlpha = 1;
    context.strokeStyle = theme.accent;
    context.lineWidth = 1.5;
    context.strokeRect(x0 + 0.5, 1, Math.max(3, x1 - x0 - 1), height - 2);
  }

  private drawBase(
    theme: Theme,
    width: number,
    height: number,
    scale: number,
    measures: Measures,
    columns: number,
  ): void {
    const left = measures.gutter;
    this.base.width = Math.round(width * scale);
    this.base.height = Math.round(height * scale);
    const context = this.base.getContext('2d');
    if (!context) return;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.fillStyle = hex(theme.page);
    context.fillRect(0, 0, width, height);
    context.textAlign = 'left';
    context.fillStyle = theme.text;
    context.font = `${measures.font}px ${kFont}`;
    context.fillText(this.title, 8, height / 2 - 2);
    context.fillStyle = theme.faint;
    context.font = `${measures.font - 1}px ${kFont}`;
    context.fillText(`of ${this.units}, whole run`, 8, height / 2 + measures.font);
    const busy = this.busy ?? new Float64Array(columns);
    context.fillStyle = hex(mix(theme.page, [68, 119, 170], 0.7));
    for (let x = 0; x < columns; x++) {
      const tall = (busy[x] / this.units) * (height - 4);
      if (tall > 0) context.fillRect(left + x, height - Math.max(1, tall), 1, Math.max(1, tall));
    }
    for (let x = 0; x < columns; x++) {
      if (!this.lost[x]) continue;
      context.fillStyle = hex(this.lost[x] & kLost ? theme.loss : theme.stall);
      for (let y = x % 4; y < height; y += 4) context.fillRect(left + x, y, 1, 2);
    }
  }

  // The busy shares of all cores, added up; again while tiles are still coming.
  private gather(run: Run, whole: View, columns: number): void {
    const fits = this.busy?.length === columns && this.end === whole.end;
    if (fits && this.complete) return;
    if (fits && performance.now() - this.made < kAgainMs) return;
    const tracks = run.index.tracks;
    const kind = ['core', 'lane', 'scheduler'].find((k) => tracks.some((one) => one.kind === k));
    const units = tracks.filter((one) => one.kind === kind && one.values === 'spans');
    const losses = tracks.filter((one) => one.kind === 'loss' && one.count > 0);
    const counted = units.slice(0, kMostTracks);
    this.units = Math.max(1, counted.length);
    this.title =
      counted.length < units.length
        ? `busy ${kind}s (first ${counted.length})`
        : `busy ${kind ?? 'unit'}s`;
    const busy = new Float64Array(columns);
    const lost = new Uint8Array(columns);
    this.end = whole.end;
    let complete = true;
    for (const track of [...counted, ...losses.slice(0, kMostTracks)]) {
      this.filler.beginFrame();
      const filled = this.filler.fill(run.tiles, track, whole, columns);
      complete &&= filled.complete;
      const row = filled.rows[0];
      for (let x = 0; x < columns; x++) {
        if (track.kind === 'loss') lost[x] |= lossOf(run, row.name[x]);
        else busy[x] += row.share[x];
      }
    }
    this.busy = busy;
    this.lost = lost;
    this.complete = complete;
    this.made = performance.now();
  }
}
