// SPDX-License-Identifier: Apache-2.0
// Questions that a new user answers by clicking only: what to click is read on the page, and nothing
// of the run is known beforehand. What is right is said by other commands, of the same run.
import assert from 'node:assert/strict';
import { complete, openPanel } from './page.mjs';
import * as pages from './real_pages.mjs';

export async function clicks(browser, runs) {
  await slowestOfThePath(browser, runs);
  await fullHeap(browser, runs);
  await firstNaN(browser, runs);
  await stuckKernel(browser, runs);
  await firstDifference(browser, runs);
  await everyFinding(browser, runs);
}

// A table below a heading: a click on a column's head, and the cells of the rows in sight.
const part = (tab, title) => tab.locator(`section:visible:has(> h2:text-is("${title}"))`);
const cells = (row) => row.getByRole('gridcell').allTextContents();
const selected = (tab) => tab.locator('footer').textContent();

async function slowestOfThePath(browser, runs) {
  await browser.check('Click.TheSlowestTaskOfTheCriticalPath', pages.paged(runs), async (tab) => {
    const path = part(tab, 'Critical path');
    const rows = path.getByRole('row');
    // Most first, by one click.
    await path.getByRole('button', { name: 'Execution' }).click();
    await path.getByRole('columnheader', { name: 'Execution ↓' }).waitFor();
    const [task, kernel, time] = await cells(rows.nth(1));
    const slowest = await slowestTask(
      runs,
      await runs.call(['swimlane', 'paged', '--steps', '999']),
    );
    assert.deepEqual([task, kernel], [slowest.task, slowest.kernel]);
    assert.equal(time, slowest.time);
    await rows.nth(1).click();
    await tab.waitForSelector(`footer strong:text-is("${task} ${kernel}")`);
    await complete(tab);
    assert.match(await selected(tab), new RegExp(`${slowest.time} from `));
  });
}

// Tasks of the path from `tidemark swimlane`, times from the exported records.
async function slowestTask(runs, text) {
  const lines = text.slice(text.indexOf('Critical path:')).split('\n');
  const path = lines.map((line) => /^ {2}(r?\d*t\d+)\s+(\w+)/.exec(line)).filter((one) => one);
  assert.ok(path.length > 1, text);
  const { tasks } = runs.json('paged', 'l2_swimlane_records.json');
  const all = path.map(([, task, kernel]) => {
    const ring = Number(/^r(\d)/.exec(task)?.[1] ?? 0);
    const local = Number(/t(\d+)/.exec(task)[1]);
    const record = tasks.find(({ task_id }) => task_id === ring * 2 ** 32 + local);
    assert.ok(record, task);
    return { task, kernel, us: record.end_time_us - record.start_time_us };
  });
  const slowest = all.reduce((most, one) => (one.us > most.us ? one : most));
  const digits = (value) => value.toFixed(Math.max(0, 3 - String(Math.floor(value)).length));
  const { us } = slowest;
  return { ...slowest, time: us < 1 ? `${digits(us * 1000)} ns` : `${digits(us)} µs` };
}

// The run opens on what stands out, and its first sentence leads to the ring.
async function fullHeap(browser, runs) {
  await browser.check('Click.TheScopeThatFilledTheHeap', pages.heap(runs), async (tab) => {
    const { culprit } = runs.json('heap', 'scope_stats.json');
    assert.deepEqual([culprit.resource, culprit.ring], ['heap', 0]);
    const first = tab.getByRole('list', { name: 'Findings' }).getByRole('listitem').first();
    assert.match(await first.textContent(), /heap of ring 0 is full/);
    await first.getByRole('button').or(first.getByRole('link')).click();
    const sentence = tab.locator('.sentence:visible');
    const said = new RegExp(`heap of ring 0 was full.* in the scope at ${culprit.scope}`);
    assert.match(await sentence.textContent(), said);
    // The same scope is chosen in the table of sites, and its setting is the one that is asked for.
    const row = part(tab, 'Scopes by site').locator('[aria-selected=true]');
    assert.equal((await cells(row))[0], culprit.scope);
    assert.ok((await sentence.textContent()).includes(culprit.setting));
    await openPanel(tab, 'Hang');
    assert.match(await tab.locator('.sentence:visible').textContent(), /heap of ring 0 is full/);
  });
}

