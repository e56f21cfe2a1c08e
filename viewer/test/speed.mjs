// SPDX-License-Identifier: Apache-2.0
// How fast a page opens, and how long frames take while it zooms and pans, in Debian's Chromium
// with software rendering. Usage: node test/speed.mjs FILE-OR-ADDRESS
// The picture is looked at: a frame without many colours in it does not count.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const [page] = process.argv.slice(2);
const address = /^https?:/.test(page) ? page : pathToFileURL(resolve(page)).href;
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
    '--enable-precise-memory-info',
  ],
});
try {
  const tab = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  const began = Date.now();
  await tab.goto(`${address}#panel=timeline`, { waitUntil: 'commit' });
  await tab.waitForFunction(() => document.documentElement.dataset.picture === 'complete', null, {
    polling: 20,
    timeout: 60000,
  });
  console.log(`first full picture ${Date.now() - began} ms`);
  await tab.evaluate(() => {
    window.frames_ = [];
    let last = performance.now();
    const frame = (now) => {
      window.frames_.push(now - last);
      last = now;
      window.going_ = requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  await tab.mouse.move(700, 400);
  for (let second = 0; second < 10; second++) {
    const keys = ['w', 'd', 'w', 'a', 's', 'd', 'w', 'w', 's', 's'];
    await tab.keyboard.down(keys[second]);
    await tab.waitForTimeout(1000);
    await tab.keyboard.up(keys[second]);
  }
  const result = await tab.evaluate(() => {
    cancelAnimationFrame(window.going_);
    const frames = window.frames_.sort((a, b) => a - b);
    const canvas = document.querySelector('canvas.spans');
    const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    const colours = new Set();
    for (let i = 0; i < data.length; i += 4)
      colours.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    const at = (part) => frames[Math.floor(frames.length * part)].toFixed(1);
    return {
      frames: frames.length,
      median: at(0.5),
      p95: at(0.95),
      most: at(0.9999),
      colours: colours.size,
      heapMb: (performance.memory.usedJSHeapSize / 2 ** 20).toFixed(0),
    };
  });
  console.log(JSON.stringify(result));
} finally {
  await browser.close();
}
