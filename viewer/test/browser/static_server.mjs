// SPDX-License-Identifier: Apache-2.0
// A plain web server of this machine for the files of one folder, as anybody may have one.
import { createServer } from 'node:http';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const kTypes = { html: 'text/html', js: 'text/javascript', css: 'text/css' };

// `made`: what is below a name of the first level comes from a function; nothing: 404.
export async function fileServer(folder, made = {}) {
  const asked = [];
  const server = createServer((request, answer) => {
    const path = decodeURIComponent(new URL(request.url, 'http://x').pathname).slice(1);
    asked.push(path);
    const [first, ...rest] = path.split('/');
    const body = made[first] ? made[first](rest.join('/')) : fileIn(folder, path || 'index.html');
    if (body == null) {
      answer.writeHead(404).end();
      return;
    }
    const ending = /\.(\w+)$/.exec(path)?.[1] ?? (path.endsWith('/') || !path ? 'html' : '');
    answer.setHeader('Content-Type', kTypes[ending] ?? 'application/octet-stream');
    answer.end(body);
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    address: `http://127.0.0.1:${server.address().port}/`,
    asked,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function fileIn(folder, path) {
  const file = join(folder, path);
  if (path.split('/').includes('..') || !statSync(file, { throwIfNoEntry: false })?.isFile()) {
    return null;
  }
  return readFileSync(file);
}