async function firstNaN(browser, runs) {
  await browser.check('Click.TheFirstNaN', pages.broken(runs), async (tab) => {
    const said = await runs.call(['dump', 'broken', '--nan']);
    const [, task] = /^(\S+) is the first task that made a NaN/.exec(said);
    const line = said.split('\n').find((one) => one.includes(` ${task} `) && / after /.test(one));
    const words = line.trim().split(/ +/);
    const [row, , kernel, , arg] = words;
    const nan = words.at(-4);
    // By the sentence of the first screen.
    await tab.getByRole('button', { name: 'The first NaN was made by' }).click();
    await tab.locator(`.detail h2:text-is("${task} ${kernel}, argument ${arg}")`).waitFor();
    await tab.waitForSelector(`footer strong:text-is("${task} ${kernel}")`);
    // By the table alone.
    await tab.keyboard.press('Escape');
    await tab.getByLabel('NaN or infinity').check();
    const rows = tab.getByRole('grid', { name: 'Arguments' }).getByRole('row');
    const first = await cells(rows.nth(1));
    assert.deepEqual([...first.slice(0, 3), first[7]], [row, task, kernel, `${nan} NaN`]);
    await rows.nth(1).click();
    await tab.locator(`.detail h2:text-is("${task} ${kernel}, argument ${arg}")`).waitFor();
  });
}

async function stuckKernel(browser, runs) {
  await browser.check('Click.TheStuckKernel', pages.hang(runs), async (tab) => {
    const hang = JSON.parse(await runs.call(['hang', 'hang', '--json']));
    const [stuck] = hang.stuck;
    const sentence = await tab.locator('.sentence:visible').textContent();
    // Names stand out on the page instead of having back quotes.
    const words = hang.sentence.replaceAll('`', '');
    assert.equal(sentence.toLowerCase(), `${words}.`.toLowerCase());
    const card = part(tab, 'Stuck');
    await card.getByRole('button').first().click();
    const name = `${stuck.task} ${stuck.kernel}`;
    await tab.waitForSelector(`footer strong:text-is("${name}")`);
    assert.match(await selected(tab), new RegExp(`submitted at ${stuck.site}`));
    assert.equal(await card.locator('dt:text-is("on") + dd').textContent(), `core ${stuck.core}`);
    for (const waiter of stuck.waiters) await card.getByRole('button', { name: waiter }).waitFor();
    const chain = tab.locator('section:has(> h2:text-is("Who waits for whom")) li');
    assert.deepEqual(await chain.allTextContents(), hang.chain);
    await card.getByRole('button', { name: 'Its place in the timeline' }).click();
    await complete(tab);
    await openPanel(tab, 'Graph');
    await tab.waitForSelector(`.node.centre:has-text("${stuck.task}")`);
    await openPanel(tab, 'Tensors');
    await tab.waitForSelector(`.detail h2:has-text("${name}")`);
  });
}

async function firstDifference(browser, runs) {
  await browser.check(
    'Click.TheFirstTaskThatDiffers',
    pages.healthyBesideBroken(runs),
    async (tab) => {
      const said = await runs.call(['dump', 'diff', 'healthy', 'broken'], [1]);
      const [, task] = /first divergence: (\S+),/.exec(said);
      const [, kernel] = new RegExp(`^ +${task} +(\\w+)`, 'm').exec(said);
      const differing = new Set([...said.matchAll(/^ {2}(r?\d*t\d+) /gm)].map(([, one]) => one));
      await tab.getByRole('tab', { name: 'Compare' }).click();
      const verdict = part(tab, 'Where the values part');
      const sentence = `The first task that differs is ${task} ${kernel}.`;
      await verdict.getByText(sentence).waitFor();
      assert.match(await verdict.textContent(), new RegExp(`${differing.size} tasks differ`));
      await verdict.getByRole('button', { name: `${task} ${kernel}` }).click();
      await tab.waitForSelector(`.detail h2:has-text("${task} ${kernel}")`);
      await tab.waitForSelector(`footer strong:text-is("${task} ${kernel}")`);
    },
  );
}

// Each sentence of the first screen leads to a panel that has something to show.
async function everyFinding(browser, runs) {
  for (const name of ['paged', 'broken', 'heap', 'hang']) {
    await browser.check(`Findings.LeadSomewhere.${name}`, pages[name](runs), async (tab) => {
      await openPanel(tab, 'Overview');
      const findings = tab.getByRole('list', { name: 'Findings' }).getByRole('button');
      const count = await findings.count();
      assert.ok(count > 0 && count <= 7);
      for (let i = 0; i < count; i++) {
        const words = await findings.nth(i).textContent();
        await findings.nth(i).click();
        await tab.waitForSelector('.overview', { state: 'hidden' });
        // All arguments, of which none is chosen yet, are something.
        const empty = tab.locator('.nothing:visible:not(:text-is("Choose an argument."))');
        assert.equal(await empty.or(tab.locator('.failed:visible')).count(), 0, words);
        await openPanel(tab, 'Overview');
      }
    });
  }
}
