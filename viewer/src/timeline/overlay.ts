// SPDX-License-Identifier: Apache-2.0
// What lies over the spans: the selected one, its edges, the critical path, the measured range.
import type { GraphTask } from '../tiles/graph_store';
import { nsOf } from './axis';
import type { SceneInput } from './scene';
import type { Lane } from './lanes';
import type { Painter } from '../ui/painter';
import { hex } from '../ui/palette';
import { duration } from '../ui/units';
import { xOf, type View } from './view';

const kMostJoined = 60;

export interface PathStep {
  task: string;
  track: number | null;
  start: number | null;
  end: number | null;
}

// A task that never returned: it has no span, and goes on to the end.
export interface Stuck {
  track: number;
  begin: number;
  text: string;
}

export interface OverlayInput {
  stuck: Stuck[];
  selected: { track: number | null; begin: number; end: number } | null;
  task: GraphTask | null;
  producers: GraphTask[];
  consumers: GraphTask[];
  path: PathStep[];
  measured: View | null;
}

export function drawOverlay(painter: Painter, input: SceneInput, overlay: OverlayInput): void {
  const width = input.width - input.measures.gutter;
  painter.clip(
    input.measures.gutter,
    input.measures.axis,
    width,
    input.height - input.measures.axis,
    () => {
      for (const stuck of overlay.stuck) drawStuck(painter, input, stuck);
      drawPath(painter, input, overlay.path);
      drawEdges(painter, input, overlay);
      drawSelected(painter, input, overlay);
    },
  );
  if (overlay.measured) drawMeasured(painter, input, overlay.measured);
}

function laneOf(input: SceneInput, track: number | null): Lane | null {
  return track === null ? null : (input.layout.byTrack.get(track) ?? null);
}

function topOf(input: SceneInput, lane: Lane): number {
  return input.measures.axis + lane.y - input.scroll;
}

function place(input: SceneInput, ticks: number): number {
  const x = xOf(input.view, input.width - input.measures.gutter, ticks);
  // Far outside is as good as outside: drawings keep to small numbers.
  return input.measures.gutter + Math.max(-2000, Math.min(input.width + 2000, x));
}

function drawStuck(painter: Painter, input: SceneInput, stuck: Stuck): void {
  const lane = laneOf(input, stuck.track);
  if (!lane) return;
  const x0 = place(input, stuck.begin);
  const y = topOf(input, lane);
  const width = input.width - x0 + 4;
  painter.rect(x0, y, width, lane.height - 1, input.theme.bad, 0.25);
  painter.frame(x0, y + 0.5, width, lane.height - 2, input.theme.bad, 1.5);
  // In front of the bar where the bar has no room for the words.
  const words = stuck.text.length * 6.4;
  const inside = input.width - x0 > words + 12;
  const from = inside ? x0 + 6 : x0 - 6;
  if (!inside)
    painter.rect(from - words, y + 1, words + 2, lane.height - 3, hex(input.theme.page), 0.85);
  painter.text(from, y + lane.height / 2 + 4, stuck.text, {
    color: input.theme.bad,
    bold: true,
    align: inside ? 'left' : 'right',
  });
}

function drawSelected(painter: Painter, input: SceneInput, overlay: OverlayInput): void {
  const { selected } = overlay;
  const lane = selected ? laneOf(input, selected.track) : null;
  if (!selected || !lane) return;
  const x0 = place(input, selected.begin);
  const x1 = Math.max(place(input, selected.end), x0 + 2);
  const y = topOf(input, lane);
  painter.rect(x0, input.measures.axis, 1, input.height, input.theme.accent, 0.35);
  painter.frame(x0 - 1, y - 0.5, x1 - x0 + 2, lane.height, input.theme.accent, 2);
}

