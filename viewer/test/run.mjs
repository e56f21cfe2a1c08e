// SPDX-License-Identifier: Apache-2.0
// Compiles the tests and runs them with Node's own runner. An empty test run is an error.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { bundle, here } from './bundle.mjs';

const names = readdirSync(here).filter((name) => name.endsWith('_test.ts'));
if (names.length === 0) throw new Error('no test was found');
const files = await bundle(...names);
const { status } = spawnSync(process.execPath, ['--test', ...files], { stdio: 'inherit' });
process.exit(status ?? 1);
