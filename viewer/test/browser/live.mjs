// SPDX-License-Identifier: Apache-2.0
// Runs that go on while they are looked at, through `tidemark serve`; and its list of runs.
import assert from 'node:assert/strict';
import { complete, openPanel, rectangles } from './page.mjs';
import * as pages from './real_pages.mjs';
import { until } from './runs.mjs';

export async function live(browser, runs) {
  await growingRun(browser, runs);
  await hangWhileWatched(browser, runs);
  await listOfRuns(browser, runs);
}

const number = (text) => Number(text.replaceAll(',', ''));

// Records that are on the page, by its own words.
async function here(tab) {
  const words = await tab.textContent('header');
  const found = /([\d,]+) here|ledger closed: ([\d,]+)|([\d,]+) records/.exec(words);
  return found ? number(found[1] ?? found[2] ?? found[3]) : 0;
}

const status = (tab) => tab.textContent('header .status');

// Nothing here waits for a run to be over by itself: it goes on until it is asked to end.
async function growingRun(browser, runs) {
  let server = null;
  const words = 'synthetic_producer --lanes 2 --rate 20000 --seconds 600';
  const started = () => runs.once('growing', () => runs.startRun('growing', words));
  const address = async () => {
    await started();
    server = await runs.serve('growing');
    return server.address;
  };
  await browser.check(
    'Live.AServerThatIsGoneIsSaid',
    address,
    async (tab) => {
      await tab.waitForSelector('header .status:text-is("running")');
      await openPanel(tab, 'Timeline');
      await until(async () => (await rectangles(tab)) > 0);
      assert.equal(await server.stop(), 130);
      await tab.waitForSelector('footer [role=alert]');
      assert.ok((await rectangles(tab)) > 0);
    },
    { allowed: /ERR_CONNECTION|Failed to load resource/ },
  );
  await browser.check('Live.NewSpansAppearAndTheEndIsSeen', address, async (tab) => {
    await tab.waitForSelector('header .status:text-is("running")');
    await openPanel(tab, 'Timeline');
    await until(async () => (await here(tab)) > 0);
    for (let looks = 0; looks < 3; looks++) {
      const before = { records: await here(tab), end: await lastTick(tab) };
      await until(async () => (await here(tab)) > before.records);
      await until(async () => (await lastTick(tab)) > before.end);
    }
    assert.ok((await rectangles(tab)) > 0);
    const run = await started();
    run.child.kill('SIGINT');
    assert.equal(await run.ended, 130);
    await tab.waitForSelector('header .status:text-is("interrupted")');
    await complete(tab);
    const { streams } = runs.json('growing', 'run.json');
    const produced = Object.values(streams).reduce((all, one) => all + one.produced, 0);
    assert.equal(await here(tab), produced);
    const spans = streams.swimlane.produced;
    await openPanel(tab, 'Overview');
    const ledger = tab.locator(
      'section:has(> h2:text-is("Ledger")) tr:has(th:text-is("swimlane"))',
    );
    assert.equal(number(await ledger.locator('td').first().textContent()), spans);
    assert.equal(await spansOfTiles(tab), spans);
    assert.equal(await server.stop(), 130);
  });
}

// The end of the run as the index of the page has it: the page shows the whole run.
const lastTick = async (tab) => (await indexOf(tab)).end;

async function spansOfTiles(tab) {
  const { tracks } = await indexOf(tab);
  return tracks.filter(({ kind }) => kind === 'lane').reduce((sum, { count }) => sum + count, 0);
}

const indexOf = (tab) =>
  tab.evaluate(async () => {
    const setup = JSON.parse(document.getElementById('setup').textContent);
    return (await fetch(`${setup.run}index.json`)).json();
  });

async function hangWhileWatched(browser, runs) {
  await browser.check('Live.TheAutopsyAppearsWhenItHappens', 'about:blank', async (tab) => {
    // On a machine so slow that the run hung before it was seen: once more, with more time.
    for (let seconds = 4; ; seconds *= 3) {
      const name = `watched-${seconds}`;
      const words = '--dump-tensor --enable-l2-swimlane --enable-dep-gen';
      const limit = `--scheduler-timeout-ms ${seconds * 1000}`;
      const run = await runs.startRun(name, `hang_kernel ${words} ${limit}`);
      const server = await runs.serve(name);
      await tab.goto(server.address);
      await tab.waitForSelector('header .status');
      const seen = (await status(tab)) === 'running' && (await here(tab)) > 0;
      const inTime = seen && !(await tab.locator('.hang').isVisible());
      if (inTime) {
        await openPanel(tab, 'Timeline');
        await tab.waitForSelector('.hang .sentence:visible');
      }
      assert.equal(await run.ended, 3);
      if (inTime) await saysWhatTheRunSays(tab, runs, name);
      await server.stop();
      if (inTime) return;
      assert.ok(seconds < 200, 'never seen before it hung');
    }
  });
}

async function saysWhatTheRunSays(tab, runs, name) {
  await tab.waitForSelector('header .status:text-is("hang")');
  const hang = JSON.parse(await runs.call(['hang', name, '--json']));
  const sentence = tab.locator('.hang .sentence');
  // Names stand out on the page instead of having back quotes.
  const words = `${hang.sentence.slice(1).replaceAll('`', '')}.`;
  await until(async () => (await sentence.textContent()).endsWith(words));
  const [stuck] = hang.stuck;
  await tab.locator('.stuck .large button').click();
  await tab.waitForSelector(`footer strong:text-is("${stuck.task} ${stuck.kernel}")`);
}

// A folder of runs: one is opened by its name, two are compared.
async function listOfRuns(browser, runs) {
  await Promise.all([pages.healthyRun(runs), pages.brokenRun(runs), pages.pagedRun(runs)]);
  const server = await runs.serve('.');
  await browser.check('Served.ListsRunsToOpenAndToCompare', server.address, async (tab) => {
    await tab.getByRole('heading', { name: 'Runs' }).waitFor();
    await tab.getByRole('link', { name: 'paged', exact: true }).click();
    await tab.waitForSelector('header:has-text("paged_attention VarSeq4")');
    await tab.getByRole('link', { name: 'Runs' }).click();
    await tab.getByRole('checkbox', { name: 'compare healthy' }).check();
    const button = tab.getByRole('button', { name: 'Compare two' });
    assert.ok(await button.isDisabled());
    await tab.getByRole('checkbox', { name: 'compare broken' }).check();
    await button.click();
    await tab.getByRole('tab', { name: 'Compare' }).click();
    const said = await runs.call(['dump', 'diff', 'healthy', 'broken'], [1]);
    const [, task] = /first divergence: (\S+),/.exec(said);
    await tab.getByText(`The first task that differs is ${task} `).waitFor();
    const cell = (row, place) =>
      tab
        .locator(`section:has(> h2:text-is("Time per kernel")) .one`)
        .nth(row)
        .locator('div')
        .nth(place);
    const kernel = (await cell(0, 0).textContent()).trim();
    for (const [place, run] of [
      [1, 'healthy'],
      [2, 'broken'],
    ]) {
      const { tasks } = runs.json(run, 'l2_swimlane_records.json');
      const blocks = tasks.filter(({ func_name }) => func_name === kernel).length;
      assert.equal(await cell(0, place).textContent(), String(blocks));
    }
  });
  await server.stop();
}
