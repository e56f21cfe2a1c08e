// SPDX-License-Identifier: Apache-2.0
// Runs as they come: hostile, huge, empty, lossy, killed, recovered, damaged. Whatever they are, the
// page shows what is there as text, says what is missing, and runs no script but its own.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { here } from '../bundle.mjs';
import { complete, kAllPanels, openPanel, rectangles } from './page.mjs';
import { until } from './runs.mjs';
import * as pages from './real_pages.mjs';
import { fileServer } from './static_server.mjs';

const kAlive = { allowed: /Content Security Policy/ };

export async function oddRuns(browser, runs) {
  await hostileTexts(browser, runs);
  await manyKernels(browser, runs);
  await manyLanes(browser, runs);
  await nothingToShow(browser, runs);
  await losses(browser, runs);
  await killedAndRecovered(browser, runs);
  await corpus(browser, runs);
  await damagedTiles(browser, runs);
}

const pageRuns = (runs, ...words) =>
  execFileSync(join(runs.build, 'tests/page/tidemark_page_runs'), words, { cwd: runs.folder });

// Nothing of a run became an element, and nothing that it brought was run.
async function nothingRan(tab) {
  assert.equal(await tab.locator('b, i, img, iframe, object, a[href^="javascript"]').count(), 0);
  assert.equal(await tab.evaluate(() => document.scripts.length), await ownScripts(tab));
}
// The page's own, its setup, and blobs that no browser runs.
const ownScripts = (tab) =>
  tab.evaluate(
    () =>
      document.querySelectorAll('script[type="application/octet-stream"], #setup').length +
      document.querySelectorAll('script:not([type])').length,
  );

async function everyPanel(tab, visit = () => undefined) {
  for (const panel of kAllPanels) {
    await openPanel(tab, panel);
    assert.equal(await tab.locator('.failed:visible').count(), 0, panel);
    await visit(panel);
  }
}

const kHarm = '<img src=x onerror=alert(1)>';

async function hostileTexts(browser, runs) {
  const page = async () => {
    await runs.run('poisoned', `hang_kernel ${pages.kEverything} --scheduler-timeout-ms 300`, [3]);
    pageRuns(runs, 'poison', 'poisoned');
    await runs.run('poisoned2', `vector_example ${pages.kEverything}`);
    pageRuns(runs, 'poison', 'poisoned2');
    return runs.file('poisoned', 'poisoned2');
  };
  await browser.check('Odd.TextsOfARunAreText', page, async (tab) => {
    await tab.waitForSelector('.hang .sentence');
    assert.ok((await tab.textContent('header')).includes(kHarm));
    assert.ok((await tab.textContent('.hang .sentence')).includes(kHarm));
    await everyPanel(tab, async (panel) => {
      if (panel === 'Timeline') await complete(tab);
      if (panel === 'Overview') {
        const kernels = tab.locator('section:has(> h2:text-is("Kernels"))');
        assert.ok((await kernels.textContent()).includes(`copy_or_hang${kHarm}`));
      }
      await nothingRan(tab);
    });
    await openPanel(tab, 'Graph');
    await tab.fill('.search input', 'copy_or_hang');
    await tab.waitForSelector('.found li');
    assert.ok((await tab.textContent('.found')).includes(kHarm));
    await tab.click('.found li');
    await tab.waitForSelector(`footer strong:has-text("copy_or_hang${kHarm}")`);
    await nothingRan(tab);
    const said = await tab.evaluate(() => document.title);
    assert.ok(said.includes('hang_kernel'));
  });
}

const kernelsRun = (runs) =>
  runs.once('kernels', async () => pageRuns(runs, 'kernels', '10000', 'kernels'));

async function manyKernels(browser, runs) {
  const page = async () => {
    await kernelsRun(runs);
    return runs.file('kernels');
  };
  await browser.check('Odd.TenThousandKernels', page, async (tab) => {
    const rows = tab.getByRole('grid', { name: 'Kernels' }).getByRole('row');
    await rows.nth(1).waitFor();
    await openPanel(tab, 'Timeline');
    await complete(tab);
    assert.ok((await rectangles(tab)) > 1000);
    await tab.fill('.search input', 'kernel_09876');
    await tab.waitForSelector('.found li:has-text("kernel_09876<b>\\"9876\\"</b>")');
    await tab.click('.found li');
    await tab.waitForSelector('footer strong:has-text("kernel_09876<b>")');
    await nothingRan(tab);
  });
}

