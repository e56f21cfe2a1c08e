// SPDX-License-Identifier: Apache-2.0
// What is selected, what is shown, and how: one state for every panel. The address holds it, so
// that a link shows a colleague the same.
import type { View } from '../timeline/view';

export type PanelId = 'overview' | 'timeline' | 'scopes' | 'tensors' | 'graph' | 'hang' | 'compare';
export const kPanels: PanelId[] = [
  'overview',
  'timeline',
  'scopes',
  'tensors',
  'graph',
  'hang',
  'compare',
];

export function panelTitle(id: PanelId): string {
  return id[0].toUpperCase() + id.slice(1);
}

export interface State {
  panel: PanelId;
  task: string | null; // 0x and 16 digits
  track: number | null; // of the selected span
  begin: number | null;
  end: number | null;
  kernel: string | null; // brought out in the timeline
  site: string | null;
  tensor: number | null; // row
  view: View | null; // null: the whole run
  theme: 'light' | 'dark' | null; // null: as the system says
  absolute: boolean;
}

export type Part = keyof State;

export const kNothing: State = {
  panel: 'overview',
  task: null,
  track: null,
  begin: null,
  end: null,
  kernel: null,
  site: null,
  tensor: null,
  view: null,
  theme: null,
  absolute: false,
};

export const kNoSelection = {
  task: null,
  track: null,
  begin: null,
  end: null,
  kernel: null,
  site: null,
  tensor: null,
};

export function toAddress(state: State): string {
  const words = new URLSearchParams();
  words.set('panel', state.panel);
  if (state.task) words.set('task', state.task);
  if (state.track !== null) words.set('track', String(state.track));
  if (state.begin !== null) words.set('span', `${state.begin}-${state.end ?? state.begin}`);
  if (state.kernel !== null) words.set('kernel', state.kernel);
  if (state.site !== null) words.set('site', state.site);
  if (state.tensor !== null) words.set('tensor', String(state.tensor));
  if (state.view) words.set('view', `${tidy(state.view.begin)}..${tidy(state.view.end)}`);
  if (state.theme) words.set('theme', state.theme);
  if (state.absolute) words.set('time', 'ticks');
  return `#${words}`;
}

function tidy(ticks: number): string {
  return String(Math.round(ticks));
}

// Whatever somebody wrote into the address: what cannot be read is left out.
export function fromAddress(hash: string, otherwise: PanelId): State {
  const words = new URLSearchParams(hash.replace(/^#/, ''));
  const panel = words.get('panel') as PanelId | null;
  const span = /^(\d{1,16})-(\d{1,16})$/.exec(words.get('span') ?? '');
  const view = /^(-?\d{1,16})\.\.(-?\d{1,16})$/.exec(words.get('view') ?? '');
  const theme = words.get('theme');
  const task = words.get('task');
  return {
    panel: panel && kPanels.includes(panel) ? panel : otherwise,
    task: task && /^0x[0-9a-f]{16}$/.test(task) ? task : null,
    track: whole(words.get('track')),
    begin: span ? Number(span[1]) : null,
    end: span ? Number(span[2]) : null,
    kernel: words.get('kernel'),
    site: words.get('site'),
    tensor: whole(words.get('tensor')),
    view:
      view && Number(view[2]) > Number(view[1])
        ? { begin: Number(view[1]), end: Number(view[2]) }
        : null,
    theme: theme === 'dark' || theme === 'light' ? theme : null,
    absolute: words.get('time') === 'ticks',
  };
}

function whole(text: string | null): number | null {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
}
