// SPDX-License-Identifier: Apache-2.0
// One box that finds tasks, kernels, sites and tracks.
import * as shape from '../codec/shape';
import { h, refill } from '../ui/dom';
import { parseTask, taskText } from '../ui/units';
import type { AppView } from './app_view';

interface Found {
  kind: string;
  text: string;
  go: () => void;
}

const kMost = 12;

export class SearchBox {
  readonly root: HTMLElement;
  private readonly input = h('input', {
    type: 'search',
    placeholder: 'Search task, kernel, site',
    'aria-label': 'Search',
    title: '/ · a task as r1t42 or 0x…, a kernel, a site, a track',
    spellcheck: 'false',
    role: 'combobox',
    'aria-expanded': 'false',
    'aria-controls': 'found',
  });
  private readonly list = h('ul', { class: 'found', id: 'found', role: 'listbox', hidden: true });
  private found: Found[] = [];
  private at = 0;
  private asked = 0;

  constructor(private readonly app: AppView) {
    this.root = h('div', { class: 'search' }, this.input, this.list);
    this.input.addEventListener('input', () => void this.search());
    this.input.addEventListener('focus', () => void this.search());
    this.input.addEventListener('blur', () => setTimeout(() => this.close(), 150));
    this.input.addEventListener('keydown', (event) => this.key(event));
  }

  focus(): void {
    this.input.focus();
    this.input.select();
  }

  private close(): void {
    this.list.hidden = true;
    this.input.setAttribute('aria-expanded', 'false');
  }

  private key(event: KeyboardEvent): void {
    if (event.key === 'Escape') {
      this.input.value = '';
      this.close();
      this.input.blur();
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      const step = event.key === 'ArrowDown' ? 1 : -1;
      this.at = (this.at + step + this.found.length) % Math.max(1, this.found.length);
      this.fill();
      event.preventDefault();
    } else if (event.key === 'Enter') {
      void this.search().then(() => this.take(this.found[this.at]));
    }
  }

  private take(found: Found | undefined): void {
    if (!found) return;
    found.go();
    this.close();
    this.input.blur();
  }

  private async search(): Promise<void> {
    const asked = ++this.asked;
    const word = this.input.value.trim();
    const found = word
      ? [
          ...this.tasks(word),
          ...this.names(word),
          ...(await this.sites(word)),
          ...this.tracks(word),
        ]
      : [];
    if (asked !== this.asked) return;
    this.found = found.slice(0, kMost);
    this.at = Math.min(this.at, Math.max(0, this.found.length - 1));
    this.fill();
  }

  private fill(): void {
    const empty = this.input.value.trim() !== '' && this.found.length === 0;
    refill(
      this.list,
      ...this.found.map((one, i) =>
        h(
          'li',
          {
            role: 'option',
            'aria-selected': String(i === this.at),
            onmousedown: (event: Event) => {
              event.preventDefault();
              this.take(one);
            },
          },
          h('span', { class: 'kind' }, one.kind),
          one.text,
        ),
      ),
      empty ? h('li', { class: 'quiet' }, 'nothing has this name') : null,
    );
    const open = document.activeElement === this.input && (this.found.length > 0 || empty);
    this.list.hidden = !open;
    this.input.setAttribute('aria-expanded', String(open));
  }

  private tasks(word: string): Found[] {
    const task = parseTask(word);
    if (!task) return [];
    return [
      {
        kind: 'task',
        text: `${taskText(task)} (${task})`,
        go: () => {
          this.app.selectTask(task);
          if (this.app.state.panel === 'overview' || this.app.state.panel === 'hang') {
            this.app.go('timeline');
          }
        },
      },
    ];
  }

  private names(word: string): Found[] {
    const { names, nameKinds } = this.app.run.index;
    const small = word.toLowerCase();
    const found: Found[] = [];
    for (let i = 0; i < names.length && found.length < 8; i++) {
      if (nameKinds[i] !== 'kernel' && nameKinds[i] !== 'phase' && nameKinds[i] !== 'mark')
        continue;
      if (!names[i].toLowerCase().includes(small)) continue;
      found.push({
        kind: nameKinds[i],
        text: names[i],
        go: () => this.app.go('timeline', { kernel: names[i] }),
      });
    }
    return found;
  }

  private async sites(word: string): Promise<Found[]> {
    if (!this.app.run.index.documents.has('scopes')) return [];
    const scopes = await this.app.run.documents.get('doc/scopes');
    const sites = new Set(
      shape.records(shape.record(scopes).sites).map((site) => shape.text(site.site)),
    );
    return [...sites]
      .filter((site) => site.toLowerCase().includes(word.toLowerCase()))
      .slice(0, 6)
      .map((site) => ({ kind: 'scope', text: site, go: () => this.app.go('scopes', { site }) }));
  }

  private tracks(word: string): Found[] {
    return this.app.run.index.tracks
      .filter((track) => track.name.toLowerCase().includes(word.toLowerCase()))
      .slice(0, 6)
      .map((track) => ({
        kind: track.kind,
        text: track.name,
        go: () => this.app.go('timeline', { track: track.id, begin: null, end: null, task: null }),
      }));
  }
}
