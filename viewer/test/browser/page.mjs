// SPDX-License-Identifier: Apache-2.0
// What the checks know of the page: only what is on it, and what it says of itself for tests.

export const kAllPanels = ['Overview', 'Timeline', 'Scopes', 'Tensors', 'Graph', 'Hang', 'Compare'];

// The timeline needs no further tile.
export const complete = (tab) =>
  tab.waitForFunction(() => document.documentElement.dataset.picture === 'complete');

export const rectangles = (tab) =>
  tab.evaluate(() => Number(document.documentElement.dataset.rectangles));

// What the address holds.
export const state = (tab) =>
  tab.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1))));

// Until the address holds what `test` is content with: it follows a moving view a little later.
export async function stateWhere(tab, test) {
  for (;;) {
    const [hash, now] = [await tab.evaluate(() => location.hash), await state(tab)];
    if (test(now)) return now;
    await tab.waitForFunction((before) => location.hash !== before, hash);
  }
}

export async function openPanel(tab, title) {
  await tab.click(`.tabs button:text-is("${title}")`);
  await tab.waitForSelector(`.panel[aria-label="${title}"]:visible, .panel.failed:visible`);
}

// A way on in the line of what is selected.
export const follow = (tab, words) => tab.click(`footer button.link:text-is("${words}")`);

export async function center(tab) {
  const box = await tab.locator('canvas.spans').boundingBox();
  return { x: box.x + box.width * 0.56, top: box.y, bottom: box.y + box.height };
}

// What the tip says at a point, or at the first one in the middle, from above, whose tip has `words`.
export async function spanUnder(tab, words, at = null) {
  const { x, top, bottom } = await center(tab);
  const ys = at ? [at.y] : Array.from({ length: (bottom - top) / 5 }, (_, i) => top + 5 * i);
  for (const y of ys) {
    const point = { x: at?.x ?? x, y };
    await tab.mouse.move(point.x, point.y);
    const text = await tab.evaluate(() => {
      const tip = document.querySelector('.tip');
      return tip.hidden ? '' : tip.textContent;
    });
    if (text.includes(words)) return { ...point, text };
  }
  throw new Error(`nothing in the middle of the timeline says ${words}`);
}
