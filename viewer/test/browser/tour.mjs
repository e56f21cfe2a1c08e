// SPDX-License-Identifier: Apache-2.0
// One real run, the three ways to its page, and everything that hands can do with it. The numbers on
// the page are compared with the files of the run.
import assert from 'node:assert/strict';
import {
  center,
  complete,
  follow,
  openPanel,
  rectangles,
  spanUnder,
  state,
  stateWhere,
} from './page.mjs';
import * as pages from './real_pages.mjs';
import { until } from './runs.mjs';
import { fileServer } from './static_server.mjs';

export async function tours(browser, runs) {
  await browser.check('File.IsOneRunToLookAround', pages.paged(runs), (tab) => tour(tab, runs));
  await site(browser, runs);
  await served(browser, runs);
  await hands(browser, runs);
  await links(browser, runs);
  await themes(browser, runs);
  await keysAlone(browser, runs);
}

async function site(browser, runs) {
  await pages.pagedRun(runs);
  const server = await fileServer(await runs.site('paged'));
  await browser.check('Site.IsOneRunToLookAround', server.address, (tab) => tour(tab, runs));
  server.close();
}

async function served(browser, runs) {
  await pages.pagedRun(runs);
  const server = await runs.serve('paged');
  await browser.check('Served.IsOneRunToLookAround', server.address, (tab) => tour(tab, runs));
  assert.equal(await server.stop(), 130);
}

// What every way shows of the run.
async function tour(tab, runs) {
  const { tasks } = runs.json('paged', 'l2_swimlane_records.json');
  const { streams } = runs.json('paged', 'run.json');
  const sum = (key) => Object.values(streams).reduce((all, one) => all + (one[key] ?? 0), 0);
  const records = sum('produced').toLocaleString('en-US');
  await tab.waitForSelector('header .status');
  const head = await tab.textContent('header');
  assert.match(head, /paged_attention VarSeq4 on sim\s*ok/);
  assert.match(head, new RegExp(`ledger closed: ${records} of ${records}`));
  for (const kernel of ['qk', 'pv', 'sf', 'up']) {
    const of = tasks.filter((task) => task.func_name === kernel);
    const row = tab.locator('section:has(> h2:text-is("Kernels"))').getByRole('row', {
      name: new RegExp(`^${kernel} `),
    });
    assert.equal(await row.getByRole('gridcell').nth(1).textContent(), String(of.length));
  }
  await openPanel(tab, 'Timeline');
  await complete(tab);
  assert.ok((await rectangles(tab)) > 20);
  await searchFor(tab, taskName(tasks[7]));
  await shows(tab, tasks[7]);
  await openPanel(tab, 'Graph');
  await tab.waitForSelector(`.node.centre:has-text("${taskName(tasks[7])}")`);
  await openPanel(tab, 'Scopes');
  await tab.waitForSelector('.scopes .charts :text("peak")');
}

const kRing = 2 ** 32;
export const taskName = ({ task_id }) =>
  `${task_id >= kRing ? `r${Math.floor(task_id / kRing)}` : ''}t${task_id % kRing}`;

async function searchFor(tab, words) {
  await tab.fill('.search input', words);
  await tab.click('.found li');
}

// The line of the selected task says what the records say: name, kernel, and how long it took.
async function shows(tab, task) {
  await tab.waitForSelector(`footer strong:text-is("${taskName(task)} ${task.func_name}")`);
  const us = task.end_time_us - task.start_time_us;
  await tab.waitForFunction(
    ([least, most]) => {
      const [, value, unit] = /([\d.]+) (ns|µs|ms) from /.exec(
        document.querySelector('footer').textContent,
      ) ?? [0, NaN, 'ns'];
      const shown = Number(value) * { ns: 1e-3, µs: 1, ms: 1e3 }[unit];
      return shown >= least && shown <= most;
    },
    [us * 0.99, us * 1.01],
  );
}

