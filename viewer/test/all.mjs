// SPDX-License-Identifier: Apache-2.0
// Every test of the page: types, layout, the committed bundle, unit tests, and the browser.
// Usage: node test/all.mjs [--tally FILE] [--build FOLDER]
// FOLDER: of the release build, whose programs make the runs.
// `./dev test` counts the lines of FILE; see tally.mjs.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { browserTests } from './browser.mjs';
import { here } from './bundle.mjs';
import { smallSpeedTest } from './speed.mjs';
import { Tally } from './tally.mjs';

const viewer = join(here, '..');
const { values } = parseArgs({
  options: { tally: { type: 'string' }, build: { type: 'string' } },
});
const tally = new Tally(values.tally);

// What it says, where its exit status is not 0.
async function node(...words) {
  const child = spawn(process.execPath, words, { cwd: viewer, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (some) => (text += some));
  const status = await new Promise((done) =>
    child.on('close', (code, signal) => done(code ?? signal)),
  );
  return { failure: status === 0 ? null : text || `ended with ${status}`, text };
}

async function bundleIsCommitted() {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-bundle-'));
  try {
    const { failure } = await node('build.mjs', folder);
    if (failure) return failure;
    const dist = join(viewer, 'dist');
    const names = [...new Set([...readdirSync(folder), ...readdirSync(dist)])];
    const differ = names.filter((name) => {
      const [made, kept] = [folder, dist].map((one) => {
        return readdirSync(one).includes(name) ? readFileSync(join(one, name)) : null;
      });
      return !made || !kept || !made.equals(kept);
    });
    return differ.length === 0
      ? null
      : `${differ.join(', ')}: not what viewer/src makes; 'npm run build' in viewer/, and commit it`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// A program that says "ok NAME" or "not ok NAME", and then why, of each of its tests.
async function program(name, ...words) {
  const { failure, text } = await node(...words);
  let tests = 0;
  let failed = 0;
  for (const part of text.split(/^(?=ok |not ok )/m)) {
    const [line, ...rest] = part.split('\n');
    const [, not, test] = /^(not )?ok (.*)$/.exec(line) ?? [];
    if (!test) continue;
    tests++;
    if (not) failed++;
    tally.add(test, not ? rest.join('\n') || 'no reason was given' : null);
  }
  if (tests === 0 || (failure && failed === 0)) tally.add(name, failure ?? 'no test was run');
}

const timed = async (words, work) => {
  const began = Date.now();
  await work();
  console.log(`-- ${words}: ${((Date.now() - began) / 1000).toFixed(1)} s`);
};

async function source() {
  const tsc = await node('node_modules/typescript/bin/tsc', '--noEmit');
  tally.add('Source.HasTheRightTypes', tsc.failure);
  const prettier = 'node_modules/prettier/bin/prettier.cjs';
  const layout = await node(prettier, '--check', '--log-level', 'warn', '.');
  tally.add('Source.IsLaidOut', layout.failure);
  tally.add('Source.MakesTheBundleThatIsCommitted', await bundleIsCommitted());
}

const build = values.build ? resolve(values.build) : '';
async function beside() {
  await timed('types, layout, bundle', source);
  await timed('units', () => program('Units.AreRun', 'test/run.mjs'));
  if (!build) return;
  const pageRuns = join(build, 'tests/page/tidemark_page_runs');
  await timed('truth', () => program('Truth.IsTold', 'test/truth.mjs', pageRuns, '200'));
}

// One processor is enough for either.
await Promise.all([beside(), timed('browser', () => browserTests(tally, { build }))]);
if (build) await timed('many spans', () => smallSpeedTest(tally, build));
process.exit(tally.end());
