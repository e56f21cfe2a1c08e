// SPDX-License-Identifier: Apache-2.0
// The page in Debian's Chromium, used as people use it.
// Usage: node test/browser.mjs [--only PATTERN] [--build FOLDER]
// FOLDER: of the release build, whose programs make real runs; without it, only made-up ones are
// looked at.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Browser } from './browser/chromium.mjs';
import { clicks } from './browser/clicks.mjs';
import { live } from './browser/live.mjs';
import { madeUpRuns } from './browser/made_up.mjs';
import { oddRuns } from './browser/odd.mjs';
import { Runs } from './browser/runs.mjs';
import { tours } from './browser/tour.mjs';
import { Tally } from './tally.mjs';

export async function browserTests(tally, { only = /./, build = '' } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-page-'));
  const browser = await Browser.launch(tally, folder, only);
  const runs = build ? new Runs(build, folder) : null;
  try {
    await madeUpRuns(browser, folder);
    if (runs) {
      await clicks(browser, runs);
      await tours(browser, runs);
      await live(browser, runs);
      await oddRuns(browser, runs);
    }
  } finally {
    await browser.close();
    await runs?.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const { values } = parseArgs({
    options: { only: { type: 'string' }, build: { type: 'string' } },
  });
  const tally = new Tally();
  await browserTests(tally, {
    only: new RegExp(values.only ?? '.'),
    build: values.build && resolve(values.build),
  });
  process.exit(tally.end());
}
