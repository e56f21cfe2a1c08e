// SPDX-License-Identifier: Apache-2.0
// The documents of a demo run that are read whole: overview, scopes, hang.
import { kNames, type DemoRun, type DemoTask } from './demo_run';
import type { SampleRow, SpanRow } from './encode';

export function idText(id: bigint): string {
  return `0x${id.toString(16).padStart(16, '0')}`;
}

export function taskName(task: DemoTask): string {
  return `r1t${task.number}`;
}

export interface DemoTrack {
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

export function coreTrack(tracks: DemoTrack[], core: number): number {
  return tracks.findIndex((track) => track.unit === `core ${core}`);
}

export function overview(run: DemoRun, tracks: DemoTrack[]): unknown {
  const kernels = [0, 1, 2, 3].map((kernel) => {
    const times = run.tasks
      .filter((task) => task.kernel === kernel)
      .map((task) => task.end - task.start);
    const total = times.reduce((a, b) => a + b, 0);
    return {
      name: kNames[kernel],
      count: times.length,
      total_ns: total,
      mean_ns: total / Math.max(1, times.length),
      least_ns: times.reduce((a, b) => Math.min(a, b)),
      most_ns: times.reduce((a, b) => Math.max(a, b)),
    };
  });
  const slowest = [...run.tasks].sort((a, b) => b.end - b.start - (a.end - a.start)).slice(0, 10);
  const row = (task: DemoTask): Record<string, unknown> => ({
    task: idText(task.id),
    text: taskName(task),
    kernel: kNames[task.kernel],
    core: task.core,
    track: coreTrack(tracks, task.core),
    start: task.start,
    end: task.end,
    block: 0,
  });
  const steps = run.path.map((task) => ({
    ...row(task),
    execution_ns: task.end - task.start,
    core_wait_ns: Math.max(0, task.start - task.ready - 1500),
    scheduler_ns: 2700,
    orchestrator_ns: task.pred.length === 0 ? 4000 : 0,
  }));
  const sum = (key: 'execution_ns' | 'core_wait_ns' | 'scheduler_ns' | 'orchestrator_ns'): number =>
    steps.reduce((all, step) => all + step[key], 0);
  const bad = run.tasks[Math.floor(run.options.tasks / 3)];
  const findings = [
    ...(run.options.hang
      ? [
          {
            severity: 'bad',
            text:
              'The run hung: core 1 has been in kernel `pv` ' + 'for 11.4 s; 5 tasks wait for it',
            link: { panel: 'hang' },
          },
        ]
      : []),
    ...(run.options.lossy
      ? [
          {
            severity: 'bad',
            text:
              '41 records of core 3 are missing: 37 found ' + 'no free page, 4 were overwritten',
            link: {
              panel: 'timeline',
              track: 6,
              time: Math.floor(run.end * 0.31),
              end: Math.floor(run.end * 0.32),
            },
          },
        ]
      : []),
    ...(run.options.nan
      ? [
          {
            severity: 'bad',
            text: `The first NaN was written by ${taskName(bad)} ` + `${kNames[bad.kernel]}`,
            link: { panel: 'tensors', task: idText(bad.id), row: 3 },
          },
        ]
      : []),
    {
      severity: 'warn',
      text:
        'Closest to its limit: the heap of ring 1 (81 %), in the scope at ' +
        'paged_attention.h:83; raise --ring-heap',
      link: { panel: 'scopes', site: 'paged_attention.h:83' },
    },
    {
      severity: 'note',
      text: `The slowest task is ${taskName(slowest[0])} ` + `${kNames[slowest[0].kernel]}`,
      link: {
        panel: 'timeline',
        task: idText(slowest[0].id),
        time: slowest[0].start,
        end: slowest[0].end,
        track: coreTrack(tracks, slowest[0].core),
      },
    },
  ];
  return {
    findings,
    kernels,
    slowest: slowest.map(row),
    core_types: ['aic', 'aiv'].map((type, i) => ({
      type,
      cores: run.options.cores / 2,
      busy_ns: 1,
      share: i ? 0.31 : 0.78,
    })),
    starvation: [{ type: 'aiv', total_ns: 480000, core_ns: 900000, share: 0.03 }],
    critical_path: {
      length_ns: run.end - run.launch,
      execution_ns: sum('execution_ns'),
      core_wait_ns: sum('core_wait_ns'),
      scheduler_ns: sum('scheduler_ns'),
      orchestrator_ns: sum('orchestrator_ns'),
      steps,
    },
    losses: run.losses.map((span) => ({
      stream: 'swimlane',
      lane: 9,
      producer: 'core 3',
      track: 7,
      lost: span.aux,
      reason: kNames[span.name],
      from: span.begin,
      to: span.begin + span.length,
    })),
  };
}

export function scopes(run: DemoRun, tracks: DemoTrack[]): unknown {
  const peak = run.window.reduce((most, one) => Math.max(most, one.value), 0);
  const counter = (name: string): number => tracks.findIndex((track) => track.name === name);
  const capacity = Math.ceil(peak / 0.81);
  return {
    fatal: false,
    resources: [
      {
        resource: 'task window of ring 1',
        ring: 1,
        peak,
        capacity,
        percent: (100 * peak) / capacity,
        site: 'paged_attention.h:83',
        flag: '--ring-task-window',
        needed: peak,
      },
      {
        resource: 'heap of ring 1',
        ring: 1,
        peak: peak * 65536,
        capacity: capacity * 65536,
        percent: (100 * peak) / capacity,
        site: 'paged_attention.h:83',
        flag: '--ring-heap',
        needed: peak * 65536,
      },
      {
        resource: 'tensor map',
        ring: null,
        peak: 128,
        capacity: 65536,
        percent: 0.2,
        site: 'paged_attention.h:61',
        flag: '--tensormap-pool',
        needed: 128,
      },
    ],
    sites: [
      {
        site: 'paged_attention.h:61',
        depth: 0,
        ring: 0,
        count: 1,
        total_ns: run.end,
        longest_ns: run.end,
        percent: 0.3,
        closest: 'tensor map',
        parent: null,
      },
      {
        site: 'paged_attention.h:83',
        depth: 1,
        ring: 1,
        count: run.scopes.length - 1,
        total_ns: run.end,
        longest_ns: 900000,
        percent: 81,
        closest: 'heap of ring 1',
        parent: 0,
      },
    ],
    smallest_settings: `--ring-task-window 4,${peak},4,4 --ring-heap 1024,${peak * 65536},1024,1024`,
    counters: [
      {
        track: counter('task window of ring 1'),
        resource: 'task window of ring 1',
        ring: 1,
        capacity,
      },
      {
        track: counter('heap of ring 1'),
        resource: 'heap of ring 1',
        ring: 1,
        capacity: capacity * 65536,
      },
    ],
  };
}

export function hang(run: DemoRun): unknown {
  const stuck = run.tasks[run.tasks.length - 8];
  const since = stuck.start - run.launch;
  const sentence =
    `core ${stuck.core} has been in kernel \`pv\` of task ${taskName(stuck)} ` +
    '(paged_attention.h:97) for 11.4 s; 5 tasks wait for it';
  const waiters = [1, 2, 3, 4, 5].map((i) => taskName({ ...stuck, number: stuck.number + i }));
  return {
    class: 'running stalled',
    code: 100,
    name: 'SCHEDULER_TIMEOUT',
    message: sentence,
    sentence,
    detected_ns: 11400000000,
    submitted: run.tasks.length,
    completed: run.tasks.length - 6,
    stuck: [
      {
        task_id: idText(stuck.id),
        task: taskName(stuck),
        kernel: 'pv',
        core: stuck.core,
        since_ns: since,
        for_ns: 11400000000,
        site: 'paged_attention.h:97',
        waits_for: [`core ${stuck.core} to return from its kernel`],
        waiters,
      },
    ],
    chain: [
      `${taskName(stuck)} pv`,
      ...waiters.map((one) => `${one} up`),
      'orchestrator waits for the last task',
    ],
    orchestrator: {
      state: 'waiting',
      left: true,
      since_ns: 90167,
      for_ns: 11300000000,
      last_submitted: 'r1t5999',
      last_site: 'paged_attention.h:99',
      done: true,
      blocked: '',
    },
    cores: Array.from({ length: run.options.cores }, (_, core) => ({
      core,
      core_type: core < run.options.cores / 2 ? 'aic' : 'aiv',
      state: core === stuck.core ? 'busy' : 'idle',
      left: core !== stuck.core,
      since_ns: since,
      for_ns: 11400000000,
      task: core === stuck.core ? taskName(stuck) : null,
      kernel: core === stuck.core ? 'pv' : null,
      last_records:
        core === stuck.core
          ? run.tasks
              .filter((task) => task.core === core)
              .slice(-4)
              .map((task) => ({
                task: taskName(task),
                kernel: kNames[task.kernel],
                block: 0,
                start_ns: task.start,
                end_ns: task.end,
              }))
          : [],
    })),
    schedulers: [
      {
        scheduler: 0,
        state: 'busy',
        left: true,
        since_ns: 889,
        for_ns: 11300000000,
        loops: 126,
        completed: 12,
        ready: 0,
        running: 1,
        waiting: 5,
      },
    ],
    rings: [0, 1, 2, 3].map((ring) => ({
      ring,
      tasks: ring === 1 ? 13 : 0,
      task_window: 16384,
      heap: ring === 1 ? 212992 : 0,
      heap_bytes: 268435456,
      dep_pool_used: 12,
      dep_pool: 16384,
    })),
    recorder: { waiting_lanes: 0, unit_wait_ns: 0 },
    text: `100 SCHEDULER_TIMEOUT: running stalled, after 11.4 s\nwhat       ${sentence}\n`,
  };
}
