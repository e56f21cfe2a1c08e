// SPDX-License-Identifier: Apache-2.0
// Compiles a test program of TypeScript, so that plain Node can run it.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

export const here = dirname(fileURLToPath(import.meta.url));

export async function bundle(...names) {
  await build({
    entryPoints: names.map((name) => join(here, name)),
    outdir: join(here, 'out'),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node18',
    packages: 'external',
    inject: [join(here, 'raw_inflate.mjs')],
    logLevel: 'warning',
  });
  return names.map((name) => join(here, 'out', name.replace(/\.ts$/, '.mjs')));
}
