// SPDX-License-Identifier: Apache-2.0
// A whole tile set of a demo run: every kind of track and every document.
import { packJson, packSampleTrack, packSpanTrack, pack, kShift, type Blobs, type SpanRow,
  type SampleRow } from './encode';
import { demoRun, kDemo, kNameKinds, kNames, type DemoOptions, type DemoRun, type DemoTask,
} from './demo_run';

const kPage = 2048;
const kLevels = 10;

export function idText(id: bigint): string {
  return `0x${id.toString(16).padStart(16, '0')}`;
}

export function taskName(task: DemoTask): string {
  return `r1t${task.number}`;
}

interface DemoTrack {
  kind: string;
  name: string;
  spans?: SpanRow[];
  samples?: SampleRow[];
  rows?: number;
  parent?: number;
  unit?: string;
  coreType?: string;
  unitOfValue?: string;
}

export function demoSet(change: Partial<DemoOptions> = {}): Blobs {
  const run = demoRun({ ...kDemo, ...change });
  const blobs: Blobs = new Map();
  const tracks = tracksOf(run);
  tracks.forEach((track, id) => {
    if (track.samples) packSampleTrack(blobs, id, track.samples, kLevels);
    else packSpanTrack(blobs, id, track.spans ?? [], kLevels);
  });
  const documents = ['overview', 'scopes', 'graph', 'tensors', ...(run.options.hang ? ['hang'] : [])];
  packJson(blobs, 'doc/overview', overview(run, tracks));
  packJson(blobs, 'doc/scopes', scopes(run, tracks));
  if (run.options.hang) packJson(blobs, 'doc/hang', hang(run));
  packGraph(blobs, run, tracks);
  const tensors = packTensors(blobs, run);
  const lost = run.losses.reduce((sum, span) => sum + (span.aux ?? 0), 0);
  const produced = run.tasks.length * 2 + lost;
  blobs.set('index.json', Buffer.from(JSON.stringify({
    format: 'tidemark-tiles', version: 1,
    run: {
      workload: 'paged_attention', case: 'Demo', platform: 'sim',
      status: run.options.hang ? 'hang' : 'ok', device_ns: run.end - run.launch, loss_known: true,
      recorder: { ns_per_record: 1.08, device_stall_share: 0.002 },
      streams: { swimlane: { produced, delivered: produced - lost, recovered: 0, dropped: lost - 4,
        overwritten: Math.min(4, lost) } },
    },
    title: 'paged_attention Demo on sim', ticks_per_second: 1e9, launch: run.launch, end: run.end,
    level_count: kLevels, shift: kShift, names: kNames, name_kinds: kNameKinds,
    tracks: tracks.map((track, id) => ({
      id, kind: track.kind, name: track.name, unit: track.unit ?? '', core_type: track.coreType ?? '',
      values: track.samples ? 'samples' : 'spans', count: (track.samples ?? track.spans ?? []).length,
      rows: track.rows ?? 1, parent: track.parent ?? null, unit_of_value: track.unitOfValue ?? '',
    })),
    documents, tasks: run.tasks.length, tensors, kept_payloads: tensors, payload_note: '',
    progress: { complete: true, records_done: 1, records: 1, sketch_only: false },
    missing: { produced, delivered: produced - lost, recovered: 0,
      dropped: Math.max(0, lost - 4), overwritten: Math.min(4, lost) },
  })));
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
    tracks.push({ kind: 'core', name: `core ${core} (${aic ? 'aic' : 'aiv'})`, spans,
      unit: `core ${core}`, coreType: aic ? 'aic' : 'aiv' });
    if (core === 3 && run.losses.length > 0) {
      tracks.push({ kind: 'loss', name: 'losses of core 3', spans: run.losses, parent: id });
    }
    if (core === 1) tracks.push({ kind: 'marks', name: 'marks', spans: run.marks, parent: id });
  });
  tracks.push({ kind: 'counter', name: 'task window of ring 1', samples: run.window });
  tracks.push({ kind: 'counter', name: 'heap of ring 1', samples: run.heap, unitOfValue: 'bytes' });
  return tracks;
}

function coreTrack(tracks: DemoTrack[], core: number): number {
  return tracks.findIndex((track) => track.unit === `core ${core}`);
}

