// SPDX-License-Identifier: Apache-2.0
// Numbers, tasks, colours and addresses as text; comparing runs; elements of tensors.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromAddress, kNothing, toAddress, type State } from '../src/app/selection';
import { alignSteps } from '../src/panels/compare_paths';
import { findDivergence } from '../src/panels/divergence';
import { elementsOf, half, histogram, rangeOf, sliceOf } from '../src/panels/elements';
import { kMostNodes, neighbourhood } from '../src/panels/graph_layers';
import { readSetup } from '../src/source/setup';
import { pagesOf, type GraphTask } from '../src/tiles/graph_store';
import type { TensorRow } from '../src/tiles/tensor_store';
import { escapeXml, SvgPainter } from '../src/ui/painter';
import { kHues, slots } from '../src/ui/palette';
import { bytes, duration, moment, parseTask, percent, taskText } from '../src/ui/units';

test('Duration.AlwaysHasItsUnit', () => {
  assert.equal(duration(0), '0 ns');
  assert.equal(duration(999), '999 ns');
  assert.equal(duration(70800), '70.8 µs');
  assert.equal(duration(1640000000), '1.64 s');
  assert.equal(duration(NaN), '?');
  assert.equal(moment(1234567, 1000), '1.235 ms');
  assert.equal(percent(0.0012), '0.1 %');
  assert.equal(percent(0.0004), '< 0.1 %');
  assert.equal(percent(0), '0 %');
  assert.equal(bytes(1536), '1.50 KiB');
});

test('Task.IsWrittenAsTheCommandLineWritesIt', () => {
  for (const [id, text] of [
    ['0x000000000000000c', 't12'],
    ['0x0000000100000003', 'r1t3'],
    ['0x0000000500000003', 'r1t3l1'],
  ]) {
    assert.equal(taskText(id), text);
    assert.equal(parseTask(text), id);
  }
  assert.equal(parseTask('0xC'), '0x000000000000000c');
  for (const bad of ['', 'x', 'r4t1', 't', 'r1', 't99999999999', '0x', 't1l99999999999']) {
    assert.equal(parseTask(bad), null, bad);
  }
});

test('Address.HoldsTheWholeState', () => {
  const state: State = {
    ...kNothing,
    panel: 'timeline',
    task: '0x0000000100000003',
    track: 4,
    begin: 10,
    end: 20,
    kernel: 'a & <b>=#',
    site: 'f.h:83',
    tensor: 7,
    view: { begin: -5, end: 100 },
    theme: 'dark',
    absolute: true,
  };
  assert.deepEqual(fromAddress(toAddress(state), 'overview'), state);
  assert.deepEqual(fromAddress('', 'hang'), { ...kNothing, panel: 'hang' });
  const odd = fromAddress('#panel=nope&task=<b>&track=-1&view=9..1&span=x&theme=pink', 'overview');
  assert.deepEqual(odd, kNothing);
});

test('Setup.ChoosesRunsOnlyByPlainPrefixes', () => {
  assert.deepEqual(readSetup('{"way":"embedded","run":"","other":"other/"}', '?run=evil/'), {
    way: 'embedded',
    run: '',
    other: 'other/',
    runs: null,
  });
  assert.deepEqual(readSetup('{"way":"served","runs":"runs.json"}', '?run=run/3/&other=run/4/'), {
    way: 'served',
    run: 'run/3/',
    other: 'run/4/',
    runs: 'runs.json',
  });
  assert.equal(readSetup('{"way":"served"}', '?run=//host/').run, '');
  assert.equal(readSetup('{{setup}}', '').way, 'site');
});

test('Colour.OfANameIsItsOwn', () => {
  const one = slots(['qk', 'sf', 'pv', 'up']);
  const two = slots(['up', 'pv', 'sf', 'qk', 'qk']);
  assert.deepEqual([...one].sort(), [...two].sort());
  assert.equal(new Set(one.values()).size, 4);
  const many = slots(Array.from({ length: 10000 }, (_, i) => `kernel ${i}`));
  assert.ok([...many.values()].every((slot) => slot >= 0 && slot < kHues.length));
});

