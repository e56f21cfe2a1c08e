// SPDX-License-Identifier: Apache-2.0
// The time axis: round steps, far enough from each other to be read.
import type { Index } from '../codec/index_file';
import { group, moment } from '../ui/units';
import type { View } from './view';

export interface Clock {
  index: Index;
  absolute: boolean; // device ticks instead of time after launch
}

export function nsOf(index: Index, ticks: number): number {
  return (ticks / index.ticksPerSecond) * 1e9;
}

export function ticksOf(index: Index, ns: number): number {
  return (ns / 1e9) * index.ticksPerSecond;
}

// A point of time in words; `step` is how far its neighbours are, in ticks.
export function momentText(clock: Clock, ticks: number, step = 1): string {
  if (clock.absolute) return `${group(String(Math.round(ticks)))} ticks`;
  return moment(nsOf(clock.index, ticks - clock.index.launch), nsOf(clock.index, step));
}

export interface Tick {
  ticks: number;
  text: string;
}

export function axisTicks(clock: Clock, view: View, width: number): Tick[] {
  const { index, absolute } = clock;
  const apart = Math.max(2, Math.floor(width / 110));
  const scale = absolute ? 1 : 1e9 / index.ticksPerSecond;
  const zero = absolute ? 0 : index.launch;
  const wanted = ((view.end - view.begin) * scale) / apart;
  const power = 10 ** Math.floor(Math.log10(wanted));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= wanted) ?? 10 * power;
  const ticks: Tick[] = [];
  const first = Math.ceil(((view.begin - zero) * scale) / step);
  for (let i = first; ticks.length < 60; i++) {
    const at = zero + (i * step) / scale;
    if (at > view.end) break;
    ticks.push({ ticks: at, text: i === 0 ? '0' : momentText(clock, at, step / scale) });
  }
  return ticks;
}