function overview(run: DemoRun, tracks: DemoTrack[]): unknown {
  const kernels = [0, 1, 2, 3].map((kernel) => {
    const times = run.tasks.filter((task) => task.kernel === kernel)
      .map((task) => task.end - task.start);
    const total = times.reduce((a, b) => a + b, 0);
    return { name: kNames[kernel], count: times.length, total_ns: total,
      mean_ns: total / Math.max(1, times.length), least_ns: times.reduce((a, b) => Math.min(a, b)),
      most_ns: times.reduce((a, b) => Math.max(a, b)) };
  });
  const slowest = [...run.tasks].sort((a, b) => b.end - b.start - (a.end - a.start)).slice(0, 10);
  const row = (task: DemoTask): Record<string, unknown> => ({
    task: idText(task.id), text: taskName(task), kernel: kNames[task.kernel], core: task.core,
    track: coreTrack(tracks, task.core), start: task.start, end: task.end, block: 0,
  });
  const steps = run.path.map((task) => ({ ...row(task), execution_ns: task.end - task.start,
    core_wait_ns: Math.max(0, task.start - task.ready - 1500), scheduler_ns: 2700,
    orchestrator_ns: task.pred.length === 0 ? 4000 : 0 }));
  const sum = (key: 'execution_ns' | 'core_wait_ns' | 'scheduler_ns' | 'orchestrator_ns'): number =>
    steps.reduce((all, step) => all + step[key], 0);
  const bad = run.tasks[Math.floor(run.options.tasks / 3)];
  const findings = [
    ...(run.options.hang ? [{ severity: 'bad', text: 'The run hung: core 1 has been in kernel `pv` ' +
      'for 11.4 s; 5 tasks wait for it', link: { panel: 'hang' } }] : []),
    ...(run.options.lossy ? [{ severity: 'bad', text: '41 records of core 3 are missing: 37 found ' +
      'no free page, 4 were overwritten', link: { panel: 'timeline', track: 6,
      time: Math.floor(run.end * 0.31), end: Math.floor(run.end * 0.32) } }] : []),
    ...(run.options.nan ? [{ severity: 'bad', text: `The first NaN was written by ${taskName(bad)} ` +
      `${kNames[bad.kernel]}`, link: { panel: 'tensors', task: idText(bad.id), row: 3 } }] : []),
    { severity: 'warn', text: 'Closest to its limit: the heap of ring 1 (81 %), in the scope at ' +
      'paged_attention.h:83; raise --ring-heap', link: { panel: 'scopes',
      site: 'paged_attention.h:83' } },
    { severity: 'note', text: `The slowest task is ${taskName(slowest[0])} ` +
      `${kNames[slowest[0].kernel]}`, link: { panel: 'timeline', task: idText(slowest[0].id),
      time: slowest[0].start, end: slowest[0].end, track: coreTrack(tracks, slowest[0].core) } },
  ];
  return {
    findings, kernels, slowest: slowest.map(row),
    core_types: ['aic', 'aiv'].map((type, i) => ({ type, cores: run.options.cores / 2,
      busy_ns: 1, share: i ? 0.31 : 0.78 })),
    starvation: [{ type: 'aiv', total_ns: 480000, core_ns: 900000, share: 0.03 }],
    critical_path: { length_ns: run.end - run.launch, execution_ns: sum('execution_ns'),
      core_wait_ns: sum('core_wait_ns'), scheduler_ns: sum('scheduler_ns'),
      orchestrator_ns: sum('orchestrator_ns'), steps },
    losses: run.losses.map((span) => ({ stream: 'swimlane', lane: 9, producer: 'core 3', track: 7,
      lost: span.aux, reason: kNames[span.name], from: span.begin, to: span.begin + span.length })),
  };
}

function scopes(run: DemoRun, tracks: DemoTrack[]): unknown {
  const peak = run.window.reduce((most, one) => Math.max(most, one.value), 0);
  const counter = (name: string): number => tracks.findIndex((track) => track.name === name);
  const capacity = Math.ceil(peak / 0.81);
  return {
    fatal: false,
    resources: [
      { resource: 'task window of ring 1', ring: 1, peak, capacity, percent: (100 * peak) / capacity,
        site: 'paged_attention.h:83', flag: '--ring-task-window', needed: peak },
      { resource: 'heap of ring 1', ring: 1, peak: peak * 65536, capacity: capacity * 65536,
        percent: (100 * peak) / capacity, site: 'paged_attention.h:83', flag: '--ring-heap',
        needed: peak * 65536 },
      { resource: 'tensor map', ring: null, peak: 128, capacity: 65536, percent: 0.2,
        site: 'paged_attention.h:61', flag: '--tensormap-pool', needed: 128 },
    ],
    sites: [
      { site: 'paged_attention.h:61', depth: 0, ring: 0, count: 1, total_ns: run.end,
        longest_ns: run.end, percent: 0.3, closest: 'tensor map', parent: null },
      { site: 'paged_attention.h:83', depth: 1, ring: 1, count: run.scopes.length - 1,
        total_ns: run.end, longest_ns: 900000, percent: 81, closest: 'heap of ring 1', parent: 0 },
    ],
    smallest_settings: `--ring-task-window 4,${peak},4,4 --ring-heap 1024,${peak * 65536},1024,1024`,
    counters: [
      { track: counter('task window of ring 1'), resource: 'task window of ring 1', ring: 1, capacity },
      { track: counter('heap of ring 1'), resource: 'heap of ring 1', ring: 1,
        capacity: capacity * 65536 }],
  };
}