// Wheel, drag, keys, double click, a click on a span; each moves what it should, and back.
async function hands(browser, runs) {
  await browser.check('Timeline.FollowsTheHands', pages.paged(runs), async (tab) => {
    const { tasks } = runs.json('paged', 'l2_swimlane_records.json');
    await openPanel(tab, 'Timeline');
    await complete(tab);
    const slowest = tasks.reduce((a, b) => (a.duration_us > b.duration_us ? a : b));
    await searchFor(tab, taskName(slowest));
    await shows(tab, slowest);
    await tab.keyboard.press('f');
    const fitted = width(await stateWhere(tab, (now) => now.view));
    await complete(tab);
    await tab.keyboard.press('Escape');
    await tab.waitForSelector('footer:has-text("Nothing is selected")');
    const at = await spanUnder(tab, taskName(slowest));
    await tab.mouse.click(at.x, at.y);
    await shows(tab, slowest);
    await wheelAndDrag(tab, at, fitted);
    await tab.mouse.dblclick(at.x, (await center(tab)).bottom - 8);
    await stateWhere(tab, (now) => now.view === undefined);
  });
}

const width = ({ view }) => {
  const [begin, end] = view.split('..').map(Number);
  return end - begin;
};

async function wheelAndDrag(tab, at, fitted) {
  await tab.mouse.move(at.x, at.y);
  await tab.mouse.wheel(0, -200);
  const closer = await stateWhere(tab, (now) => now.view && width(now) < fitted * 0.9);
  await complete(tab);
  // What is under the pointer stays there.
  assert.ok((await spanUnder(tab, '', at)).text.length > 0);
  await tab.mouse.down();
  await tab.mouse.move(at.x - 120, at.y, { steps: 4 });
  await tab.mouse.up();
  const moved = await stateWhere(tab, (now) => now.view && now.view !== closer.view);
  assert.ok(Math.abs(width(moved) - width(closer)) <= 2);
  assert.ok(parseInt(moved.view) > parseInt(closer.view));
  for (const [key, test] of [
    ['w', (now, before) => width(now) < width(before)],
    ['s', (now, before) => width(now) > width(before)],
    ['a', (now, before) => parseInt(now.view) < parseInt(before.view)],
    ['d', (now, before) => parseInt(now.view) > parseInt(before.view)],
  ]) {
    const before = await state(tab);
    await tab.keyboard.press(key, { delay: 60 });
    await stateWhere(tab, (now) => now.view && now.view !== before.view && test(now, before));
  }
}

// One task under every panel, and the same in somebody else's browser.
async function links(browser, runs) {
  let address = '';
  let seen = '';
  await browser.check('Links.LeadFromPanelToPanel', pages.paged(runs), async (tab) => {
    const { tasks } = runs.json('paged', 'l2_swimlane_records.json');
    const { edges } = runs.json('paged', 'deps.json');
    const task = tasks.find(({ task_id, func_name }) => func_name === 'up' && task_id > 0);
    await searchFor(tab, taskName(task));
    await shows(tab, task);
    // Who it waited for is one that the recorded graph has as its producer.
    const producers = producersOf(edges, task.task_id);
    const waited = tab.locator('footer button.link').first();
    const name = (await waited.textContent()).split(' ')[0];
    assert.ok(producers.includes(name), `${name} of ${producers}`);
    await follow(tab, 'Graph');
    await tab.waitForSelector(`.node.centre:has-text("${taskName(task)}")`);
    for (const one of producers) await tab.waitForSelector(`.node:has-text("${one}")`);
    await follow(tab, 'Scope');
    await tab.waitForSelector('.scopes [aria-selected=true]');
    await follow(tab, 'Timeline');
    await complete(tab);
    await tab.keyboard.press('f');
    await stateWhere(tab, (now) => now.view);
    await complete(tab);
    address = tab.url();
    seen = await tab.textContent('footer');
  });
  await browser.check(
    'Links.ShowTheSameToAColleague',
    () => address,
    async (tab) => {
      await complete(tab);
      await tab.waitForFunction(
        (text) => document.querySelector('footer').textContent === text,
        seen,
      );
      assert.equal(tab.url(), address);
      await tab.goBack().catch(() => undefined);
    },
  );
}

const producersOf = (edges, id) => {
  const name = (value) => taskName({ task_id: Number(value) });
  return edges.filter(({ succ }) => Number(succ) === id).map(({ pred }) => name(pred));
};

