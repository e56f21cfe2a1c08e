// SPDX-License-Identifier: Apache-2.0
// A whole tile set of a demo run: every kind of track and every document.
import {
  coreTrack,
  hang,
  idText,
  overview,
  scopes,
  taskName,
  type DemoTrack,
} from './demo_documents';
import { demoRun, kDemo, kNameKinds, kNames, type DemoOptions, type DemoRun } from './demo_run';
import { kShift, pack, packJson, packSampleTrack, packSpanTrack, type Blobs } from './encode';

const kPage = 2048;
const kLevels = 10;

export function demoSet(change: Partial<DemoOptions> = {}): Blobs {
  const run = demoRun({ ...kDemo, ...change });
  const blobs: Blobs = new Map();
  const tracks = tracksOf(run);
  tracks.forEach((track, id) => {
    if (track.samples) packSampleTrack(blobs, id, track.samples, kLevels);
    else packSpanTrack(blobs, id, track.spans ?? [], kLevels);
  });
  const documents = [
    'overview',
    'scopes',
    'graph',
    'tensors',
    ...(run.options.hang ? ['hang'] : []),
  ];
  packJson(blobs, 'doc/overview', overview(run, tracks));
  packJson(blobs, 'doc/scopes', scopes(run, tracks));
  if (run.options.hang) packJson(blobs, 'doc/hang', hang(run));
  packGraph(blobs, run, tracks);
  const tensors = packTensors(blobs, run);
  const lost = run.losses.reduce((sum, span) => sum + (span.aux ?? 0), 0);
  const produced = run.tasks.length * 2 + lost;
  blobs.set(
    'index.json',
    Buffer.from(
      JSON.stringify({
        format: 'tidemark-tiles',
        version: 1,
        run: {
          workload: 'paged_attention',
          case: 'Demo',
          platform: 'sim',
          status: run.options.hang ? 'hang' : 'ok',
          device_ns: run.end - run.launch,
          loss_known: true,
          recorder: { ns_per_record: 1.08, device_stall_share: 0.002 },
          streams: {
            swimlane: {
              produced,
              delivered: produced - lost,
              recovered: 0,
              dropped: lost - 4,
              overwritten: Math.min(4, lost),
            },
          },
        },
        title: 'paged_attention Demo on sim',
        ticks_per_second: 1e9,
        launch: run.launch,
        end: run.end,
        level_count: kLevels,
        shift: kShift,
        names: kNames,
        name_kinds: kNameKinds,
        tracks: tracks.map((track, id) => ({
          id,
          kind: track.kind,
          name: track.name,
          unit: track.unit ?? '',
          core_type: track.coreType ?? '',
          values: track.samples ? 'samples' : 'spans',
          count: (track.samples ?? track.spans ?? []).length,
          rows: track.rows ?? 1,
          parent: track.parent ?? null,
          unit_of_value: track.unitOfValue ?? '',
        })),
        documents,
        tasks: run.tasks.length,
        tensors,
        kept_payloads: tensors,
        payload_note: '',
        progress: { complete: true, records_done: 1, records: 1, sketch_only: false },
        missing: {
          produced,
          delivered: produced - lost,
          recovered: 0,
          dropped: Math.max(0, lost - 4),
          overwritten: Math.min(4, lost),
        },
      }),
    ),
  );
  return blobs;
}

function tracksOf(run: DemoRun): DemoTrack[] {
  const tracks: DemoTrack[] = [
    { kind: 'orchestrator', name: 'orchestrator', spans: run.orchestrator },
    { kind: 'scopes', name: 'scopes', spans: run.scopes, rows: 2 },
    { kind: 'scheduler', name: 'scheduler 0', spans: run.scheduler },
  ];
  run.cores.forEach((spans, core) => {
    const aic = core < run.options.cores / 2;
    const id = tracks.length;
    tracks.push({
      kind: 'core',
      name: `core ${core} (${aic ? 'aic' : 'aiv'})`,
      spans,
      unit: `core ${core}`,
      coreType: aic ? 'aic' : 'aiv',
    });
    if (core === 3 && run.losses.length > 0) {
      tracks.push({ kind: 'loss', name: 'losses of core 3', spans: run.losses, parent: id });
    }
    if (core === 1) tracks.push({ kind: 'marks', name: 'marks', spans: run.marks, parent: id });
  });
  tracks.push({ kind: 'counter', name: 'task window of ring 1', samples: run.window });
  tracks.push({ kind: 'counter', name: 'heap of ring 1', samples: run.heap, unitOfValue: 'bytes' });
  return tracks;
}

