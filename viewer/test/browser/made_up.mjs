// SPDX-License-Identifier: Apache-2.0
// The page over made-up runs: one in a single file, one of hostile texts, a damaged one, and one
// that a server adds to while it is looked at.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle, here } from '../bundle.mjs';
import { complete, kAllPanels, openPanel, rectangles, state, stateWhere } from './page.mjs';
import { fileServer } from './static_server.mjs';

const dist = join(here, '../dist');

export async function madeUpRuns(browser, folder) {
  const programs = await bundle('demo_set.ts', 'page_file.ts', 'hostile_set.ts');
  const [{ demoSet }, { singleFile, site }, { hostileSet, damagedSet }] = await Promise.all(
    programs.map((program) => import(pathToFileURL(program))),
  );
  const write = (name, ...sets) => {
    const runs = sets.map((blobs, i) => ({ prefix: i === 0 ? '' : 'other/', blobs }));
    writeFileSync(join(folder, name), singleFile(dist, runs));
    return pathToFileURL(join(folder, name)).href;
  };
  await ofADemo(browser, write('demo.html', demoSet(), demoSet({ nan: false, slower: 1.1 })));
  await browser.check(
    'MadeUp.AHangIsTheFirstScreenOfARunThatHung',
    write('hang.html', demoSet({ hang: true, tasks: 900 })),
    async (tab) => {
      await tab.waitForSelector('.hang .sentence:has-text("has been in kernel")');
      await tab.click('.stuck .large .link');
      await tab.waitForSelector('.selected strong:has-text("r1t892")');
    },
  );
  await ofHarm(browser, write, hostileSet(), damagedSet());
  const siteFolder = join(folder, 'site');
  site(dist, siteFolder, [{ prefix: '', blobs: demoSet() }]);
  const sets = [demoSet({ tasks: 300 }), demoSet({ tasks: 900, hang: true })];
  await ofAServer(browser, siteFolder, sets);
}

async function ofADemo(browser, demo) {
  await browser.check('MadeUp.FindingsLeadSomewhere', demo, async (tab) => {
    await tab.click('.findings .link:has-text("first NaN")');
    await tab.waitForSelector('.tensors .detail h2:has-text("r1t2000")');
    assert.equal((await state(tab)).panel, 'tensors');
    await tab.goBack();
    await tab.waitForSelector('.overview:not([hidden])');
  });

  await browser.check('MadeUp.TimelineZoomsAndPans', `${demo}#panel=timeline`, async (tab) => {
    await complete(tab);
    await tab.mouse.move(700, 300);
    for (let i = 0; i < 8; i++) await tab.mouse.wheel(0, -300);
    const zoomed = (await stateWhere(tab, (now) => now.view)).view;
    await tab.mouse.down();
    await tab.mouse.move(600, 300, { steps: 5 });
    await tab.mouse.up();
    await stateWhere(tab, (now) => now.view && now.view !== zoomed);
    await tab.mouse.dblclick(700, 640);
    await stateWhere(tab, (now) => now.view === undefined);
  });

  await browser.check('MadeUp.ThePageNeedsOnlyTheKeyboard', demo, async (tab) => {
    await tab.keyboard.press('2');
    await complete(tab);
    await tab.keyboard.press('.');
    await tab.waitForSelector('.selected strong:has-text("r1t")');
    const first = (await state(tab)).task;
    await tab.keyboard.press('.');
    await stateWhere(tab, (now) => now.task !== first);
    await tab.keyboard.press('f');
    await tab.keyboard.press('5');
    await tab.waitForSelector('.node.centre');
    await tab.keyboard.press('/');
    await tab.keyboard.type('r1t77');
    await tab.waitForSelector('.found li');
    await tab.keyboard.press('Enter');
    await tab.waitForSelector('.node.centre:has-text("r1t77")');
    await tab.keyboard.press('?');
    await tab.waitForSelector('.help:not([hidden])');
    await tab.keyboard.press('Escape');
    await tab.keyboard.press('Escape');
    await tab.waitForSelector('.selected:has-text("Nothing is selected")');
  });

  const address = `${demo}#panel=graph&task=0x0000000100000033&theme=dark`;
  await browser.check('MadeUp.AnAddressShowsTheSameToAColleague', address, async (tab) => {
    await tab.waitForSelector('.node.centre:has-text("r1t51")');
    await tab.waitForSelector('.selected strong:has-text("r1t51")');
    const color = () => getComputedStyle(document.body).backgroundColor;
    assert.equal(await tab.evaluate(color), 'rgb(20, 24, 29)');
  });

  await browser.check(
    'MadeUp.CompareNamesTheFirstTaskThatDiffers',
    `${demo}#panel=compare`,
    (tab) => tab.waitForSelector('.compare .sentence:has-text("r1t2000 qk")'),
  );

  await browser.check('MadeUp.EveryPanelIsSavedAsPngAndSvg', demo, async (tab) => {
    for (const panel of kAllPanels) {
      if (panel === 'Hang') continue;
      await openPanel(tab, panel);
      await savesPictures(tab, panel);
    }
  });
}

