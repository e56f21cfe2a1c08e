// SPDX-License-Identifier: Apache-2.0
// Compiles the unit tests and runs them with Node's own runner. An empty test run is an error.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle, here } from './bundle.mjs';

const names = readdirSync(here).filter((name) => name.endsWith('_test.ts'));
if (names.length === 0) throw new Error('no test was found');
const files = await bundle(...names);
const reporter = pathToFileURL(join(here, 'unit_lines.mjs')).href;
const { status } = spawnSync(
  process.execPath,
  ['--test', `--test-reporter=${reporter}`, '--test-reporter-destination=stdout', ...files],
  { stdio: 'inherit' },
);
process.exit(status ?? 1);
