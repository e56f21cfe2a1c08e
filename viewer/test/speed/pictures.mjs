// SPDX-License-Identifier: Apache-2.0
// What can be measured of the page in Debian's Chromium with software rendering. A picture counts
// only where the canvas has something in its lanes: a blank frame is an error, not a fast one.
import { kPatienceMs } from '../browser/chromium.mjs';

export const kSize = { width: 1280, height: 720 };

// Runs in the page. Of every so many lines of the canvas, how many have something drawn in them,
// right of the names; and a number that is another one when the picture is.
function lookAtCanvas() {
  const canvas = document.querySelector('canvas.spans');
  if (!canvas || canvas.width === 0) return { lines: 0, drawn: 0, colours: 0, sum: 0 };
  const context = canvas.getContext('2d');
  const page = getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number);
  const left = Math.floor(canvas.width * 0.2);
  const colours = new Set();
  let lines = 0;
  let drawn = 0;
  let sum = 0;
  for (let y = 30; y < canvas.height; y += 4) {
    const { data } = context.getImageData(left, y, canvas.width - left, 1);
    let painted = 0;
    for (let i = 0; i < data.length; i += 4) {
      const same = data[i] === page[0] && data[i + 1] === page[1] && data[i + 2] === page[2];
      if (same) continue;
      painted++;
      colours.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
      sum = (sum * 31 + i + data[i]) % 2147483647;
    }
    lines++;
    if (painted > 0) drawn++;
  }
  return { lines, drawn, colours: colours.size, sum };
}

// By the lines of the canvas. `share`: of them with something in them; where a view is narrow, a
// track may have nothing.
function demandPicture(seen, what, share) {
  if (seen.lines > 0 && seen.drawn >= seen.lines * share) return;
  throw new Error(`${what}: the picture is blank: ${JSON.stringify(seen)}`);
}

// From the request for the page to a picture of all that the tiles know: of every record, or of page
// headers where there is no more yet. The clock is the page's own, which begins when it is asked for.
export async function firstPicture(tab, address) {
  await tab.goto(`${address}#panel=timeline`, { waitUntil: 'commit' });
  const ms = await tab.waitForFunction(
    () => document.documentElement.dataset.picture === 'complete' && performance.now(),
    null,
    { polling: 'raf', timeout: kPatienceMs },
  );
  const time = await ms.jsonValue();
  const seen = await tab.evaluate(lookAtCanvas);
  demandPicture(seen, 'the first picture', 0.5);
  const note = await tab.textContent('.telling');
  return { ms: time, fromHeaders: /page headers/.test(note ?? ''), ...seen };
}

export async function whenComplete(tab) {
  await tab.waitForFunction(() => document.documentElement.dataset.picture === 'complete', null, {
    polling: 'raf',
    timeout: kPatienceMs,
  });
}

// Bytes that the page's script holds: objects, and what arrays keep outside of the heap.
export async function heapBytes(tab) {
  const session = await tab.context().newCDPSession(tab);
  const use = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return use.usedSize + (use.embedderHeapUsedSize ?? 0) + (use.backingStorageSize ?? 0);
}

// Zooms and pans with held keys and the wheel; every frame's time, and what was seen meanwhile.
export async function framesWhileMoving(tab, seconds) {
  await tab.evaluate(() => {
    window.frames_ = [];
    let last = 0;
    const frame = (now) => {
      if (last > 0) window.frames_.push(now - last);
      last = now;
      window.going_ = requestAnimationFrame(frame);
    };
    window.going_ = requestAnimationFrame(frame);
  });
  await tab.mouse.move(760, 400);
  const keys = ['w', 'd', 'w', 'a', 's', 'd', 'w', 'w', 's', 's'];
  const pictures = new Set();
  let heap = 0;
  let least = null;
  for (let second = 0; second < seconds; second++) {
    const key = keys[second % keys.length];
    await tab.keyboard.down(key);
    for (let i = 0; i < 10; i++) {
      if (i % 2 === 1) await tab.mouse.wheel(0, second % 2 === 0 ? -60 : 60);
      await tab.waitForTimeout(100);
    }
    await tab.keyboard.up(key);
    const seen = await tab.evaluate(lookAtCanvas);
    demandPicture(seen, `after ${second + 1} s of moving`, 0.05);
    pictures.add(seen.sum);
    if (!least || seen.drawn < least.drawn) least = seen;
    heap = Math.max(heap, await heapBytes(tab));
  }
  const frames = await tab.evaluate(() => {
    cancelAnimationFrame(window.going_);
    return window.frames_;
  });
  if (pictures.size < Math.min(5, seconds)) throw new Error('the pictures are all the same');
  frames.sort((a, b) => a - b);
  const at = (part) => frames[Math.min(frames.length - 1, Math.floor(frames.length * part))];
  return { frames: frames.length, median: at(0.5), p95: at(0.95), most: at(1), heap, least };
}

// Views anywhere, from the whole run to some microseconds: each from the moment when it is asked for
// until it is complete.
export async function randomViews(tab, { end, ticksPerSecond, views, random }) {
  const times = [];
  const narrowest = Math.min(end, ticksPerSecond * 20e-6);
  for (let i = 0; i < views; i++) {
    const width = Math.round(end * Math.pow(narrowest / end, random()));
    const begin = Math.round(random() * (end - width));
    const ms = await tab.evaluate(
      async ({ hash, patience }) => {
        const page = document.documentElement.dataset;
        delete page.picture;
        const began = performance.now();
        location.hash = hash;
        const frame = () => new Promise((resume) => requestAnimationFrame(resume));
        while (page.picture !== 'complete') {
          await frame();
          if (performance.now() - began > patience) throw new Error(`${hash} is never complete`);
        }
        return performance.now() - began;
      },
      { hash: `#panel=timeline&view=${begin}..${begin + width}`, patience: kPatienceMs },
    );
    times.push(ms);
    const words = await tab.textContent('.telling');
    if (/cannot be read/.test(words ?? '')) throw new Error(`${begin}..${begin + width}: ${words}`);
  }
  times.sort((a, b) => a - b);
  const seen = await tab.evaluate(lookAtCanvas);
  return {
    median: times[Math.floor(times.length / 2)],
    p95: times[Math.min(times.length - 1, Math.floor(times.length * 0.95))],
    most: times[times.length - 1],
    last: seen,
  };
}
