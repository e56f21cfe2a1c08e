// SPDX-License-Identifier: Apache-2.0
// Records real runs and takes pictures of their pages in Debian's Chromium.
// Usage: node test/real_pictures.mjs TIDEMARK [--all] OUT
// Without --all: the pictures of docs/. With it: every panel of every run, light and dark, at two
// sizes, to look at.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const kPanels = ['Overview', 'Timeline', 'Scopes', 'Tensors', 'Graph', 'Hang', 'Compare'];
const kPatienceMs = 60_000;
const kStreams = ['--enable-l2-swimlane', '--enable-dep-gen', '--enable-scope-stats'];

// What is recorded, how it ends, and what is beside it.
const kRuns = {
  paged: {
    command: ['paged_attention', '--case', 'Case2', ...kStreams, '--dump-tensor=stats'],
  },
  small: { command: ['paged_attention', '--case', 'VarSeq4', ...kStreams, '--dump-tensor'] },
  hang: {
    command: ['hang_kernel', ...kStreams, '--dump-tensor', '--scheduler-timeout-ms', '2000'],
    exit: 3,
  },
  crash: { command: ['crash_kernel', ...kStreams, '--dump-tensor'], exit: 3 },
  heap: { command: ['heap_deadlock', ...kStreams], exit: 3 },
  healthy: { command: ['nan_producer', '--case', 'healthy', ...kStreams, '--dump-tensor'] },
  broken: { command: ['nan_producer', ...kStreams, '--dump-tensor'], exit: 1, other: 'healthy' },
  lossy: {
    // A pool of a few pages that are drained slowly.
    command: [
      ...['paged_attention', '--case', 'Case2', ...kStreams, '--policy', 'drop'],
      ...['--page-bytes', '4096', '--pool-bytes', '65536', '--inject', 'drain_slow=3000'],
    ],
  },
  killed: { command: ['paged_attention', '--case', 'Case2', ...kStreams], killAfterMs: 1200 },
  plain: { command: ['vector_example'] },
  empty: { command: ['empty', ...kStreams] },
};

// The pictures of docs/: of which run, and what is clicked before.
const kChosen = [
  { name: 'overview', run: 'paged', panel: 'Overview' },
  { name: 'overview_dark', run: 'paged', panel: 'Overview', theme: 'dark', size: [2560, 1440] },
  {
    name: 'timeline',
    run: 'paged',
    panel: 'Timeline',
    theme: 'dark',
    before: async (tab) => {
      await tab.click('.tabs button:text-is("Overview")');
      await tab.click('[aria-label="Critical path"] .one >> nth=1');
      await tab.waitForSelector('.panel[aria-label="Timeline"]:visible');
      await tab.mouse.move(716, 400);
      for (let i = 0; i < 4; i++) await tab.mouse.wheel(0, 400);
    },
  },
  { name: 'timeline_whole', run: 'paged', panel: 'Timeline' },
  { name: 'timeline_losses', run: 'lossy', panel: 'Timeline' },
  { name: 'scopes', run: 'paged', panel: 'Scopes' },
  { name: 'tensors', run: 'broken', panel: 'Tensors', theme: 'dark' },
  {
    name: 'graph',
    run: 'paged',
    panel: 'Graph',
    before: async (tab) => {
      await tab.click('.tabs button:text-is("Overview")');
      await tab.click('[aria-label="Critical path"] .one >> nth=3');
    },
  },
  { name: 'hang', run: 'hang', panel: 'Hang', theme: 'dark' },
  { name: 'compare', run: 'broken', panel: 'Compare' },
];

class Recorder {
  constructor(program, folder) {
    this.program = resolve(program);
    this.folder = folder;
  }

  async call(args, { exit = 0, killAfterMs = 0 } = {}) {
    const child = spawn(this.program, args, {
      cwd: this.folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (bytes) => (said += bytes));
    }
    if (killAfterMs > 0) setTimeout(() => child.kill('SIGKILL'), killAfterMs);
    const [code] = await once(child, 'close');
    if (killAfterMs === 0 && code !== exit) {
      throw new Error(`tidemark ${args.join(' ')}: ended with ${code}, not ${exit}\n${said}`);
    }
  }

  async run(name) {
    const { command, exit, killAfterMs } = kRuns[name];
    await this.call(['run', ...command, '--output-prefix', `runs/${name}`], { exit, killAfterMs });
    if (killAfterMs) await this.call(['recover', `runs/${name}`]);
  }