function packGraph(blobs: Blobs, run: DemoRun, tracks: DemoTrack[]): void {
  const index: unknown[] = [];
  const first: unknown[] = [];
  for (let page = 0; page * kPage < run.tasks.length; page++) {
    const tasks = run.tasks.slice(page * kPage, (page + 1) * kPage);
    index.push([idText(tasks[0].id), idText(tasks[tasks.length - 1].id), page]);
    first.push({ task: idText(tasks[0].id) });
    packJson(blobs, `graph/${page}`, {
      tasks: tasks.map((task) => ({
        id: idText(task.id),
        text: taskName(task),
        kernel: kNames[task.kernel],
        site: 'paged_attention.h:97',
        scope: 'paged_attention.h:83',
        track: coreTrack(tracks, task.core),
        submit: task.submit,
        ready: task.ready,
        start: task.start,
        end: task.end,
        complete: task.complete,
        critical: task.critical,
        pred: task.pred.map((one) => [idText(run.tasks[one].id), 0, 'creator']),
        succ: task.succ.map((one) => idText(run.tasks[one].id)),
      })),
    });
  }
  packJson(blobs, 'doc/graph', {
    complete: true,
    tasks: run.tasks.length,
    page: kPage,
    first,
    index,
  });
}

function packTensors(blobs: Blobs, run: DemoRun): number {
  const bad = Math.floor(run.options.tasks / 3);
  const picked = [bad - 1, bad, bad + 1].filter((one) => one >= 0 && one < run.tasks.length);
  const rows: unknown[] = [];
  for (const number of picked) {
    const task = run.tasks[number];
    for (const stage of ['before_dispatch', 'after_completion']) {
      const values = new Float32Array(48 * 64);
      const shift = stage === 'after_completion' ? 1 : 0;
      for (let i = 0; i < values.length; i++) {
        values[i] = Math.sin(i / 64 / 6) * Math.cos((i % 64) / 9) + shift + number / 1e6;
      }
      const nan = run.options.nan && number >= bad && stage === 'after_completion' ? 1 : 0;
      if (nan) values[1000] = NaN;
      const row = rows.length;
      pack(blobs, `payload/${row}`, Buffer.from(values.buffer));
      rows.push({
        row,
        task: idText(task.id),
        text: taskName(task),
        kernel: kNames[task.kernel],
        role: stage === 'before_dispatch' ? 'input' : 'output',
        stage,
        arg: 0,
        kind: 'tensor',
        dtype: 'float32',
        shape: [48, 64],
        strides: [256, 1],
        start_offset: 64 + 256 * 16,
        buffer: '12',
        buffer_elements: 256 * 96,
        time: task.start,
        core: task.core,
        stats: {
          min: -1,
          max: 1 + shift,
          mean: shift,
          l2: 30.5,
          nan,
          inf: 0,
          zero: 3,
          hash: `0x${(number * 977 + shift * 31 + nan).toString(16).padStart(16, '0')}`,
        },
        payload: true,
        bytes: values.byteLength,
      });
    }
    rows.push({
      row: rows.length,
      task: idText(task.id),
      text: taskName(task),
      kernel: kNames[task.kernel],
      role: 'input',
      stage: 'before_dispatch',
      arg: 2,
      kind: 'scalar',
      dtype: 'float32',
      shape: [],
      strides: [],
      start_offset: 0,
      buffer: null,
      time: task.start,
      core: task.core,
      stats: null,
      value: '0.125',
      payload: false,
      bytes: 0,
    });
  }
  packJson(blobs, 'tensors/0', { rows });
  packJson(blobs, 'doc/tensors', {
    rows: rows.length,
    page: kPage,
    nan_first: run.options.nan ? 4 : null,
    index: [[idText(run.tasks[picked[0]].id), idText(run.tasks[picked[picked.length - 1]].id), 0]],
  });
  return rows.length;
}
