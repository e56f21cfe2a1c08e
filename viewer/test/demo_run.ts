// SPDX-License-Identifier: Apache-2.0
// A run that never was: tasks of four kernels in chains on some cores, with schedulers, scopes,
// counters, losses and a NaN. The same seed gives the same run.
import type { SampleRow, SpanRow } from './encode';

export interface DemoOptions {
  seed: number;
  cores: number;
  tasks: number;
  lossy: boolean;
  nan: boolean;
  hang: boolean;
  slower: number; // kernels take so many times longer
}

export const kDemo: DemoOptions = {
  seed: 7,
  cores: 12,
  tasks: 6000,
  lossy: true,
  nan: true,
  hang: false,
  slower: 1,
};

export interface DemoTask {
  number: number;
  id: bigint;
  kernel: number;
  core: number;
  submit: number;
  ready: number;
  start: number;
  end: number;
  complete: number;
  pred: number[];
  succ: number[];
  critical: boolean;
}

export interface DemoRun {
  options: DemoOptions;
  tasks: DemoTask[];
  end: number;
  launch: number;
  cores: SpanRow[][];
  orchestrator: SpanRow[];
  scheduler: SpanRow[];
  scopes: SpanRow[];
  window: SampleRow[];
  heap: SampleRow[];
  losses: SpanRow[];
  marks: SpanRow[];
  path: DemoTask[];
}

export const kNames = [
  'qk',
  'sf',
  'pv',
  'up',
  'submit',
  'wait',
  'dispatch',
  'complete',
  'poll',
  'paged_attention.h:61',
  'paged_attention.h:83',
  'no free page',
  'overwritten',
  'recorder stall',
  'block done',
];
export const kNameKinds = [
  'kernel',
  'kernel',
  'kernel',
  'kernel',
  'phase',
  'phase',
  'phase',
  'phase',
  'phase',
  'site',
  'site',
  'reason',
  'reason',
  'reason',
  'mark',
];

export function random(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const kMeans = [111000, 24000, 71000, 18000];

export function demoRun(options: DemoOptions): DemoRun {
  const next = random(options.seed);
  const launch = 5000;
  const tasks: DemoTask[] = [];
  const free = new Array<number>(options.cores).fill(launch + 20000);
  let submit = launch + 9000;
  for (let number = 0; number < options.tasks; number++) {
    const kernel = number % 4;
    const pred: number[] = [];
    if (kernel > 0) pred.push(number - 1);
    else if (number >= 64 && next() < 0.6) pred.push(number - 64 + 3);
    submit += 3000 + Math.floor(next() * 2500) + (number % 1500 === 1499 ? 900000 : 0);
    const done = Math.max(0, ...pred.map((one) => tasks[one].complete));
    const ready = Math.max(submit + 900, done);
    const half = Math.max(1, options.cores / 2);
    const low = kernel % 2 === 0 ? 0 : half;
    let core = low;
    for (let i = low; i < Math.min(options.cores, low + half); i++)
      if (free[i] < free[core]) core = i;
    core = Math.min(options.cores - 1, Math.floor(core));
    const start = Math.max(ready + 1500, free[core] + 400);
    const slow = number === Math.floor(options.tasks * 0.62) ? 9 : 1;
    const length = Math.floor(kMeans[kernel] * options.slower * slow * (0.85 + 0.4 * next()));
    const end = start + length;
    free[core] = end;
    const task: DemoTask = {
      number,
      id: (1n << 32n) | BigInt(number),
      kernel,
      core,
      submit,
      ready,
      start,
      end,
      complete: end + 1200,
      pred,
      succ: [],
      critical: false,
    };
    for (const one of pred) tasks[one].succ.push(number);
    tasks.push(task);
  }
  const path = pathOf(tasks);
  const end = tasks.reduce((most, task) => Math.max(most, task.complete), 0) + 4000;
  return { options, tasks, end, launch, path, ...tracksOf(options, tasks, launch, end, next) };
}

function pathOf(tasks: DemoTask[]): DemoTask[] {
  const path: DemoTask[] = [];
  let at: DemoTask | undefined = tasks.reduce((a, b) => (b.complete > a.complete ? b : a));
  while (at) {
    path.unshift(at);
    at.critical = true;
    const late: DemoTask[] = at.pred.map((one) => tasks[one]);
    const own: DemoTask = at;
    const before = lastBefore(tasks, own);
    at =
      late.find((task) => task.complete >= own.ready) ??
      (before && before.end > own.ready ? before : late[0]);
  }
  return path;
}

function lastBefore(tasks: DemoTask[], own: DemoTask): DemoTask | undefined {
  for (let i = own.number - 1; i >= 0; i--) {
    if (tasks[i].core === own.core && tasks[i].end <= own.start) return tasks[i];
  }
  return undefined;
}

function tracksOf(
  options: DemoOptions,
  tasks: DemoTask[],
  launch: number,
  end: number,
  next: () => number,
): Omit<DemoRun, 'options' | 'tasks' | 'end' | 'launch' | 'path'> {
  const bad = options.nan ? Math.floor(options.tasks / 3) : -1;
  const cores: SpanRow[][] = Array.from({ length: options.cores }, () => []);
  for (const task of tasks) {
    cores[task.core].push({
      begin: task.start,
      length: task.end - task.start,
      name: task.kernel,
      task: task.id,
      flags: task.number === bad ? 1 : 0,
    });
  }
  const orchestrator = tasks.map(
    (task): SpanRow => ({ begin: task.submit, length: 2600, name: 4, task: task.id }),
  );
  const scheduler = tasks.flatMap((task): SpanRow[] => [
    { begin: task.ready, length: 700, name: 6, aux: 1 },
    { begin: task.end + 300, length: 800, name: 7, aux: 1 },
  ]);
  const scopes: SpanRow[] = [
    { begin: launch + 4000, length: end - launch - 6000, name: 9, row: 0 },
  ];
  for (let i = 0; i + 64 <= tasks.length; i += 64) {
    const last = tasks[i + 63];
    scopes.push({
      begin: tasks[i].submit - 500,
      length: last.submit - tasks[i].submit + 3500,
      name: 10,
      row: 1,
    });
  }
  const events = tasks
    .flatMap((task) => [
      { time: task.submit, by: 1 },
      { time: task.complete, by: -1 },
    ])
    .sort((a, b) => a.time - b.time);
  let live = 0;
  const window = events.map(({ time, by }) => ({ time, value: (live += by) }));
  const heap = window.map(({ time, value }) => ({ time, value: value * 65536 + 4096 }));
  const losses: SpanRow[] = options.lossy
    ? [
        { begin: Math.floor(end * 0.31), length: Math.floor(end * 0.011), name: 11, aux: 37 },
        { begin: Math.floor(end * 0.705), length: Math.floor(end * 0.0004), name: 12, aux: 4 },
        { begin: Math.floor(end * 0.5), length: Math.floor(end * 0.003), name: 13, aux: 0 },
      ]
    : [];
  const marks = Array.from(
    { length: 24 },
    (): SpanRow => ({
      begin: Math.floor(next() * end),
      length: 0,
      name: 14,
      aux: Math.floor(next() * 50) * 2,
    }),
  );
  return { cores, orchestrator, scheduler, scopes, window, heap, losses, marks };
}
