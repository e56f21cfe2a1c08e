// SPDX-License-Identifier: Apache-2.0
// The line that is always there: what ran, how it ended, whether anything is missing, and what
// recording cost.
import * as shape from '../codec/shape';
import { h, type Child } from '../ui/dom';
import { count, duration, percent } from '../ui/units';
import type { Run } from './run';

export function header(run: Run, extra: { problem: string; runs: boolean }): HTMLElement[] {
  const index = run.index;
  const status = statusOf(run);
  const good = status === 'ok' || status === 'running';
  const { text: time, hint } = timeOf(run);
  const parts: Child[] = [
    extra.runs
      ? h('a', { class: 'home', href: '?', title: 'All runs of this server' }, 'Runs')
      : null,
    h('strong', { class: 'title', title: index.title }, index.title),
    h('span', { class: `status ${good ? 'good' : 'bad'}` }, status),
    h('span', { title: hint }, time),
    h('span', { class: 'spacer' }),
    ledger(run),
    recorder(run),
  ];
  const lines = [h('div', { class: 'line' }, ...parts)];
  const progress = index.progress;
  if (!progress.complete) {
    const done =
      progress.records > 0
        ? `${count(progress.recordsDone)} of ${count(progress.records)} records read`
        : 'records are being read';
    lines.push(
      h(
        'div',
        { class: 'line quiet', role: 'status' },
        progress.sketchOnly ? `From page headers alone: ${done}` : done,
      ),
    );
  }
  if (extra.problem) lines.push(h('div', { class: 'line bad', role: 'alert' }, extra.problem));
  return lines;
}

// What run.json says; but only who sees the run going on can say that it does.
function statusOf(run: Run): string {
  if (run.index.progress.live) return 'running';
  return isUnfinished(run) ? 'not finished' : shape.text(run.index.run.status, 'unknown');
}

// Its host has not written how it ended: it goes on, or it was killed.
function isUnfinished(run: Run): boolean {
  return run.index.progress.live || run.index.run.status === 'running';
}

// How long the device ran; of a run whose device never said, the host's time.
export function timeOf(run: Run): { text: string; hint: string } {
  const device = shape.number(run.index.run.device_ns);
  const host = shape.number(run.index.run.host_ns);
  if (device > 0) return { text: duration(device), hint: 'from launch to end on the device' };
  if (host > 0 && !run.index.progress.live) {
    return { text: duration(host), hint: 'as the host saw it: the device never came to its end' };
  }
  return {
    text: duration(run.ns(run.index.end - run.index.launch)),
    hint: 'from launch to the last record',
  };
}

export function ledgerText(run: Run): { text: string; bad: boolean } {
  const missing = run.index.missing;
  const produced = shape.number(missing.produced);
  const kept = shape.number(missing.delivered) + shape.number(missing.recovered);
  const lost = shape.number(missing.dropped) + shape.number(missing.overwritten);
  const open = produced - kept - lost;
  if (run.index.run.loss_known === false) {
    return { text: `${count(kept)} records, what is missing is not known`, bad: true };
  }
  if (produced === 0) return { text: 'no records', bad: false };
  if (open !== 0) {
    const closes = isUnfinished(run)
      ? `ledger open: ${count(produced)} produced, ${count(kept)} here`
      : `ledger does not close: ${count(Math.abs(open))} of ${count(produced)} unaccounted`;
    return { text: closes, bad: !run.index.progress.live };
  }
  if (lost > 0) return { text: `${count(lost)} of ${count(produced)} records lost`, bad: true };
  if (isUnfinished(run)) return { text: `${count(kept)} records so far`, bad: false };
  return { text: `ledger closed: ${count(kept)} of ${count(produced)}`, bad: false };
}

function ledger(run: Run): HTMLElement {
  const { text, bad } = ledgerText(run);
  const hint =
    'Every record that a producer wrote is counted: the ledger is closed when each is here, ' +
    'or is known to be lost.';
  return h('span', { class: bad ? 'bad' : '', title: hint }, text);
}

function recorder(run: Run): HTMLElement | null {
  const cost = shape.record(run.index.run.recorder);
  const perRecord = shape.maybe(cost.ns_per_record);
  const stall = shape.maybe(cost.device_stall_share);
  if (perRecord === null && stall === null) return null;
  const words = [
    perRecord !== null && perRecord > 0
      ? `${perRecord.toFixed(perRecord < 10 ? 2 : 0)} ns a record`
      : '',
    stall !== null ? `producers waited ${percent(stall)} of the time` : '',
  ].filter((word) => word !== '');
  const hint =
    'What recording cost: the time a producer takes to write one record, and how long producers ' +
    'waited for the recorder.';
  return h('span', { class: 'quiet', title: hint }, `Recording: ${words.join(', ')}`);
}
