// SPDX-License-Identifier: Apache-2.0
// Takes pictures of every panel of a page in Debian's Chromium, to look at.
// Usage: node test/pictures.mjs FILE-OR-ADDRESS OUT [WIDTHxHEIGHT] [light|dark] [PANEL…]
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const [page, out, size = '1280x720', theme = 'light', ...wanted] = process.argv.slice(2);
const [width, height] = size.split('x').map(Number);
const address = /^https?:/.test(page) ? page : pathToFileURL(resolve(page)).href;
mkdirSync(out, { recursive: true });
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
});
try {
  const tab = await browser.newPage({ viewport: { width, height }, colorScheme: theme });
  const said = [];
  tab.on('console', (message) => said.push(`${message.type()}: ${message.text()}`));
  tab.on('pageerror', (error) => said.push(`error: ${error.stack ?? error}`));
  await tab.goto(address);
  await tab.waitForSelector('.tabs button', { timeout: 20000 });
  const panels =
    wanted.length > 0
      ? wanted
      : ['Overview', 'Timeline', 'Scopes', 'Tensors', 'Graph', 'Hang', 'Compare'];
  for (const panel of panels) {
    await tab.click(`.tabs button:text-is("${panel}")`);
    await tab.waitForTimeout(panel === 'Timeline' ? 1200 : 500);
    await tab.screenshot({ path: join(out, `${panel.toLowerCase()}-${theme}-${width}.png`) });
  }
  if (said.length > 0) console.log(said.slice(0, 20).join('\n'));
} finally {
  await browser.close();
}
