// SPDX-License-Identifier: Apache-2.0
// See truth.ts. Usage: node test/truth.mjs PAGE_RUNS [SEEDS] [FIRST]
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle } from './bundle.mjs';
import { Tally } from './tally.mjs';

const kChunk = 10;

// `program`: tidemark_page_runs.
export async function truthTests(tally, program, seeds, first = 1) {
  const [truth] = await bundle('truth.ts');
  const { checkSeed, kNothingSeen } = await import(pathToFileURL(truth));
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-truth-'));
  const seen = { ...kNothingSeen, runs: 0 };
  let failure = null;
  try {
    for (let at = first; at < first + seeds; at += kChunk) {
      const last = Math.min(at + kChunk, first + seeds) - 1;
      const made = spawnSync(program, ['random', `${at}`, `${last}`, folder], { encoding: 'utf8' });
      assert.equal(made.status, 0, `${program}: ${made.stderr}${made.error ?? ''}`);
      for (let seed = at; seed <= last; seed++) {
        const own = join(folder, `${seed}`);
        if (!existsSync(own)) continue; // nothing of the run was left
        for (const [key, value] of Object.entries(await checkSeed(own, seed))) seen[key] += value;
        seen.runs++;
        rmSync(own, { recursive: true });
      }
    }
    // The check has seen something.
    assert.ok(seen.runs > seeds * 0.8 && seen.pixels > seeds * 30, JSON.stringify(seen));
    assert.ok(seen.filled > seen.pixels / 8, JSON.stringify(seen));
    assert.ok(seen.bucketed > seeds && seen.samples > seeds, JSON.stringify(seen));
  } catch (error) {
    failure = error.stack;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(`   ${JSON.stringify(seen)}`);
  tally.add(`Truth.PixelsShowWhatTheRecordsSay`, failure);
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [program, seeds = '200', first = '1'] = process.argv.slice(2);
  const tally = new Tally();
  await truthTests(tally, program, Number(seeds), Number(first));
  process.exit(tally.end());
}
