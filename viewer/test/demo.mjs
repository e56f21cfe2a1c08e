// SPDX-License-Identifier: Apache-2.0
// Writes demo pages to test/out/: demo.html (a single file with a second run), hang.html and site/.
// With --large also large.html: a million spans on 64 tracks.
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { bundle, here } from './bundle.mjs';

const [set, file] = await bundle('demo_set.ts', 'page_file.ts');
const { demoSet } = await import(pathToFileURL(set));
const { singleFile, site } = await import(pathToFileURL(file));
const dist = join(here, '../dist');
const out = join(here, 'out');
const first = { prefix: '', blobs: demoSet() };
const second = { prefix: 'other/', blobs: demoSet({ nan: false, slower: 1.1, lossy: false }) };
writeFileSync(join(out, 'demo.html'), singleFile(dist, [first, second]));
writeFileSync(
  join(out, 'hang.html'),
  singleFile(dist, [{ prefix: '', blobs: demoSet({ hang: true, tasks: 900 }) }]),
);
site(dist, join(out, 'site'), [first, second]);
if (process.argv.includes('--large')) {
  const blobs = demoSet({ cores: 58, tasks: 250000 });
  writeFileSync(join(out, 'large.html'), singleFile(dist, [{ prefix: '', blobs }]));
}
