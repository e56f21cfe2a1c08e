// SPDX-License-Identifier: Apache-2.0
// How fast the page is. Usage:
//   node test/speed.mjs FILE-OR-ADDRESS [--profile]   one page: how it opens, how its frames go, and
//                                                  with --profile in which functions
//   node test/speed.mjs --campaign BUILD [--small] [--huge]
// The campaign records runs of the sizes that the page is made for, with the tidemark of a build
// folder, prints a table of figures and bounds, and fails if one is missed. --small: a few spans, and
// no bound of time counts. --huge: 100 million spans, too.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { Browser } from './browser/chromium.mjs';
import { Runs } from './browser/runs.mjs';
import { Campaign, kFull, kHuge, kSmall } from './speed/campaign.mjs';
import { firstPicture, framesWhileMoving, kSize } from './speed/pictures.mjs';
import { profiled } from './speed/profile.mjs';

async function onePage(browser, page, withProfile) {
  const address = /^https?:/.test(page) ? page : pathToFileURL(resolve(page)).href;
  const tab = await browser.newPage({ viewport: kSize });
  const measured = async (work) => {
    if (!withProfile) return work();
    const { result, functions } = await profiled(tab, work);
    for (const [name, ms] of functions.slice(0, 20)) {
      console.log(`  ${ms.toFixed(0).padStart(6)} ms  ${name}`);
    }
    return result;
  };
  const first = await measured(() => firstPicture(tab, address));
  console.log(`first full picture ${first.ms.toFixed(0)} ms, ${first.colours} colours`);
  const moved = await measured(() => framesWhileMoving(tab, 10));
  console.log(
    `${moved.frames} frames: median ${moved.median.toFixed(1)} ms, 95 % ${moved.p95.toFixed(1)} ms, ` +
      `longest ${moved.most.toFixed(1)} ms; ${(moved.heap / 2 ** 20).toFixed(0)} MiB of heap`,
  );
  return 0;
}

async function campaign(browser, runs, sizes) {
  const all = new Campaign(browser, runs, sizes);
  try {
    await all.measure();
  } finally {
    console.log(`\n${all.table()}`);
  }
  console.log(all.missed.length > 0 ? `\nmissed: ${all.missed.join('; ')}` : '\nall bounds kept');
  return all.missed.length > 0 ? 1 : 0;
}

// What `./dev test` asks: everything works at a small size. An error where something does not.
export async function smallSpeedTest(tally, build) {
  const name = 'Speed.EveryWayToThePageWorksWithManySpans';
  await withBrowser(build, async (browser, runs) => {
    const all = new Campaign(browser, runs, kSmall);
    await all.measure();
    tally.add(name, all.missed.length > 0 ? all.table() : null);
  }).catch((error) => tally.add(name, error.stack));
}

async function withBrowser(build, work) {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-speed-'));
  const { browser } = await Browser.launch(null, folder);
  const runs = build ? new Runs(resolve(build), folder) : null;
  try {
    return await work(browser, runs);
  } finally {
    await browser.close();
    await runs?.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const { values, positionals } = parseArgs({
    options: {
      campaign: { type: 'string' },
      small: { type: 'boolean' },
      huge: { type: 'boolean' },
      profile: { type: 'boolean' },
    },
    allowPositionals: true,
  });
  const sizes = values.small ? kSmall : values.huge ? kHuge : kFull;
  const status = await withBrowser(values.campaign, (browser, runs) =>
    runs ? campaign(browser, runs, sizes) : onePage(browser, positionals[0], values.profile),
  );
  process.exit(status);
}