async function manyLanes(browser, runs) {
  const page = async () => {
    const words = '--lanes 2000 --records 20 --page-bytes 1024';
    await runs.run('lanes', `synthetic_producer ${words}`);
    return runs.file('lanes');
  };
  await browser.check('Odd.TwoThousandLanes', page, async (tab) => {
    const { streams } = runs.json('lanes', 'run.json');
    assert.equal(streams.swimlane.produced, 2000 * 20);
    await openPanel(tab, 'Timeline');
    await complete(tab);
    assert.ok((await rectangles(tab)) > 20);
    // The last lane is found, comes into view, and can be walked.
    await tab.fill('.search input', 'producer 1999');
    await tab.click('.found li:has-text("producer 1999")');
    await tab.keyboard.press('.');
    await tab.waitForSelector('footer:has-text("producer 1999")');
    await complete(tab);
  });
}

async function nothingToShow(browser, runs) {
  const empty = async () => {
    await runs.run('empty', 'empty --enable-l2-swimlane --enable-dep-gen --enable-scope-stats');
    return runs.file('empty');
  };
  await browser.check('Odd.AnEmptyRun', empty, async (tab) => {
    assert.match(await tab.textContent('header'), /empty default on sim\s*ok/);
    await everyPanel(tab);
  });
  const plain = async () => {
    await runs.run('plain', 'vector_example');
    return runs.file('plain');
  };
  await browser.check('Odd.ARunWithoutStreams', plain, async (tab) => {
    assert.match(await tab.textContent('header'), /vector_example default on sim\s*ok/);
    await everyPanel(tab, async (panel) => {
      // Each panel that has nothing says what would record it.
      const flags = {
        Scopes: '--enable-scope-stats',
        Tensors: '--dump-tensor',
        Graph: '--enable-dep-gen',
      };
      if (!flags[panel]) return;
      assert.ok((await tab.textContent('.nothing:visible')).includes(flags[panel]), panel);
    });
  });
}

const counted = (text) => Number(text.replaceAll(',', ''));

// What was dropped and overwritten: as many as run.json says, in the header, the ledger, the list of
// losses and the timeline.
async function losses(browser, runs) {
  for (const [policy, key, words] of [
    ['drop', 'dropped', '--page-bytes 1024 --pool-bytes 8192'],
    ['keep-last', 'overwritten', '--keep-pages 2 --page-bytes 4096'],
  ]) {
    const name = `lossy-${key}`;
    const page = async () => {
      const load = '--lanes 3 --records 200000 --policy';
      await runs.run(name, `synthetic_producer ${load} ${policy} ${words}`, [0, 4]);
      return runs.file(name);
    };
    await browser.check(`Odd.ALossyRun.${key}`, page, async (tab) => {
      const { streams } = runs.json(name, 'run.json');
      const lost = streams.swimlane[key];
      assert.ok(lost > 0, `the run lost nothing: ${JSON.stringify(streams.swimlane)}`);
      const head = await tab.textContent('header');
      const of = Object.values(streams).reduce((all, one) => all + one.produced, 0);
      const [, shown, all] = /([\d,]+) of ([\d,]+) records lost/.exec(head) ?? ['', '0', '0'];
      assert.deepEqual([counted(shown), counted(all)], [lost, of], head);
      const rows = tab.getByRole('grid', { name: 'Losses' }).getByRole('row');
      await rows.nth(1).click();
      await complete(tab);
      await tab.waitForSelector('footer strong');
      assert.ok(await hatched(tab), 'no loss is to be seen');
    });
  }
}

// Whether pixels of the colour of losses are on the timeline.
const hatched = (tab) =>
  tab.evaluate(() => {
    const canvas = document.querySelector('canvas.spans');
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d');
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    let red = 0;
    for (let i = 0; i < data.length; i += 4) {
      if (data[i] > 130 && data[i] > data[i + 1] * 1.8 && data[i] > data[i + 2] * 1.8) red++;
    }
    return red > 30;
  });

