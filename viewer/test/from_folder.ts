// SPDX-License-Identifier: Apache-2.0
// Makes a single file of the tile sets in folders (as `tidemark report --tiles` writes them), with
// the page as it is built now. Usage: node test/from_folder.mjs OUT.html FOLDER [OTHER]
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { Blobs } from './encode';
import { singleFile } from './page_file';

function readFolder(folder: string): Blobs {
  const blobs: Blobs = new Map();
  const visit = (path: string): void => {
    for (const name of readdirSync(path)) {
      const one = join(path, name);
      if (statSync(one).isDirectory()) visit(one);
      else if (!/\.(html|js|css)$/.test(name)) {
        blobs.set(relative(folder, one).split(sep).join('/'), readFileSync(one));
      }
    }
  };
  visit(folder);
  return blobs;
}

export function fromFolders(dist: string, out: string, folders: string[]): void {
  const runs = folders.map((folder, i) => ({
    prefix: i === 0 ? '' : 'other/',
    blobs: readFolder(folder),
  }));
  writeFileSync(out, singleFile(dist, runs));
}
