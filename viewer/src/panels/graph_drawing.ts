// SPDX-License-Identifier: Apache-2.0
// A neighbourhood of the task graph as a drawing: a box for each task, a curve for each edge.
import type { AppView } from '../app/app_view';
import { fitting } from '../timeline/scene';
import { svg } from '../ui/dom';
import { count, duration, taskText } from '../ui/units';
import type { Neighbourhood, Node } from './graph_layers';

const kWide = 144;
const kTall = 40;
const kApartX = 164;
const kApartY = 86;

type Side = 'before' | 'after';
type Expand = (id: string, side: Side) => void;

// `left` and `top` are where the drawing begins, seen from the middle of the centre's box.
export function drawGraph(
  app: AppView,
  near: Neighbourhood,
  centre: string,
  expand: Expand,
): { element: SVGElement; left: number; top: number } {
  const xs = near.nodes.map((node) => node.x);
  const left = Math.min(...xs) * kApartX - kWide / 2 - 12;
  const right = Math.max(...xs) * kApartX + kWide / 2 + 12;
  const top = near.layers.first * kApartY - kTall / 2 - 26;
  const bottom = near.layers.last * kApartY + kTall / 2 + 26;
  const at = new Map(near.nodes.map((node) => [node.id, node]));
  const scale = window.innerWidth >= 1900 ? 1.3 : 1; // as letters are
  const element = svg('svg', {
    viewBox: `${left} ${top} ${right - left} ${bottom - top}`,
    width: (right - left) * scale,
    height: (bottom - top) * scale,
    role: 'group',
    'aria-label': 'Tasks around it',
  });
  for (const edge of joined(near.edges)) {
    const from = at.get(edge.from);
    const to = at.get(edge.to);
    if (from && to) element.append(...edgeOf(from, to, centre, edge.words));
  }
  for (const node of near.nodes) element.append(nodeOf(app, node, centre, expand));
  return { element, left: left * scale, top: top * scale };
}

// Several arguments between two tasks are one arrow.
function joined(edges: Neighbourhood['edges']): { from: string; to: string; words: string }[] {
  const pairs = new Map<string, { from: string; to: string; words: string }>();
  for (const { from, to, reason, argument } of edges) {
    const words = [reason, argument !== null ? `argument ${argument}` : '']
      .filter((word) => word)
      .join(', ');
    const pair = pairs.get(`${from} ${to}`);
    if (pair) pair.words += `\n${words}`;
    else pairs.set(`${from} ${to}`, { from, to, words });
  }
  return [...pairs.values()];
}

function edgeOf(from: Node, to: Node, centre: string, words: string): SVGElement[] {
  const x0 = from.x * kApartX;
  const y0 = from.layer * kApartY + kTall / 2;
  const x1 = to.x * kApartX;
  const y1 = to.layer * kApartY - kTall / 2;
  const bend = Math.max(18, (y1 - y0) / 2);
  const own = from.id === centre || to.id === centre;
  const path = svg('path', {
    class: own ? 'edge own' : 'edge',
    d: `M${x0} ${y0}C${x0} ${y0 + bend} ${x1} ${y1 - bend} ${x1} ${y1}`,
  });
  path.append(svg('title', {}, words));
  return [path, svg('path', { class: own ? 'head own' : 'head', d: `M${x1} ${y1}l-3.5 -7h7z` })];
}

function nodeOf(app: AppView, node: Node, centre: string, expand: Expand): SVGElement {
  const x = node.x * kApartX - kWide / 2;
  const y = node.layer * kApartY - kTall / 2;
  const { task } = node;
  const run = app.run;
  const time =
    task && task.start !== null && task.end !== null
      ? duration(run.ns(task.end - task.start))
      : task && task.complete !== null
        ? '' // it has no kernel
        : 'not run';
  const group = svg('g', {
    class: `node${node.id === centre ? ' centre' : ''}${task?.critical ? ' critical' : ''}`,
    tabindex: 0,
    role: 'button',
    'aria-label': `${task?.text ?? node.id} ${task?.kernel ?? ''}`,
  });
  const choose = (): void => {
    if (node.id !== centre) app.selectTask(node.id);
  };
  group.addEventListener('click', choose);
  group.addEventListener('keydown', (event) => {
    if ((event as KeyboardEvent).key === 'Enter') choose();
  });
  group.append(
    svg('rect', { class: 'box', x, y, width: kWide, height: kTall, rx: 4 }),
    svg('rect', {
      x,
      y,
      width: 5,
      height: kTall,
      rx: 2,
      fill: task ? app.colors.ofText(task.kernel) : '#888888',
    }),
    svg(
      'text',
      { class: 'name', x: x + 12, y: y + 16 },
      fitting(task?.text ?? taskText(node.id), kWide - 20, 7),
    ),
    svg(
      'text',
      { class: 'what', x: x + 12, y: y + 31 },
      fitting(
        task ? [task.kernel, time].filter((word) => word).join(' · ') : 'not recorded',
        kWide - 16,
        5.8,
      ),
    ),
    svg(
      'title',
      {},
      `${task?.text ?? node.id} ${task?.kernel ?? ''} ${time}` +
        (task?.critical ? ', on the critical path' : ''),
    ),
  );
  if (node.moreBefore > 0) group.append(moreOf(node, 'before', y - 7, expand));
  if (node.moreAfter > 0) group.append(moreOf(node, 'after', y + kTall + 15, expand));
  return group;
}

function moreOf(node: Node, side: Side, y: number, expand: Expand): SVGElement {
  const number = side === 'before' ? node.moreBefore : node.moreAfter;
  const text = svg(
    'text',
    {
      class: 'more',
      x: node.x * kApartX - kWide / 2 + 1,
      y,
      tabindex: 0,
      role: 'button',
    },
    `+${count(number)} ${side}`,
  );
  const open = (event: Event): void => {
    event.stopPropagation();
    expand(node.id, side);
  };
  text.addEventListener('click', open);
  text.addEventListener('keydown', (event) => {
    if ((event as KeyboardEvent).key === 'Enter') open(event);
  });
  return text;
}