test('Svg.HoldsTextAsText', () => {
  const svg = new SvgPainter(10, 10);
  svg.text(1, 2, '<script>alert("x")</script>&\u0000\u001b', { color: '"/><script>' });
  const markup = svg.finish();
  assert.ok(!markup.includes('<script'));
  assert.ok(!/[\u0000-\u0008]/.test(markup));
  assert.equal(escapeXml('a\ud800b'), 'a\ufffdb');
});

function row(task: number, stage: string, arg: number, hash: string, value = ''): TensorRow {
  return {
    row: task * 10 + arg,
    task: `0x${task.toString(16).padStart(16, '0')}`,
    text: `t${task}`,
    kernel: 'k',
    role: '',
    stage,
    arg,
    kind: value ? 'scalar' : 'tensor',
    dtype: 'float32',
    shape: [4],
    strides: [1],
    startOffset: 0,
    buffer: null,
    bufferElements: null,
    time: null,
    core: null,
    track: null,
    value,
    payload: false,
    bytes: 16,
    remarks: [],
    stats: value ? null : { min: 0, max: 1, mean: 0, l2: 1, nan: 0, inf: 0, zero: 0, hash },
  };
}

test('Divergence.NamesTheTaskThatMadeIt', () => {
  const run = (bad: number): TensorRow[] =>
    [0, 1, 2, 3].flatMap((task) => [
      row(task, 'before_dispatch', 0, task > bad ? 'y' : 'x'),
      row(task, 'after_completion', 1, task >= bad ? 'y' : 'x'),
    ]);
  const found = findDivergence(run(2), run(9));
  assert.equal(found.differing[0].text, 't2');
  assert.equal(found.maker?.text, 't2');
  assert.equal(found.differingTasks, 2);
  assert.equal(findDivergence(run(9), run(9)).differing.length, 0);
});

test('Divergence.CountsWhatCannotBeCompared', () => {
  const here = [row(0, 'before_dispatch', 0, ''), row(1, 'before_dispatch', 2, '', '5')];
  const there = [
    row(0, 'before_dispatch', 0, ''),
    row(1, 'before_dispatch', 2, '', '6'),
    row(2, 'before_dispatch', 0, 'x'),
  ];
  const found = findDivergence(here, there);
  assert.equal(found.compared, 1);
  assert.equal(found.differing[0].text, 't1');
  assert.equal(found.maker, null);
  assert.equal(found.onlyThere, 1);
});

test('Paths.AreAlignedByTask', () => {
  const steps = (...ids: string[]): { task: string }[] => ids.map((task) => ({ task }));
  const rows = alignSteps(steps('a', 'b', 'd'), steps('x', 'a', 'c', 'd', 'e'));
  assert.deepEqual(
    rows.map((one) => [one.task, !!one.a, !!one.b]),
    [
      ['x', false, true],
      ['a', true, true],
      ['b', true, false],
      ['c', false, true],
      ['d', true, true],
      ['e', false, true],
    ],
  );
});

test('Elements.OfEveryTypeAreRead', () => {
  const float = new Uint8Array(new Float32Array([1.5, NaN]).buffer);
  assert.deepEqual([...(elementsOf(float, 'float32') ?? [])], [1.5, NaN]);
  assert.deepEqual([...(elementsOf(Uint8Array.from([0x80, 0x3f]), 'bfloat16') ?? [])], [1]);
  assert.deepEqual([half(0x3c00), half(0xfc00), half(0x0001)], [1, -Infinity, 2 ** -24]);
  assert.deepEqual([...(elementsOf(Uint8Array.from([255]), 'int8') ?? [])], [-1]);
  assert.equal(elementsOf(float, 'strange'), null);
  assert.equal(elementsOf(Uint8Array.from([1, 2, 3]), 'float32')?.length, 0);
});

