// SPDX-License-Identifier: Apache-2.0
// Bundles the page into dist/: viewer.js, viewer.css, page.html (the template) and hashes.json
// (what a single file's content security policy names). The C++ build takes these files as they
// are. Usage: node build.mjs [FOLDER] (dist/)
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const dist = process.argv[2] ?? join(here, 'dist');
mkdirSync(dist, { recursive: true });
await build({
  entryPoints: { viewer: join(here, 'src/main.ts') },
  outdir: dist,
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2022',
  charset: 'ascii',
  legalComments: 'none',
  logLevel: 'warning',
});
await build({
  entryPoints: { viewer: join(here, 'src/style.css') },
  outdir: dist,
  bundle: true,
  minify: true,
  charset: 'ascii',
  logLevel: 'warning',
});
const hashes = {};
for (const [name, forbidden] of [
  ['viewer.js', '</script'],
  ['viewer.css', '</style'],
]) {
  const path = join(dist, name);
  const text = readFileSync(path, 'utf8').trimEnd();
  if (text.toLowerCase().includes(forbidden)) throw new Error(`${name} has ${forbidden} in it`);
  writeFileSync(path, text);
  hashes[name] = `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
writeFileSync(join(dist, 'hashes.json'), `${JSON.stringify(hashes, null, 2)}\n`);
writeFileSync(join(dist, 'page.html'), readFileSync(join(here, 'src/page.html')));
console.log(
  Object.entries(hashes)
    .map(([name, hash]) => `${name} ${hash}`)
    .join('\n'),
);
