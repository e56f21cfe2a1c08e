// SPDX-License-Identifier: Apache-2.0
// Every test of the page: types, layout, the committed bundle, unit tests, and the browser.
// Usage: node test/all.mjs [--tally FILE] [--build FOLDER]
// FOLDER: of the release build, whose programs make the runs.
// `./dev test` counts the lines of FILE; see tally.mjs.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { browserTests } from './browser.mjs';
import { here } from './bundle.mjs';
import { smallSpeedTest } from './speed.mjs';
import { Tally } from './tally.mjs';
import { truthTests } from './truth.mjs';

const viewer = join(here, '..');
const { values } = parseArgs({
  options: { tally: { type: 'string' }, build: { type: 'string' } },
});
const tally = new Tally(values.tally);

// What it says, where its exit status is not 0; an empty text is a failure too.
function node(...words) {
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    cwd: viewer,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  });
  return { failure: status === 0 ? null : `${stdout}${stderr}` || `exit status ${status}`, stdout };
}

function bundleIsCommitted() {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-bundle-'));
  try {
    const { failure } = node('build.mjs', folder);
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

function unitTests() {
  const { failure, stdout } = node('test/run.mjs');
  const before = { passed: tally.passed, failed: tally.failed };
  for (const part of stdout.split(/^(?=ok |not ok )/m)) {
    const [line, ...rest] = part.split('\n');
    const [, not, name] = /^(not )?ok (.*)$/.exec(line) ?? [];
    if (name) tally.add(name, not ? rest.join('\n') || 'no reason was given' : null);
  }
  if (tally.passed === before.passed || (failure && tally.failed === before.failed)) {
    tally.add('Units.AreRun', failure ?? 'no test was run');
  }
}

const timed = async (words, work) => {
  const began = Date.now();
  await work();
  console.log(`-- ${words}: ${((Date.now() - began) / 1000).toFixed(1)} s`);
};

await timed('types, layout, bundle', () => {
  tally.add('Source.HasTheRightTypes', node('node_modules/typescript/bin/tsc', '--noEmit').failure);
  const prettier = 'node_modules/prettier/bin/prettier.cjs';
  tally.add('Source.IsLaidOut', node(prettier, '--check', '--log-level', 'warn', '.').failure);
  tally.add('Source.MakesTheBundleThatIsCommitted', bundleIsCommitted());
});
await timed('units', unitTests);
const build = values.build ? resolve(values.build) : '';
if (build) {
  await timed('truth', () => truthTests(tally, join(build, 'tests/page/tidemark_page_runs'), 200));
}
await timed('browser', () => browserTests(tally, { build }));
if (build) await timed('many spans', () => smallSpeedTest(tally, join(build, 'tidemark')));
process.exit(tally.end());
