// SPDX-License-Identifier: Apache-2.0
// The page around the panels: header, tabs, the selected task, keys, the address. It owns the
// state; a panel asks it to change and hears of what has changed.
import { reasonOf } from '../codec/blob_error';
import type { Index } from '../codec/index_file';
import { h, refill } from '../ui/dom';
import { NameColors, readTheme, type Theme } from '../ui/palette';
import { savePicture } from '../ui/picture';
import type { AppView, Panel } from './app_view';
import { header } from './header';
import { helpSheet } from './help';
import { makePanel, panelsOf } from './panels';
import type { Run } from './run';
import { SearchBox } from './search';
import { SelectedBar } from './selected_bar';
import {
  fromAddress,
  kNoSelection,
  panelTitle,
  toAddress,
  type PanelId,
  type State,
} from './selection';

type Changed = Set<keyof State | 'data' | 'size' | 'theme'>;

export class App implements AppView {
  state: State;
  theme: Theme;
  colors: NameColors;
  private readonly panels = new Map<PanelId, Panel>();
  private readonly tabs = h('nav', { class: 'tabs', role: 'tablist', 'aria-label': 'Panels' });
  private readonly head = h('header', {});
  private readonly body = h('div', { class: 'body' });
  private readonly voice = h('div', { class: 'unseen', 'aria-live': 'polite' });
  private readonly help = helpSheet(() => this.toggleHelp(false));
  private readonly search: SearchBox;
  private readonly bar: SelectedBar;
  private followed = '';

  constructor(
    page: HTMLElement,
    readonly run: Run,
    readonly other: Run | null,
    private readonly extra: { problem: string; runs: boolean },
  ) {
    this.state = fromAddress(location.hash, this.firstPanel());
    this.applyTheme();
    this.theme = readTheme();
    this.colors = new NameColors(run.index, this.theme);
    this.search = new SearchBox(this);
    this.bar = new SelectedBar(this);
    refill(
      page,
      this.head,
      h('div', { class: 'row' }, this.tabs, this.search.root, this.tools()),
      this.body,
      this.bar.root,
      this.help,
      this.voice,
    );
    document.title = `${run.index.title} · Tidemark`;
    this.fillHead();
    this.fillTabs();
    this.listen();
    this.show(new Set(['panel', 'task', 'data']));
    run.tiles.arrived = () => this.tellPanel(new Set());
    if (other) other.tiles.arrived = () => this.tellPanel(new Set());
    this.followRuns();
    if (this.state.task) this.selectTask(this.state.task, {}, false);
  }

  private firstPanel(): PanelId {
    return this.hangs(this.run.index) ? 'hang' : 'overview';
  }

  // A run that hung opens on its autopsy. One that ended at a limit has one, too, but its findings
  // say which limit, and what to change.
  private hangs(index: Index): boolean {
    return index.documents.has('hang') && index.run.status !== 'fatal';
  }

  set(change: Partial<State>, step = false): void {
    const changed: Changed = new Set();
    for (const [key, value] of Object.entries(change)) {
      const part = key as keyof State;
      if (same(this.state[part], value)) continue;
      changed.add(part);
      (this.state as unknown as Record<string, unknown>)[part] = value;
    }
    if (changed.size === 0) return;
    if (changed.has('theme')) {
      this.applyTheme();
      this.retheme();
      changed.add('theme');
    }
    const push = step || changed.has('panel') || changed.has('task');
    this.writeAddress(push);
    this.show(changed);
  }

  private addressTimer = 0;
  // A view that moves writes the address once it rests: browsers limit how often it may change.
  private writeAddress(push: boolean): void {
    clearTimeout(this.addressTimer);
    if (push) history.pushState(null, '', toAddress(this.state));
    else {
      this.addressTimer = window.setTimeout(
        () => history.replaceState(null, '', toAddress(this.state)),
        200,
      );
    }
  }

  selectTask(task: string, change: Partial<State> = {}, clear = true): void {
    const spanKnown = change.begin !== undefined || (!clear && this.state.begin !== null);
    this.set(
      { ...(clear ? { ...kNoSelection, kernel: this.state.kernel } : {}), ...change, task },
      true,
    );
    if (spanKnown) return;
    void this.run.graph.find(task).then((found) => {
      if (!found || this.state.task !== task || found.start === null) return;
      this.set({ track: found.track, begin: found.start, end: found.end });
    });
  }

  go(panel: PanelId, change: Partial<State> = {}): void {
    this.set({ ...change, panel }, true);
  }

  announce(text: string): void {
    this.voice.textContent = text;
  }

