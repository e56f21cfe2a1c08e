// SPDX-License-Identifier: Apache-2.0
// What a panel may know of the page around it: the runs, the state, and how to change it.
import type { NameColors, Theme } from '../ui/palette';
import type { PanelId, Part, State } from './selection';
import type { Run } from './run';

export interface AppView {
  readonly run: Run;
  readonly other: Run | null;
  readonly state: Readonly<State>;
  readonly theme: Theme;
  readonly colors: NameColors;
  // Changes the state; every panel that is shown hears of it. `step`: a step to come back to.
  set(change: Partial<State>, step?: boolean): void;
  // Selects a task wherever it is, and fills in its span when the graph knows it.
  selectTask(task: string, change?: Partial<State>): void;
  go(panel: PanelId, change?: Partial<State>): void;
  // A line for those who listen to the page instead of looking at it.
  announce(text: string): void;
}

export interface Panel {
  readonly id: PanelId;
  readonly root: HTMLElement;
  // Called when the panel is shown, and then for every change while it is.
  update(changed: Set<Part | 'data' | 'size' | 'theme'>): void;
  // True: the key was the panel's.
  key?(event: KeyboardEvent): boolean;
  keyUp?(event: KeyboardEvent): void;
  // The panel as an SVG of its own; without it the page writes one from the elements.
  picture?(): string;
  // The tables of the page select a row with keys; panels that have none do nothing.
}