async function savesPictures(tab, panel) {
  for (const [kind, sign] of [
    ['PNG', '\x89PNG'],
    ['SVG', '<svg'],
  ]) {
    const saved = tab.waitForEvent('download');
    await tab.click(`.tool:text-is("${kind}")`);
    const bytes = readFileSync(await (await saved).path(), 'latin1');
    assert.ok(bytes.startsWith(sign) && bytes.length > 2000, `${panel} ${kind}`);
  }
}

async function ofHarm(browser, write, hostile, damaged) {
  await browser.check(
    'MadeUp.TextOfARunIsNeverMarkup',
    write('hostile.html', hostile, hostile),
    async (tab) => {
      for (const panel of kAllPanels) {
        await openPanel(tab, panel);
        assert.equal(await tab.locator('.failed').count(), 0, panel);
      }
      assert.equal(await tab.locator('b, i, img, iframe, a[href^="javascript"]').count(), 0);
      assert.ok((await tab.locator('body').innerHTML()).includes('&lt;img src=x'));
    },
  );

  await browser.check(
    'MadeUp.ThePolicyRunsNoOtherScript',
    write('policy.html', damaged),
    async (tab) => assert.equal(await tab.evaluate(addScript), 'refused'),
    { allowed: /Content Security Policy/ },
  );

  await browser.check(
    'MadeUp.DamageIsSaidAndTheRestIsShown',
    `${write('damaged.html', damaged)}#panel=timeline`,
    async (tab) => {
      await tab.waitForSelector('.telling.bad:has-text("cannot be read")');
      assert.ok((await rectangles(tab)) > 100);
      for (const panel of ['Overview', 'Scopes', 'Tensors', 'Graph']) await openPanel(tab, panel);
    },
  );

  await browser.check(
    'MadeUp.WhereThereIsNoRunThePageSaysSo',
    write('empty.html', new Map()),
    (tab) => tab.waitForSelector('.opening.bad:has-text("index.json: is not in this file")'),
  );
}

// In the page: a script of somebody else's.
export function addScript() {
  return new Promise((done) => {
    document.addEventListener('securitypolicyviolation', () => done('refused'));
    window.ran_ = () => done('ran');
    const script = document.createElement('script');
    script.textContent = 'window.ran_()';
    document.body.append(script);
  });
}

// A folder behind a web server; then the same as a server that adds to the run.
async function ofAServer(browser, folder, sets) {
  let generation = 1;
  const page = readFileSync(join(folder, 'index.html'), 'utf8');
  const setup = '$1{"way":"served","run":"","other":null}';
  const live = (path) => {
    if (path === '') return page.replace(/(id="setup">)[^<]*/, setup);
    if (/\.(js|css)$/.test(path)) return readFileSync(join(folder, path));
    const set = sets[generation - 1];
    if (path !== 'index.json') {
      return path.startsWith(`g${generation}/`) ? set.get(path.replace(/^g\d+\//, '')) : null;
    }
    const index = JSON.parse(Buffer.from(set.get('index.json')).toString());
    const more = { generation, live: generation === 1, blobs: `g${generation}/` };
    return JSON.stringify({ ...index, ...more });
  };
  const server = await fileServer(folder, { live });
  await browser.check(
    'MadeUp.ASiteIsShownFromAnyWebServer',
    `${server.address}#panel=timeline`,
    complete,
  );
  await browser.check(
    'MadeUp.NewSpansAppearAndSoDoesTheAutopsy',
    `${server.address}live/#panel=timeline`,
    async (tab) => {
      await complete(tab);
      assert.match(await tab.textContent('header'), /running/);
      generation = 2;
      await tab.waitForSelector('.hang .sentence');
      assert.match(await tab.textContent('header'), /hang/);
    },
  );
  server.close();
}
