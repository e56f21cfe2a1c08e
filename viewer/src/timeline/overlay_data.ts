// SPDX-License-Identifier: Apache-2.0
// What the overlay of the timeline needs of the documents: edges of a task, the critical path, and
// tasks that never returned.
import type { Run } from '../app/run';
import * as shape from '../codec/shape';
import type { Json } from '../codec/shape';
import type { GraphTask } from '../tiles/graph_store';
import { ticksOf } from './axis';
import type { OverlayInput, PathStep, Stuck } from './overlay';

const kMostEdges = 150;

// Null: the graph does not know the task.
export async function edgesOf(
  run: Run,
  task: string,
): Promise<Pick<OverlayInput, 'task' | 'producers' | 'consumers'> | null> {
  const own = await run.graph.find(task);
  if (!own) return null;
  const all = async (ids: string[]): Promise<GraphTask[]> => {
    const found = await Promise.all(
      [...new Set(ids)].slice(0, kMostEdges).map((id) => run.graph.find(id)),
    );
    return found.filter((one): one is GraphTask => one !== null);
  };
  const producers = await all(own.pred.map((edge) => edge.task));
  return { task: own, producers, consumers: await all(own.succ) };
}

export async function pathAndStuck(run: Run): Promise<Pick<OverlayInput, 'path' | 'stuck'>> {
  const read = async (name: string): Promise<Json> =>
    shape.record(run.index.documents.has(name) ? await run.documents.get(`doc/${name}`) : null);
  const path = shape.record((await read('overview')).critical_path);
  return {
    path: shape.records(path.steps).map(stepOf),
    stuck: stuckOf(run, await read('hang')),
  };
}

function stepOf(step: Json): PathStep {
  return {
    task: shape.text(step.task),
    track: shape.maybe(step.track),
    start: shape.maybe(step.start),
    end: shape.maybe(step.end),
  };
}

function stuckOf(run: Run, hang: Json): Stuck[] {
  return shape.records(hang.stuck).flatMap((one) => {
    const core = shape.maybe(one.core);
    const track = run.index.tracks.find(
      (own) => own.kind === 'core' && own.unit === `core ${core}`,
    );
    if (!track || one.since_ns === undefined) return [];
    return [
      {
        track: track.id,
        begin: run.index.launch + ticksOf(run.index, shape.number(one.since_ns)),
        text: `${shape.text(one.task)} never returned`,
      },
    ];
  });
}
