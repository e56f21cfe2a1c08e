// SPDX-License-Identifier: Apache-2.0
// See from_folder.ts.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle, here } from './bundle.mjs';

const [program] = await bundle('from_folder.ts');
const { fromFolders } = await import(pathToFileURL(program));
const [out, ...folders] = process.argv.slice(2);
fromFolders(join(here, '../dist'), out, folders);
