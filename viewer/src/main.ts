// SPDX-License-Identifier: Apache-2.0
// The page begins here: finds its run, and shows it or says why it cannot.
import { App } from './app/app';
import { showNothing } from './app/nothing';
import { Run } from './app/run';
import { runList } from './app/run_list';
import { reasonOf } from './codec/blob_error';
import { NothingToShow, type Index } from './codec/index_file';
import { readSetup, sourceOf } from './source/setup';
import type { TileSource } from './source/tile_source';
import { h, refill } from './ui/dom';

const kAgainMs = 700;

async function start(): Promise<void> {
  const page = document.getElementById('page') ?? document.body;
  const setup = readSetup(document.getElementById('setup')?.textContent ?? '', location.search);
  const say = (text: string, bad = false): void =>
    refill(
      page,
      h('div', { class: bad ? 'opening bad' : 'opening', role: bad ? 'alert' : 'status' }, text),
    );
  try {
    if (setup.runs && !setup.run) {
      await runList(page, setup.runs);
      return;
    }
    say('Reading index.json');
    const run = await open(sourceOf(setup, setup.run), say);
    let other: Run | null = null;
    let problem = '';
    if (setup.other !== null) {
      try {
        other = await open(sourceOf(setup, setup.other), say);
      } catch (error) {
        problem = `The run to compare with cannot be read: ${reasonOf(error)}`;
      }
    }
    new App(page, run, other, { problem, runs: setup.runs !== null });
  } catch (error) {
    if (error instanceof NothingToShow) showNothing(page, error);
    else say(`This run cannot be shown: ${reasonOf(error)}`, true);
  }
}

// A server that has just been asked for a run may still be reading it.
async function open(source: TileSource, say: (text: string) => void): Promise<Run> {
  let index: Index = await source.index();
  while (index.pending) {
    say(index.pending);
    await new Promise((resume) => setTimeout(resume, kAgainMs));
    index = await source.index();
  }
  return new Run(source, index);
}

void start();
