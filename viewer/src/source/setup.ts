// SPDX-License-Identifier: Apache-2.0
// What whoever filled in the template says about it: the way, and the prefixes of the runs.
import * as shape from '../codec/shape';
import { safePrefix } from '../codec/index_file';
import { EmbeddedSource } from './embedded_source';
import { ServedSource } from './served_source';
import { SiteSource } from './site_source';
import type { TileSource } from './tile_source';

export interface Setup {
  way: 'embedded' | 'site' | 'served';
  run: string;
  other: string | null;
  runs: string | null;
}

// `query` is the page's own: ?run=PREFIX&other=PREFIX chooses among the runs of a server.
export function readSetup(json: string, query: string): Setup {
  let value: unknown = null;
  try {
    value = JSON.parse(json);
  } catch {
    // A template that nobody filled in: a site in this folder.
  }
  const setup = shape.record(value);
  const asked = new URLSearchParams(query);
  const way = setup.way === 'embedded' || setup.way === 'served' ? setup.way : 'site';
  const chosen = way === 'embedded' ? null : asked.get('run');
  const other = way === 'embedded' ? null : asked.get('other');
  return {
    way,
    run: safePrefix(chosen ?? shape.text(setup.run)),
    other:
      other !== null
        ? safePrefix(other)
        : typeof setup.other === 'string'
          ? safePrefix(setup.other)
          : null,
    runs: typeof setup.runs === 'string' ? setup.runs : null,
  };
}

export function sourceOf(setup: Setup, prefix: string): TileSource {
  if (setup.way === 'embedded') return new EmbeddedSource(prefix);
  return setup.way === 'served' ? new ServedSource(prefix) : new SiteSource(prefix);
}