  private listen(): void {
    window.addEventListener('popstate', () => this.followAddress());
    window.addEventListener('hashchange', () => this.followAddress());
    window.addEventListener('resize', () => this.tellPanel(new Set(['size'])));
    window.addEventListener('keydown', (event) => this.key(event));
    window.addEventListener('keyup', (event) => this.panel()?.keyUp?.(event));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      this.retheme();
      this.tellPanel(new Set(['theme']));
    });
  }

  private followAddress(): void {
    if (location.hash === this.followed) return;
    this.followed = location.hash;
    const next = fromAddress(location.hash, this.firstPanel());
    const changed: Changed = new Set();
    for (const key of Object.keys(next) as (keyof State)[]) {
      if (!same(this.state[key], next[key])) changed.add(key);
    }
    if (changed.size === 0) return;
    this.state = next;
    if (changed.has('theme')) {
      this.applyTheme();
      this.retheme();
    }
    this.show(changed);
  }

  private applyTheme(): void {
    if (this.state.theme) document.documentElement.dataset.theme = this.state.theme;
    else delete document.documentElement.dataset.theme;
  }

  private retheme(): void {
    this.theme = readTheme();
    this.colors = new NameColors(this.run.index, this.theme, this.state.kernel);
  }

  private show(changed: Changed): void {
    this.followed = location.hash;
    if (changed.has('panel')) this.fillTabs();
    if (changed.has('kernel')) this.retheme();
    this.bar.update();
    this.tellPanel(changed);
  }

  private panel(): Panel | null {
    return this.panels.get(this.state.panel) ?? null;
  }

  // A panel that fails says so; the others go on.
  private tellPanel(changed: Changed): void {
    const id = this.state.panel;
    try {
      let panel = this.panels.get(id);
      if (!panel) {
        panel = makePanel(id, this);
        this.panels.set(id, panel);
        this.body.append(panel.root);
        changed.add('panel');
      }
      for (const [other, one] of this.panels) one.root.hidden = other !== id;
      panel.update(changed);
    } catch (error) {
      const card = h(
        'section',
        { class: 'panel failed', role: 'alert' },
        `This panel cannot be shown: ${reasonOf(error)}`,
      );
      this.panels.get(id)?.root.remove();
      this.panels.set(id, { id, root: card, update: () => undefined });
      this.body.append(card);
    }
  }

  private fillHead(): void {
    refill(this.head, ...header(this.run, this.extra));
  }

  private fillTabs(): void {
    refill(
      this.tabs,
      ...panelsOf(this.run, this.other).map(({ id, empty }, i) =>
        h(
          'button',
          {
            type: 'button',
            role: 'tab',
            'data-text': panelTitle(id),
            class: empty ? 'empty' : '',
            'aria-selected': String(id === this.state.panel),
            title: `${i + 1}${empty ? ` · ${empty}` : ''}`,
            onclick: () => this.go(id),
          },
          panelTitle(id),
        ),
      ),
    );
  }

  private tools(): HTMLElement {
    const tool = (text: string, title: string, go: () => void): HTMLElement =>
      h('button', { type: 'button', class: 'tool', title, onclick: go }, text);
    return h(
      'div',
      { class: 'tools' },
      tool('PNG', 'Save this panel as a picture', () => this.save('png')),
      tool('SVG', 'Save this panel as a drawing', () => this.save('svg')),
      tool('Time', 'T · after launch, or ticks of the device', () => this.toggleTime()),
      tool('Theme', 'Light or dark', () => this.toggleTheme()),
      tool('?', 'What the keys do', () => this.toggleHelp()),
    );
  }

  private save(kind: 'png' | 'svg'): void {
    const panel = this.panel();
    if (!panel) return;
    const name = `${this.run.index.title} ${panelTitle(panel.id)}`;
    savePicture(panel, name, kind).catch((error) => this.announce(reasonOf(error)));
  }

  private toggleTime(): void {
    this.set({ absolute: !this.state.absolute });
  }

  private toggleTheme(): void {
    this.set({ theme: this.theme.dark ? 'light' : 'dark' });
  }

  private toggleHelp(on = this.help.hidden): void {
    this.help.hidden = !on;
    if (on) this.help.querySelector('button')?.focus();
  }

  private key(event: KeyboardEvent): void {
    const typing =
      event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (this.keyOfPage(event)) event.preventDefault();
    else if (this.panel()?.key?.(event)) event.preventDefault();
    else if (event.key === 'Escape') this.clear();
  }

  private keyOfPage(event: KeyboardEvent): boolean {
    if (event.key === '/') this.search.focus();
    else if (event.key === '?') this.toggleHelp();
    else if (event.key === 'Escape' && !this.help.hidden) this.toggleHelp(false);
    else if (event.key === 't' || event.key === 'T') this.toggleTime();
    else if (/^[1-7]$/.test(event.key)) {
      const panel = panelsOf(this.run, this.other)[Number(event.key) - 1];
      if (panel) this.go(panel.id);
    } else return false;
    return true;
  }

  private clear(): void {
    this.set({ ...kNoSelection });
  }

  private followRuns(): void {
    for (const run of [this.run, this.other]) {
      run?.source.follow?.(
        (index) => {
          if (index.pending) return;
          const hung = !this.hangs(run.index) && this.hangs(index);
          run.renew(index);
          this.retheme();
          this.fillHead();
          this.fillTabs();
          if (hung && run === this.run) {
            this.announce('The run hangs: its autopsy is there');
            this.go('hang');
          }
          this.bar.update();
          this.tellPanel(new Set(['data']));
        },
        (reason) => {
          document.documentElement.dataset.server = reason ? 'gone' : 'there';
          this.bar.say(reason);
        },
      );
    }
  }
}

function same(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
