// SPDX-License-Identifier: Apache-2.0
// Tile sets that mean harm: every text is markup, quotes and control characters; every other blob
// is damaged.
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Blobs } from './encode';
import { random } from './demo_run';
import { demoSet } from './demo_set';

const kText =
  '<img src=x onerror=alert(1)><b>"\'&\u0000\u001b[31m\u202e</script>' +
  '<script>alert(2)</script>';
// Words with a meaning in the format; everything else is for people to read.
const kWords = new Set(
  (
    'spans samples tidemark-tiles float32 tensor scalar overview scopes hang graph tensors ' +
    'timeline core scheduler orchestrator lane counter marks loss kernel phase site reason mark ' +
    'before_dispatch after_completion bad warn note'
  ).split(' '),
);

export function hostileSet(): Blobs {
  const blobs = demoSet({ hang: true, tasks: 600 });
  for (const [name, bytes] of blobs) {
    if (name === 'index.json') blobs.set(name, spoil(Buffer.from(bytes)));
    else if (/^(doc|graph|tensors)\//.test(name)) {
      blobs.set(name, deflateRawSync(spoil(inflateRawSync(bytes))));
    }
  }
  return blobs;
}

function spoil(json: Buffer): Buffer {
  return Buffer.from(
    JSON.stringify(JSON.parse(json.toString()), (_, value: unknown) =>
      typeof value === 'string' && !isKept(value) ? `${kText}${value}` : value,
    ),
  );
}

export function damagedSet(): Blobs {
  const blobs = demoSet({ tasks: 9000 });
  const next = random(3);
  let number = 0;
  for (const [name, bytes] of blobs) {
    if (name === 'index.json' || name.startsWith('dir/') || number++ % 2 === 0) continue;
    const broken = Uint8Array.from(bytes);
    for (let i = 0; i < 6; i++)
      broken[Math.floor(next() * broken.length)] ^= 1 << Math.floor(next() * 8);
    blobs.set(name, broken);
  }
  return blobs;
}

function isKept(text: string): boolean {
  return kWords.has(text) || /^(0x[0-9a-f]{16}|core \d+)$/.test(text);
}