  async page(name) {
    const { other } = kRuns[name];
    const beside = other ? ['--compare', `runs/${other}`] : [];
    await this.call(['report', `runs/${name}`, '-o', `${name}.html`, ...beside]);
    return pathToFileURL(join(this.folder, `${name}.html`)).href;
  }

  // Answers with the server's address, and with what ends it.
  async serve() {
    const child = spawn(this.program, ['serve', 'runs'], {
      cwd: this.folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    for await (const bytes of child.stdout) {
      said += bytes;
      const address = /http:\/\/\S+/.exec(said);
      if (address) {
        const end = async () => {
          child.kill('SIGINT');
          if (child.exitCode === null) await once(child, 'exit');
        };
        return { address: address[0], end };
      }
    }
    throw new Error(`tidemark serve said no address: ${said}`);
  }
}

class Camera {
  constructor(browser, out) {
    this.browser = browser;
    this.out = out;
  }

  async open(address, theme, [width, height]) {
    const tab = await this.browser.newPage({ viewport: { width, height }, colorScheme: theme });
    tab.setDefaultTimeout(kPatienceMs);
    const fail = (text) => {
      throw new Error(`${address}: ${text}`);
    };
    tab.on('pageerror', (error) => fail(String(error)));
    tab.on('console', (message) => fail(message.text()));
    await tab.goto(address);
    await tab.waitForSelector('.tabs button, .runs, .nothing-there');
    return tab;
  }

  async take(tab, panel, name) {
    if (panel) {
      await tab.click(`.tabs button:text-is("${panel}")`);
      await tab.waitForSelector(`.panel[aria-label="${panel}"]:visible`);
    }
    if (panel === 'Timeline') {
      await tab.waitForFunction(() => document.documentElement.dataset.picture === 'complete');
    }
    await tab.mouse.move(0, 0);
    await tab.waitForTimeout(800); // what a panel reads after it is there
    const path = join(this.out, `${name}.png`);
    await tab.screenshot({ path });
    console.log(`${path}: ${Math.ceil(statSync(path).size / 1024)} KiB`);
  }
}

async function chosen(recorder, camera) {
  const names = [...new Set(kChosen.map((one) => one.run))];
  for (const name of [...names, 'healthy', 'heap', 'killed']) await recorder.run(name);
  const pages = new Map();
  for (const name of names) pages.set(name, await recorder.page(name));
  for (const { name, run, panel, theme = 'light', size = [1280, 720], before } of kChosen) {
    const tab = await camera.open(pages.get(run), theme, size);
    await before?.(tab);
    await camera.take(tab, panel, name);
    await tab.close();
  }
  await runList(recorder, camera, 'light', [1280, 720], 'runs');
}

async function runList(recorder, camera, theme, size, name) {
  const { address, end } = await recorder.serve();
  try {
    const tab = await camera.open(address, theme, size);
    await camera.take(tab, null, name);
    await tab.close();
  } finally {
    await end();
  }
}

async function everything(recorder, camera) {
  for (const name of Object.keys(kRuns)) await recorder.run(name);
  for (const name of Object.keys(kRuns)) {
    const page = await recorder.page(name);
    for (const theme of ['light', 'dark']) {
      for (const size of [
        [1280, 720],
        [2560, 1440],
      ]) {
        const tab = await camera.open(page, theme, size);
        const panels = (await tab.locator('.tabs button').count()) > 0 ? kPanels : [null];
        for (const panel of panels) {
          const what = (panel ?? 'page').toLowerCase();
          await camera.take(tab, panel, `${name}-${what}-${theme}-${size[0]}`);
        }
        await tab.close();
      }
    }
  }
  for (const theme of ['light', 'dark']) {
    await runList(recorder, camera, theme, [1280, 720], `runs-${theme}-1280`);
    await runList(recorder, camera, theme, [2560, 1440], `runs-${theme}-2560`);
  }
}

const words = process.argv.slice(2).filter((word) => word !== '--all');
const all = process.argv.includes('--all');
if (words.length !== 2) throw new Error('usage: real_pictures.mjs TIDEMARK [--all] OUT');
const [program, out] = words;
mkdirSync(out, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), 'tidemark-pictures-'));
mkdirSync(join(folder, 'runs'));
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  env: { ...process.env, HOME: folder },
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--hide-scrollbars'],
});
try {
  const camera = new Camera(browser, out);
  await (all ? everything : chosen)(new Recorder(program, folder), camera);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