function drawPath(painter: Painter, input: SceneInput, path: PathStep[]): void {
  const { view, theme } = input;
  const inView = path.filter(
    (step) =>
      step.start !== null && step.end !== null && step.end >= view.begin && step.start <= view.end,
  ).length;
  // Lines from step to step, while there are few enough to follow.
  const joined = inView <= kMostJoined;
  let last: [number, number] | null = null;
  const drawn = new Map<Lane, number>();
  for (const step of path) {
    const lane = laneOf(input, step.track);
    if (!lane || step.start === null || step.end === null) continue;
    const x0 = place(input, step.start);
    const x1 = Math.max(place(input, step.end), x0 + 1);
    const bottom = topOf(input, lane) + lane.height - 1;
    const seen = step.end >= view.begin && step.start <= view.end;
    if (seen && x1 > (drawn.get(lane) ?? -1)) {
      painter.rect(x0, bottom - 2.5, x1 - x0, 2.5, theme.accent);
      drawn.set(lane, x1);
    }
    if (
      joined &&
      last &&
      x0 - last[0] < 3000 &&
      (seen || last[0] > input.measures.gutter) &&
      x0 - last[0] > 3
    ) {
      painter.line([last[0], last[1], x0, bottom - 1], theme.accent, 1, [2, 3]);
    }
    last = [x1, bottom - 1];
  }
}

function drawEdges(painter: Painter, input: SceneInput, overlay: OverlayInput): void {
  const { task } = overlay;
  if (!task || task.start === null || task.end === null) return;
  const own = laneOf(input, task.track);
  if (!own) return;
  const middle = topOf(input, own) + own.height / 2;
  const arrow = (from: GraphTask | null, to: GraphTask | null, latest: boolean): void => {
    const other = from ?? to;
    const lane = other ? laneOf(input, other.track) : null;
    if (!other || !lane || other.start === null || other.end === null) return;
    const y = topOf(input, lane) + lane.height / 2;
    const color = from ? input.theme.accent : input.theme.faint;
    const [x0, y0] = from ? [place(input, other.end), y] : [place(input, task.end ?? 0), middle];
    const [x1, y1] = from
      ? [place(input, task.start ?? 0), middle]
      : [place(input, other.start), y];
    painter.curve(x0, y0, x1, y1, color, latest ? 2 : 1.25, from ? [] : [4, 3]);
    painter.area([x1, y1, x1 - 7, y1 - 3.5, x1 - 7, y1 + 3.5], color);
  };
  const latest = overlay.producers.reduce<GraphTask | null>(
    (best, one) => ((one.complete ?? -1) > (best?.complete ?? -1) ? one : best),
    null,
  );
  for (const producer of overlay.producers) arrow(producer, null, producer === latest);
  for (const consumer of overlay.consumers) arrow(null, consumer, false);
}

function drawMeasured(painter: Painter, input: SceneInput, measured: View): void {
  const { theme, height } = input;
  const x0 = place(input, Math.min(measured.begin, measured.end));
  const x1 = place(input, Math.max(measured.begin, measured.end));
  painter.clip(input.measures.gutter, 0, input.width - input.measures.gutter, height, () => {
    painter.rect(
      x0,
      input.measures.axis,
      x1 - x0,
      height - input.measures.axis,
      theme.accent,
      0.14,
    );
    painter.line([x0, input.measures.axis, x0, height], theme.accent, 1);
    painter.line([x1, input.measures.axis, x1, height], theme.accent, 1);
    const ns = nsOf(input.run.index, Math.abs(measured.end - measured.begin));
    const text = input.clock.absolute
      ? `${Math.round(Math.abs(measured.end - measured.begin))} ticks`
      : duration(ns, 4);
    const middle = Math.max(input.measures.gutter + 40, Math.min(input.width - 40, (x0 + x1) / 2));
    const half = text.length * 3.6 + 6;
    painter.rect(middle - half, input.measures.axis + 5, 2 * half, 18, theme.accent);
    painter.text(middle, input.measures.axis + 18, text, {
      color: theme.dark ? '#10151c' : '#ffffff',
      align: 'center',
      bold: true,
    });
  });
}
