// SPDX-License-Identifier: Apache-2.0
// The page at the sizes that it is made for, of real captures: one file, a server, and a folder on
// a plain web server. Figures beside their bounds, and beside what an empty page needs.
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileServer } from '../browser/static_server.mjs';
import { firstPicture, framesWhileMoving, kSize, randomViews, whenComplete } from './pictures.mjs';

const kTracks = 64; // in sight together
const kMillion = 1e6;
const kTilesMostMs = 20 * 60_000;

export const kSmall = { one: 0.064, large: [0.64], seconds: 2, views: 4, timesCount: false };
export const kFull = { one: 1, large: [50], seconds: 10, views: 50, timesCount: true };
export const kHuge = { ...kFull, large: [50, 100] };

export class Campaign {
  missed = [];
  rows = [];

  constructor(browser, runs, sizes) {
    this.browser = browser;
    this.runs = runs;
    this.sizes = sizes;
  }

  async measure() {
    await this.measureEmpty();
    await this.measureFile();
    for (const millions of this.sizes.large) {
      const run = await this.record(millions);
      await this.measureServed(run, millions);
      await this.measureSite(run, millions);
      rmSync(this.runs.path(run), { recursive: true });
    }
  }

  table() {
    const widths = [0, 1, 2].map((i) => Math.max(...this.rows.map((row) => row[i].length)));
    const line = (row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ');
    return this.rows.map((row) => line(row).trimEnd()).join('\n');
  }

  // `most`, or `least`: a bound. One of time counts only in the campaign.
  note(what, figure, unit, { most, least, isTime = true } = {}) {
    const text = (value) => `${value.toFixed(Math.abs(value) < 10 && value % 1 !== 0 ? 1 : 0)}`;
    const bound =
      most !== undefined ? `≤ ${text(most)}` : least !== undefined ? `≥ ${text(least)}` : '';
    const kept = !(figure > most) && !(figure < least);
    const counts = !isTime || this.sizes.timesCount;
    if (!kept && counts) this.missed.push(what);
    const verdict = kept ? '' : counts ? 'MISSED' : 'not kept, does not count';
    this.rows.push([what, `${text(figure)} ${unit}`, bound && `${bound} ${unit}`, verdict]);
    console.log(`   ${what}: ${text(figure)} ${unit} ${bound}`.trimEnd());
  }

  // Lanes that write at a rate, so that all of them have spans all the time.
  async record(millions) {
    const name = `run_${millions}`;
    const seconds = millions > 2 ? millions / 5 : 1;
    const records = Math.round((millions * kMillion) / kTracks);
    const rate = Math.round(records / seconds);
    await this.runs.run(
      name,
      `synthetic_producer --lanes ${kTracks} --records ${records} --rate ${rate} --no-sync`,
    );
    return name;
  }

  // Seconds of a whole command.
  async timed(words) {
    const began = performance.now();
    await this.runs.call(words);
    return (performance.now() - began) / 1000;
  }

  async withTab(steps) {
    const context = await this.browser.newContext({ viewport: kSize });
    const tab = await context.newPage();
    const said = [];
    tab.on('console', (message) => {
      // Chromium's advice to whoever looks at a canvas, which only this test does.
      if (!/willReadFrequently/.test(message.text())) said.push(message.text());
    });
    tab.on('pageerror', (error) => said.push(String(error)));
    try {
      await steps(tab);
    } finally {
      await context.close();
    }
    if (said.length > 0) throw new Error(`the page said:\n${said.slice(0, 20).join('\n')}`);
  }

  // What this machine and this browser need where there is nothing to show.
  async measureEmpty() {
    await this.withTab(async (tab) => {
      await tab.goto('data:text/html,<p>nothing');
      this.note(
        'reference: an empty page opens',
        await tab.evaluate(() => performance.now()),
        'ms',
      );
      const moved = await tab.evaluate(async () => {
        const times = [];
        for (let i = 0, last = 0; i < 200; i++) {
          const now = await new Promise((resume) => requestAnimationFrame(resume));
          if (last > 0) times.push(now - last);
          last = now;
        }
        return times.sort((a, b) => a - b);
      });
      this.note('reference: its frames, 95 %', moved[Math.floor(moved.length * 0.95)], 'ms');
    });
  }

  async measureFile() {
    const { one, seconds } = this.sizes;
    const what = `file of ${one} M spans`;
    const run = await this.record(one);
    this.note(
      `${what}: made in`,
      (await this.timed(['report', run, '-o', 'one.html'])) * 1000,
      'ms',
    );
    const bytes = statSync(this.runs.path('one.html')).size;
    this.note(`${what}: size`, bytes / 1e6, 'MB', { most: 40, isTime: false });
    await this.withTab(async (tab) => {
      const first = await firstPicture(tab, `file://${this.runs.path('one.html')}`);
      this.note(`${what}: first full picture`, first.ms, 'ms', { most: 2000 });
      await this.measureMoving(tab, what, seconds);
    });
  }

  async measureMoving(tab, what, seconds) {
    const moved = await framesWhileMoving(tab, seconds);
    this.note(`${what}: frames while it zooms and pans, 95 %`, moved.p95, 'ms', { most: 33 });
    this.note(`${what}: the median of ${moved.frames} frames`, moved.median, 'ms');
    this.note(`${what}: the longest`, moved.most, 'ms');
    const heap = moved.heap / 2 ** 20;
    this.note(`${what}: heap of the page at most`, heap, 'MiB', { most: 300, isTime: false });
  }

  async measureViews(tab, what) {
    const { views, seconds } = this.sizes;
    const index = await indexOf(tab);
    if (!index.progress.complete) throw new Error(`${what}: the tiles are not complete`);
    const spans = index.tracks.filter((track) => track.kind === 'lane');
    if (spans.length !== kTracks) throw new Error(`${what}: ${spans.length} lanes`);
    const ticks = { end: index.end, ticksPerSecond: index.ticks_per_second };
    const seen = await randomViews(tab, { ...ticks, views, random: randomOf(7) });
    this.note(`${what}: a view is complete, median of ${views}`, seen.median, 'ms', { most: 300 });
    this.note(`${what}: 95 % of them`, seen.p95, 'ms');
    await this.measureMoving(tab, what, seconds);
  }

  async measureServed(run, millions) {
    const what = `server, ${millions} M spans`;
    const server = await this.runs.serve(run);
    const memory = () =>
      this.note(`${what}: memory of the server at most`, peakBytes(server.pid) / 2 ** 20, 'MiB', {
        most: 300,
        isTime: false,
      });
    await this.withTab(async (tab) => {
      const began = performance.now();
      const first = await firstPicture(tab, server.address);
      const from = first.fromHeaders ? 'page headers' : 'all records';
      this.note(`${what}: first picture, from ${from}`, first.ms, 'ms', { most: 2000 });
      await tab.waitForFunction(
        () => !/page headers|no tiles/.test(document.querySelector('.telling').textContent),
        null,
        { timeout: kTilesMostMs, polling: 200 },
      );
      await whenComplete(tab);
      this.note(`${what}: tiles of all of it after`, (performance.now() - began) / 1000, 's');
      memory();
    });
    await this.withTab(async (tab) => {
      const first = await firstPicture(tab, server.address);
      this.note(`${what}: first full picture`, first.ms, 'ms', { most: 2000 });
      await this.measureViews(tab, what);
    });
    memory();
    await server.stop();
  }

  async measureSite(run, millions) {
    const what = `folder, ${millions} M spans`;
    const checked = await this.timed(['check', run]);
    const made = await this.timed(['report', run, '--tiles', 'site']);
    this.note(`reference: 'check' reads ${millions} M spans`, millions / checked, 'M spans/s');
    this.note(`${what}: tiles are made`, millions / made, 'M spans/s', { least: 5 });
    const { bytes, files } = sizeOf(this.runs.path('site'));
    this.note(`${what}: ${files} files`, bytes / 1e6, 'MB');
    this.note(`${what}: of a span`, bytes / millions / kMillion, 'bytes');
    const server = await fileServer(this.runs.path('site'));
    await this.withTab(async (tab) => {
      const first = await firstPicture(tab, server.address);
      this.note(`${what}: first full picture`, first.ms, 'ms', { most: 2000 });
      await this.measureViews(tab, what);
    });
    server.close();
    rmSync(this.runs.path('site'), { recursive: true });
  }
}

// index.json of the run that the page shows.
function indexOf(tab) {
  return tab.evaluate(async () => {
    const setup = JSON.parse(document.getElementById('setup').textContent);
    return (await fetch(`${setup.run}index.json`)).json();
  });
}

// The most memory that a process has had, resident.
function peakBytes(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)[1]) * 1024;
}

function sizeOf(folder) {
  const sum = { bytes: 0, files: 0 };
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const inside = entry.isDirectory() ? sizeOf(path) : { bytes: statSync(path).size, files: 1 };
    sum.bytes += inside.bytes;
    sum.files += inside.files;
  }
  return sum;
}

function randomOf(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}
