// SPDX-License-Identifier: Apache-2.0
// The panels there are. A panel that a run has nothing for is still there and says what would fill
// it.
import { ComparePanel } from '../panels/compare_panel';
import { GraphPanel } from '../panels/graph_panel';
import { HangPanel } from '../panels/hang_panel';
import { OverviewPanel } from '../panels/overview_panel';
import { ScopesPanel } from '../panels/scopes_panel';
import { TensorsPanel } from '../panels/tensors_panel';
import { TimelinePanel } from '../timeline/timeline_panel';
import type { AppView, Panel } from './app_view';
import type { Run } from './run';
import { kPanels, type PanelId } from './selection';

export function panelsOf(run: Run, other: Run | null): { id: PanelId; empty: string }[] {
  const documents = run.index.documents;
  return kPanels.map((id) => {
    let empty = '';
    if (id === 'scopes' && !documents.has('scopes')) empty = 'no scopes were recorded';
    if (id === 'tensors' && run.index.tensors === 0) empty = 'no tensors were recorded';
    if (id === 'graph' && !documents.has('graph')) empty = 'no graph was recorded';
    if (id === 'hang' && !documents.has('hang')) empty = 'this run did not hang';
    if (id === 'compare' && !other) empty = 'no second run';
    return { id, empty };
  });
}

export function makePanel(id: PanelId, app: AppView): Panel {
  switch (id) {
    case 'overview':
      return new OverviewPanel(app);
    case 'timeline':
      return new TimelinePanel(app);
    case 'scopes':
      return new ScopesPanel(app);
    case 'tensors':
      return new TensorsPanel(app);
    case 'graph':
      return new GraphPanel(app);
    case 'hang':
      return new HangPanel(app);
    case 'compare':
      return new ComparePanel(app);
  }
}
