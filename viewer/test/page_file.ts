// SPDX-License-Identifier: Apache-2.0
// Fills in the template as the C++ side does: a single file, or a folder for a web server.
import { mkdirSync, readFileSync, writeFileSync, copyFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Blobs } from './encode';

export interface Filled {
  title: string;
  policy: string;
  style: string;
  script: string;
  setup: string;
  data: string;
}

export function fill(template: string, parts: Filled): string {
  return template.replace(/\{\{(\w+)\}\}/g, (_, name: keyof Filled) => parts[name]);
}

export function singleFile(dist: string, runs: { prefix: string; blobs: Blobs }[]): string {
  const hashes = JSON.parse(readFileSync(join(dist, 'hashes.json'), 'utf8')) as Record<
    string,
    string
  >;
  const data = runs
    .flatMap(({ prefix, blobs }) =>
      [...blobs].map(
        ([name, bytes]) =>
          `<script type="application/octet-stream" data-name="${prefix}${name}">` +
          `${Buffer.from(bytes).toString('base64')}</script>`,
      ),
    )
    .join('\n');
  return fill(readFileSync(join(dist, 'page.html'), 'utf8'), {
    title: 'A demo run',
    policy:
      `default-src 'none'; script-src '${hashes['viewer.js']}'; ` +
      `style-src '${hashes['viewer.css']}'; img-src data: blob:`,
    style: `<style>${readFileSync(join(dist, 'viewer.css'), 'utf8')}</style>`,
    script: `<script>${readFileSync(join(dist, 'viewer.js'), 'utf8')}</script>`,
    setup: JSON.stringify({ way: 'embedded', run: '', other: runs.length > 1 ? 'other/' : null }),
    data,
  });
}

export function site(dist: string, folder: string, runs: { prefix: string; blobs: Blobs }[]): void {
  for (const { prefix, blobs } of runs) {
    for (const [name, bytes] of blobs) {
      const path = join(folder, prefix, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, bytes);
    }
  }
  for (const name of ['viewer.js', 'viewer.css'])
    copyFileSync(join(dist, name), join(folder, name));
  writeFileSync(
    join(folder, 'index.html'),
    fill(readFileSync(join(dist, 'page.html'), 'utf8'), {
      title: 'A demo run',
      policy:
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src data: blob:; " +
        "connect-src 'self'",
      style: '<link rel="stylesheet" href="viewer.css">',
      script: '<script src="viewer.js" defer></script>',
      setup: JSON.stringify({ way: 'site', run: '', other: runs.length > 1 ? 'other/' : null }),
      data: '',
    }),
  );
}