test('Slice.HoldsTheOuterDimensions', () => {
  const all = Float64Array.from({ length: 24 }, (_, i) => i);
  const slice = sliceOf(all, [2, 3, 4], [1]);
  assert.deepEqual(
    [slice.rows, slice.columns, slice.values[0], slice.values.length],
    [3, 4, 12, 12],
  );
  assert.equal(sliceOf(all, [24], []).rows, 1);
  assert.deepEqual([sliceOf(new Float64Array(1024), [1024], []).columns], [32]);
  const range = rangeOf(Float64Array.from([1, NaN, 3, Infinity]));
  assert.deepEqual([range.least, range.most, range.nan, range.inf], [1, 3, 1, 1]);
  assert.deepEqual([...histogram(Float64Array.from([1, 2, 3, NaN]), range, 2)], [1, 2]);
});

const kTask: GraphTask = {
  id: '',
  text: 't',
  kernel: 'k',
  site: '',
  scope: '',
  track: null,
  submit: 0,
  ready: 0,
  dispatch: 0,
  start: 0,
  end: 1,
  complete: 1,
  critical: false,
  pred: [],
  succ: [],
};

test('Graph.NeighbourhoodIsNeverMoreThanAScreen', async () => {
  const id = (n: number): string => `0x${n.toString(16).padStart(16, '0')}`;
  const find = (task: string): Promise<GraphTask> => {
    const n = Number(task);
    const near = Array.from({ length: 40 }, (_, i) => id(n + i + 1));
    return Promise.resolve({
      ...kTask,
      id: task,
      text: `t${n}`,
      pred: Array.from({ length: 40 }, (_, i) => ({
        task: id(Math.max(0, n - i - 1)),
        argument: 0,
        reason: '',
        early: false,
      })),
      succ: near,
    });
  };
  const near = await neighbourhood(
    find,
    id(5000),
    { before: new Set([id(5000)]), after: new Set() },
    4,
  );
  assert.ok(near.nodes.length > 20 && near.nodes.length <= kMostNodes, `${near.nodes.length}`);
  assert.equal(new Set(near.nodes.map((node) => node.id)).size, near.nodes.length);
  assert.ok(near.nodes[0].moreAfter > 0);
});

test('Graph.ATaskIsAboveAllThatWaitForIt', async () => {
  // 4 waits for 3, 2 and 1; 3 for 2; 2 for 1: all are one step from 4, and a chain.
  const producers: Record<string, string[]> = { d: ['c', 'b', 'a'], c: ['b'], b: ['a'], a: [] };
  const find = (task: string): Promise<GraphTask> =>
    Promise.resolve({
      ...kTask,
      id: task,
      pred: producers[task].map((one) => ({ task: one, argument: 0, reason: '', early: false })),
      succ: Object.keys(producers).filter((one) => producers[one].includes(task)),
    });
  for (const centre of ['d', 'a', 'b']) {
    const none = { before: new Set<string>(), after: new Set<string>() };
    const near = await neighbourhood(find, centre, none, 2);
    const layer = new Map(near.nodes.map((node) => [node.id, node.layer]));
    assert.equal(layer.get(centre), 0);
    for (const edge of near.edges) {
      assert.ok((layer.get(edge.from) ?? 0) < (layer.get(edge.to) ?? 0), `around ${centre}`);
    }
  }
});

test('Graph.PageOfATaskIsFoundByItsId', () => {
  const about = {
    index: [
      ['0x0000000000000000', '0x00000000000007ff', 0],
      ['0x0000000100000000', '0x0000000100000123', 0],
      ['0x0000000000000800', '0x0000000000000fff', 1],
    ],
  };
  assert.deepEqual(pagesOf(about, '0x0000000000000801'), [1]);
  assert.deepEqual(pagesOf(about, '0x0000000100000005'), [0]);
  assert.deepEqual(pagesOf(about, '0x0000000200000005'), []);
  assert.deepEqual(pagesOf({ tasks: 5000, page: 2048 }, 'x'), [0, 1, 2]);
});