// Both themes can be read, on the page and on the canvas.
async function themes(browser, runs) {
  for (const colorScheme of ['light', 'dark']) {
    const name = `Theme.CanBeRead.${colorScheme}`;
    await browser.check(
      name,
      pages.paged(runs),
      async (tab) => {
        assert.ok((await contrast(tab)) >= 4.5);
        const other = colorScheme === 'light' ? 'dark' : 'light';
        await openPanel(tab, 'Timeline');
        await complete(tab);
        const before = await brightness(tab);
        assert.ok(colorScheme === 'dark' ? before < 90 : before > 165, `${before}`);
        await tab.click('.tool:text-is("Theme")');
        await stateWhere(tab, (now) => now.theme === other);
        await until(async () => (await brightness(tab)) < 90 !== before < 90);
        assert.ok((await contrast(tab)) >= 4.5);
      },
      { colorScheme },
    );
  }
}

// Of the text and what is behind it, as the guidelines of the web count it.
const contrast = (tab) =>
  tab.evaluate(() => {
    const light = (color) => {
      const parts = color.match(/[\d.]+/g).slice(0, 3);
      const [r, g, b] = parts.map((part) => {
        const share = part / 255;
        return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const { color, backgroundColor } = getComputedStyle(document.body);
    const [a, b] = [light(color), light(backgroundColor)].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  });

// Of the timeline's canvas, 0 to 255.
const brightness = (tab) =>
  tab.evaluate(() => {
    const canvas = document.querySelector('canvas.spans');
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d');
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    let sum = 0;
    for (let i = 0; i < data.length; i += 4) sum += data[i] + data[i + 1] + data[i + 2];
    return sum / (data.length / 4) / 3;
  });

// The slowest task of the critical path, without a mouse.
async function keysAlone(browser, runs) {
  await browser.check('Keys.AreEnough', pages.paged(runs), async (tab) => {
    const { tasks } = runs.json('paged', 'l2_swimlane_records.json');
    const press = (...keys) =>
      keys.reduce((last, key) => last.then(() => tab.keyboard.press(key)), Promise.resolve());
    await tab.waitForSelector('.overview .findings');
    await tabTo(tab, (focus) => focus.text === 'Execution');
    await press('Enter');
    await tabTo(tab, (focus) => focus.label === 'Critical path', 'Shift+Tab');
    await press('ArrowDown', 'Home', 'Enter');
    await tab.waitForSelector('footer strong');
    const chosen = await tab.textContent('footer strong');
    const task = tasks.find((one) => `${taskName(one)} ${one.func_name}` === chosen);
    assert.ok(task, chosen);
    await press('f');
    await stateWhere(tab, (now) => now.view);
    await press('.');
    await stateWhere(tab, (now) => Number(BigInt(now.task ?? '0x0')) !== task.task_id);
    await press(',');
    await shows(tab, task);
    for (const [key, title] of [
      ['5', 'Graph'],
      ['3', 'Scopes'],
      ['4', 'Tensors'],
      ['6', 'Hang'],
      ['7', 'Compare'],
      ['1', 'Overview'],
      ['2', 'Timeline'],
    ]) {
      await press(key);
      await tab.waitForSelector(`.panel[aria-label="${title}"]:visible`);
    }
    await press('t');
    await tab.waitForSelector('footer:has-text("ticks")');
    await press('0');
    await stateWhere(tab, (now) => now.view === undefined);
    await press('/');
    await tab.keyboard.type('pv');
    await tab.waitForSelector('.found li');
    await press('Enter');
    await stateWhere(tab, (now) => now.kernel === 'pv');
    await press('Escape');
    await tab.waitForSelector('footer:has-text("Nothing is selected")');
  });
}

// Presses Tab until what has the focus is wanted.
async function tabTo(tab, test, key = 'Tab') {
  for (let i = 0; i < 120; i++) {
    await tab.keyboard.press(key);
    const focus = await tab.evaluate(() => ({
      text: document.activeElement.textContent,
      label: document.activeElement.getAttribute('aria-label'),
    }));
    if (test(focus)) return;
  }
  assert.fail('cannot be reached by Tab');
}
