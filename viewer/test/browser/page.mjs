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