function hang(run: DemoRun): unknown {
  const stuck = run.tasks[run.tasks.length - 8];
  const since = stuck.start - run.launch;
  const sentence = `core ${stuck.core} has been in kernel \`pv\` of task ${taskName(stuck)} ` +
    '(paged_attention.h:97) for 11.4 s; 5 tasks wait for it';
  const waiters = [1, 2, 3, 4, 5].map((i) => taskName({ ...stuck, number: stuck.number + i }));
  return {
    class: 'running stalled', code: 100, name: 'SCHEDULER_TIMEOUT', message: sentence, sentence,
    detected_ns: 11400000000, submitted: run.tasks.length, completed: run.tasks.length - 6,
    stuck: [{ task_id: idText(stuck.id), task: taskName(stuck), kernel: 'pv', core: stuck.core,
      since_ns: since, for_ns: 11400000000, site: 'paged_attention.h:97',
      waits_for: [`core ${stuck.core} to return from its kernel`], waiters }],
    chain: [`${taskName(stuck)} pv`, ...waiters.map((one) => `${one} up`),
      'orchestrator waits for the last task'],
    orchestrator: { state: 'waiting', left: true, since_ns: 90167, for_ns: 11300000000,
      last_submitted: 'r1t5999', last_site: 'paged_attention.h:99', done: true, blocked: '' },
    cores: Array.from({ length: run.options.cores }, (_, core) => ({
      core, core_type: core < run.options.cores / 2 ? 'aic' : 'aiv',
      state: core === stuck.core ? 'busy' : 'idle', left: core !== stuck.core,
      since_ns: since, for_ns: 11400000000, task: core === stuck.core ? taskName(stuck) : null,
      kernel: core === stuck.core ? 'pv' : null,
      last_records: core === stuck.core ? run.tasks.filter((task) => task.core === core).slice(-4)
        .map((task) => ({ task: taskName(task), kernel: kNames[task.kernel], block: 0,
          start_ns: task.start, end_ns: task.end })) : [] })),
    schedulers: [{ scheduler: 0, state: 'busy', left: true, since_ns: 889, for_ns: 11300000000,
      loops: 126, completed: 12, ready: 0, running: 1, waiting: 5 }],
    rings: [0, 1, 2, 3].map((ring) => ({ ring, tasks: ring === 1 ? 13 : 0, task_window: 16384,
      heap: ring === 1 ? 212992 : 0, heap_bytes: 268435456, dep_pool_used: 12, dep_pool: 16384 })),
    recorder: { waiting_lanes: 0, unit_wait_ns: 0 },
    text: `100 SCHEDULER_TIMEOUT: running stalled, after 11.4 s\nwhat       ${sentence}\n`,
  };
}

function packGraph(blobs: Blobs, run: DemoRun, tracks: DemoTrack[]): void {
  const index: unknown[] = [];
  const first: unknown[] = [];
  for (let page = 0; page * kPage < run.tasks.length; page++) {
    const tasks = run.tasks.slice(page * kPage, (page + 1) * kPage);
    index.push([idText(tasks[0].id), idText(tasks[tasks.length - 1].id), page]);
    first.push({ task: idText(tasks[0].id) });
    packJson(blobs, `graph/${page}`, { tasks: tasks.map((task) => ({
      id: idText(task.id), text: taskName(task), kernel: kNames[task.kernel],
      site: 'paged_attention.h:97', scope: 'paged_attention.h:83',
      track: coreTrack(tracks, task.core), submit: task.submit, ready: task.ready,
      start: task.start, end: task.end, complete: task.complete, critical: task.critical,
      pred: task.pred.map((one) => [idText(run.tasks[one].id), 0, 'creator']),
      succ: task.succ.map((one) => idText(run.tasks[one].id)),
    })) });
  }
  packJson(blobs, 'doc/graph', { complete: true, tasks: run.tasks.length, page: kPage, first, index });
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
      rows.push({ row, task: idText(task.id), text: taskName(task), kernel: kNames[task.kernel],
        role: stage === 'before_dispatch' ? 'input' : 'output', stage, arg: 0, kind: 'tensor',
        dtype: 'float32', shape: [48, 64], strides: [256, 1], start_offset: 64 + 256 * 16,
        buffer: '12', buffer_elements: 256 * 96, time: task.start, core: task.core,
        stats: { min: -1, max: 1 + shift, mean: shift, l2: 30.5, nan, inf: 0, zero: 3,
          hash: `0x${(number * 977 + shift * 31 + nan).toString(16).padStart(16, '0')}` },
        payload: true, bytes: values.byteLength });
    }
    rows.push({ row: rows.length, task: idText(task.id), text: taskName(task),
      kernel: kNames[task.kernel], role: 'input', stage: 'before_dispatch', arg: 2, kind: 'scalar',
      dtype: 'float32', shape: [], strides: [], start_offset: 0, buffer: null, time: task.start,
      core: task.core, stats: null, value: '0.125', payload: false, bytes: 0 });
  }
  packJson(blobs, 'tensors/0', { rows });
  packJson(blobs, 'doc/tensors', { rows: rows.length, page: kPage,
    nan_first: run.options.nan ? 4 : null,
    index: [[idText(run.tasks[picked[0]].id), idText(run.tasks[picked[picked.length - 1]].id), 0]] });
  return rows.length;
}
