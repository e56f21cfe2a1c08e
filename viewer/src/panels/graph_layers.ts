// SPDX-License-Identifier: Apache-2.0
// The tasks around one task, in layers: who it waits for above, who waits for it below. Never more
// than a screen of them; what is left out is counted at the node that leads there.
import type { GraphTask } from '../tiles/graph_store';

export const kMostNodes = 60;
const kMostPerLayer = 9;

export interface Node {
  id: string;
  task: GraphTask | null; // null: not recorded
  layer: number; // 0: the selected one, negative: before it
  x: number; // in its layer
  moreBefore: number;
  moreAfter: number;
}

export interface Neighbourhood {
  nodes: Node[];
  edges: { from: string; to: string; argument: number | null; reason: string }[];
  layers: { first: number; last: number };
}

export async function neighbourhood(
  find: (task: string) => Promise<GraphTask | null>,
  centre: string,
  expanded: { before: Set<string>; after: Set<string> },
  depth: number,
): Promise<Neighbourhood> {
  const nodes = new Map<string, Node>();
  const add = async (id: string, layer: number): Promise<Node> => {
    const task = await find(id);
    const node: Node = { id, task, layer, x: 0, moreBefore: 0, moreAfter: 0 };
    nodes.set(id, node);
    return node;
  };
  const first = await add(centre, 0);
  for (const side of [-1, 1] as const) {
    let front = [first];
    for (let step = 1; step <= 8 && front.length > 0; step++) {
      const next: Node[] = [];
      for (const node of front) {
        const open = side < 0 ? expanded.before : expanded.after;
        if (step > depth && !open.has(node.id)) continue;
        for (const id of neighboursOf(node.task, side)) {
          const most = open.has(node.id) ? 3 * kMostPerLayer : kMostPerLayer;
          if (nodes.has(id) || nodes.size >= kMostNodes || next.length >= most) continue;
          next.push(await add(id, side * step));
        }
      }
      front = next;
    }
  }
  deepen(nodes, centre);
  return arrange(nodes);
}

const kMostLayers = 12;

// A task is above all that wait for it, also where it is one step from the selected one, too. In
// bounds: a dense graph would become a tower.
function deepen(nodes: Map<string, Node>, centre: string): void {
  for (const side of [-1, 1]) {
    const own = [...nodes.values()].filter((node) => Math.sign(node.layer) === side);
    for (let round = 0; round < kMostLayers; round++) {
      let moved = false;
      for (const node of own) {
        for (const id of neighboursOf(node.task, side < 0 ? -1 : 1)) {
          const next = nodes.get(id);
          if (!next || id === centre || Math.sign(next.layer) !== side) continue;
          const layer = node.layer + side;
          if (Math.abs(layer) <= Math.abs(next.layer) || Math.abs(layer) > kMostLayers) continue;
          next.layer = layer;
          moved = true;
        }
      }
      if (!moved) break;
    }
  }
}

function neighboursOf(task: GraphTask | null, side: -1 | 1): string[] {
  if (!task) return [];
  return side < 0 ? [...new Set(task.pred.map((edge) => edge.task))] : [...new Set(task.succ)];
}

function arrange(nodes: Map<string, Node>): Neighbourhood {
  const edges: Neighbourhood['edges'] = [];
  for (const node of nodes.values()) {
    for (const edge of node.task?.pred ?? []) {
      if (nodes.has(edge.task)) edges.push({ ...edge, from: edge.task, to: node.id });
    }
    const hidden = (ids: string[]): number => ids.filter((id) => !nodes.has(id)).length;
    node.moreBefore = hidden(neighboursOf(node.task, -1));
    node.moreAfter = hidden(neighboursOf(node.task, 1));
  }
  const layers = new Map<number, Node[]>();
  for (const node of nodes.values()) {
    layers.set(node.layer, [...(layers.get(node.layer) ?? []), node]);
  }
  const numbers = [...layers.keys()].sort((a, b) => a - b);
  for (const layer of layers.values()) place(layer);
  // Each layer in the order of where its neighbours are: a few rounds undo most crossings.
  for (let round = 0; round < 4; round++) {
    for (const number of round % 2 ? [...numbers].reverse() : numbers) {
      const layer = layers.get(number) ?? [];
      const middle = new Map(layer.map((node) => [node.id, middleOf(node, edges, nodes)]));
      layer.sort((a, b) => (middle.get(a.id) ?? 0) - (middle.get(b.id) ?? 0));
      place(layer);
    }
  }
  return {
    nodes: [...nodes.values()],
    edges,
    layers: { first: numbers[0] ?? 0, last: numbers[numbers.length - 1] ?? 0 },
  };
}

function place(layer: Node[]): void {
  layer.forEach((node, i) => (node.x = i - (layer.length - 1) / 2));
}

function middleOf(node: Node, edges: Neighbourhood['edges'], nodes: Map<string, Node>): number {
  let sum = 0;
  let found = 0;
  for (const edge of edges) {
    const other = edge.from === node.id ? edge.to : edge.to === node.id ? edge.from : null;
    const one = other === null ? undefined : nodes.get(other);
    if (!one || one.layer === node.layer) continue;
    sum += one.x;
    found++;
  }
  return found > 0 ? sum / found : node.x;
}