// The host is killed in the middle. What it left is shown as what it is; then as what was recovered.
async function killedAndRecovered(browser, runs) {
  const killed = async () => {
    const words = 'synthetic_producer --lanes 2 --rate 50000 --seconds 600';
    const run = await runs.startRun('killed', words);
    // There is a page of it, and more has come since.
    const size = () =>
      runs.call(['report', 'killed', '-o', 'live.html']).then(
        (text) => text,
        () => '',
      );
    await until(async () => (await size()) !== '');
    const first = await size();
    await until(async () => (await size()) !== first);
    run.child.kill('SIGKILL');
    await run.ended;
    return runs.file('killed');
  };
  await browser.check('Odd.AKilledRun', killed, async (tab) => {
    const head = await tab.textContent('header');
    assert.match(head, /not finished/);
    assert.doesNotMatch(head, /\bok\b|ledger closed/);
    await everyPanel(tab);
  });
  const recovered = async () => {
    // Its device process ends a moment after its host.
    await until(() =>
      runs.call(['recover', 'killed']).then(
        () => true,
        () => false,
      ),
    );
    await runs.call(['report', 'killed', '-o', 'recovered.html']);
    return `file://${runs.path('recovered.html')}`;
  };
  await browser.check('Odd.ARecoveredRun', recovered, async (tab) => {
    const { streams } = runs.json('killed', 'run.json');
    assert.ok(streams.swimlane.recovered > 0);
    const head = await tab.textContent('header');
    assert.match(head, /recovered/);
    const row = tab.locator(
      'section:has(> h2:text-is("Ledger")) tr:has(th:text-is("swimlane")) td',
    );
    const cells = (await row.allTextContents()).map(counted);
    const { produced, delivered, recovered: back, dropped, overwritten } = streams.swimlane;
    assert.deepEqual(cells, [produced, delivered, back, dropped, overwritten]);
    await openPanel(tab, 'Timeline');
    await complete(tab);
    assert.ok((await rectangles(tab)) > 0);
  });
}

// Captures that the fuzzers have found to be worth keeping: a page, or one line that says why not.
async function corpus(browser, runs) {
  const folder = join(here, '../../fuzz/corpus/capture_fuzz');
  await browser.check('Odd.CapturesOfTheFuzzers', 'about:blank', async (tab) => {
    await kernelsRun(runs); // whose run.json has the number that these have
    let opened = 0;
    for (const name of readdirSync(folder)) {
      mkdirSync(runs.path(`corpus-${name}`));
      cpSync(join(folder, name), runs.path(`corpus-${name}`, 'capture.tide'));
      cpSync(runs.path('kernels', 'run.json'), runs.path(`corpus-${name}`, 'run.json'));
      await runs.call(['report', `corpus-${name}`, '-o', `${name}.html`], [0, 2, 4]);
      if (!statSync(runs.path(`${name}.html`), { throwIfNoEntry: false })) continue;
      opened++;
      await tab.goto(`file://${runs.path(`${name}.html`)}`);
      await tab.waitForSelector('.tabs button, .opening.bad');
      if (await tab.locator('.opening.bad').count()) continue;
      await everyPanel(tab);
      await nothingRan(tab);
    }
    assert.ok(opened > 4, `${opened} captures of the corpus could be opened`);
  });
}

// A folder whose blobs were damaged on their way: half of them, each in another manner.
async function damagedTiles(browser, runs) {
  await pages.brokenRun(runs);
  const folder = await runs.site('broken');
  const spoiled = runs.path('broken-spoiled');
  cpSync(folder, spoiled, { recursive: true });
  let number = 0;
  for (const entry of readdirSync(spoiled, { recursive: true })) {
    const path = join(spoiled, `${entry}`);
    if (!/\/run\/(t|doc|dir|graph|tensors|payload)\//.test(path) || !statSync(path).isFile())
      continue;
    if (number++ % 2 === 0) spoil(path, number);
  }
  assert.ok(number > 10);
  const server = await fileServer(spoiled);
  await browser.check(
    'Odd.TilesThatWereDamaged',
    server.address,
    async (tab) => {
      await tab.waitForSelector('.tabs button');
      await everyPanel(tab);
      await openPanel(tab, 'Timeline');
      await tab.waitForSelector('.telling.bad:has-text("cannot be read")');
      await nothingRan(tab);
    },
    kAlive,
  );
  server.close();
}

function spoil(path, number) {
  const bytes = readFileSync(path);
  const manners = [
    () => bytes.subarray(0, bytes.length / 2),
    () => Buffer.from('<script>alert(3)</script>'),
    () => Buffer.alloc(bytes.length, 0xff),
    () => Buffer.concat([bytes, bytes]),
    () => bytes.map((byte, i) => (i % 7 === 3 ? byte ^ 0x55 : byte)),
  ];
  writeFileSync(path, manners[number % manners.length]());
}
