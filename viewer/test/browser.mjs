// SPDX-License-Identifier: Apache-2.0
// The page in Debian's Chromium, used as people use it. Usage: node test/browser.mjs (npm run
// browser) A made-up run in a single file, one of hostile texts, a damaged one, and one that a
// server adds to while it is looked at. Every message of the console is a failure.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { bundle, here } from './bundle.mjs';

const programs = await bundle('demo_set.ts', 'page_file.ts', 'hostile_set.ts');
const [{ demoSet }, { singleFile, site }, { hostileSet, damagedSet }] = await Promise.all(
  programs.map((program) => import(pathToFileURL(program))),
);
const dist = join(here, '../dist');
const out = join(here, 'out');
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
let failures = 0;

async function check(claim, address, steps, { refusals = false } = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 720 },
    acceptDownloads: true,
  });
  const tab = await context.newPage();
  const said = [];
  tab.on('console', (message) => said.push(message.text()));
  tab.on('pageerror', (error) => said.push(String(error)));
  tab.on('dialog', (dialog) => said.push(`dialog ${dialog.message()}`) && dialog.dismiss());
  try {
    await tab.goto(address);
    await steps(tab);
    // Chromium reports what the policy refuses as a message.
    assert.deepEqual(
      said.filter((text) => !refusals || !/Content Security Policy/.test(text)),
      [],
    );
    console.log(`ok ${claim}`);
  } catch (error) {
    failures++;
    console.log(`not ok ${claim}\n${error.stack}\n${said.join('\n')}`);
    await tab.screenshot({ path: join(out, 'failed.png') }).catch(() => undefined);
  }
  await context.close();
}

function write(name, runs) {
  writeFileSync(join(out, name), singleFile(dist, runs));
  return pathToFileURL(join(out, name)).href;
}

const complete = (tab) =>
  tab.waitForFunction(() => document.documentElement.dataset.picture === 'complete', null, {
    timeout: 15000,
  });
const state = (tab) =>
  tab.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
const settled = (tab) => tab.waitForTimeout(350); // the address follows a moving view

const demo = write('demo.html', [
  { prefix: '', blobs: demoSet() },
  { prefix: 'other/', blobs: demoSet({ nan: false, slower: 1.1 }) },
]);

await check('Page.OpensOnFindingsAndTheyLeadSomewhere', demo, async (tab) => {
  await tab.click('.findings .link:has-text("first NaN")');
  await tab.waitForSelector('.tensors .detail h2:has-text("r1t2000")');
  assert.equal((await state(tab)).panel, 'tensors');
  await tab.goBack();
  await tab.waitForSelector('.overview:not([hidden])');
});

await check('Timeline.ZoomsPansAndSelects', `${demo}#panel=timeline`, async (tab) => {
  await complete(tab);
  await tab.mouse.move(700, 300);
  for (let i = 0; i < 8; i++) await tab.mouse.wheel(0, -300);
  await settled(tab);
  const zoomed = (await state(tab)).view;
  assert.ok(zoomed);
  await tab.mouse.down();
  await tab.mouse.move(600, 300, { steps: 5 });
  await tab.mouse.up();
  await settled(tab);
  assert.notEqual((await state(tab)).view, zoomed);
  await tab.mouse.dblclick(700, 640);
  await settled(tab);
  assert.equal((await state(tab)).view, undefined);
});

await check('Page.NeedsNothingButTheKeyboard', demo, async (tab) => {
  await tab.keyboard.press('2');
  await complete(tab);
  await tab.keyboard.press('.');
  await tab.waitForSelector('.selected strong:has-text("r1t")');
  const first = (await state(tab)).task;
  await tab.keyboard.press('.');
  await tab.waitForFunction((task) => !location.hash.includes(task), first);
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

await check(
  'Address.ShowsTheSameToAColleague',
  `${demo}#panel=graph&task=0x0000000100000033&theme=dark`,
  async (tab) => {
    await tab.waitForSelector('.node.centre:has-text("r1t51")');
    await tab.waitForSelector('.selected strong:has-text("r1t51")');
    assert.equal(
      await tab.evaluate(() => getComputedStyle(document.body).backgroundColor),
      'rgb(20, 24, 29)',
    );
  },
);

await check('Compare.NamesTheFirstTaskThatDiffers', `${demo}#panel=compare`, async (tab) => {
  await tab.waitForSelector('.compare .sentence:has-text("r1t2000 qk")');
});

await check('Picture.OfEveryPanelIsSavedAsPngAndSvg', demo, async (tab) => {
  for (const panel of ['Overview', 'Timeline', 'Scopes', 'Tensors', 'Graph', 'Compare']) {
    await tab.click(`.tabs button:text-is("${panel}")`);
    await settled(tab);
    for (const [kind, sign] of [
      ['PNG', '\x89PNG'],
      ['SVG', '<svg'],
    ]) {
      const saved = tab.waitForEvent('download', { timeout: 15000 });
      await tab.click(`.tool:text-is("${kind}")`);
      const bytes = readFileSync(await (await saved).path(), 'latin1');
      assert.ok(bytes.startsWith(sign) && bytes.length > 2000, `${panel} ${kind}`);
    }
  }
});

await check(
  'Hang.IsTheFirstScreenOfARunThatHung',
  write('hang.html', [{ prefix: '', blobs: demoSet({ hang: true, tasks: 900 }) }]),
  async (tab) => {
    await tab.waitForSelector('.hang .sentence:has-text("has been in kernel")');
    await tab.click('.stuck .large .link');
    await tab.waitForSelector('.selected strong:has-text("r1t892")');
  },
);

await check(
  'Text.OfARunIsNeverMarkup',
  write('hostile.html', [
    { prefix: '', blobs: hostileSet() },
    { prefix: 'other/', blobs: hostileSet() },
  ]),
  async (tab) => {
    for (const panel of ['Overview', 'Timeline', 'Scopes', 'Tensors', 'Graph', 'Hang', 'Compare']) {
      await tab.click(`.tabs button:text-is("${panel}")`);
      await settled(tab);
      assert.equal(await tab.locator('.failed').count(), 0, panel);
    }
    assert.equal(await tab.locator('b, i, img, iframe, a[href^="javascript"]').count(), 0);
    assert.ok((await tab.locator('body').innerHTML()).includes('&lt;img src=x'));
  },
);

await check(
  'Policy.RunsNoOtherScript',
  demo,
  async (tab) => {
    const ran = await tab.evaluate(
      () =>
        new Promise((done) => {
          document.addEventListener('securitypolicyviolation', () => done('refused'));
          window.ran_ = () => done('ran');
          const script = document.createElement('script');
          script.textContent = 'window.ran_()';
          document.body.append(script);
        }),
    );
    assert.equal(ran, 'refused');
  },
  { refusals: true },
);

await check(
  'Damage.IsSaidAndTheRestIsShown',
  `${write('damaged.html', [{ prefix: '', blobs: damagedSet() }])}#panel=timeline`,
  async (tab) => {
    await tab.waitForSelector('.telling.bad:has-text("cannot be read")');
    assert.ok(Number(await tab.evaluate(() => document.documentElement.dataset.rectangles)) > 100);
    for (const panel of ['Overview', 'Scopes', 'Tensors', 'Graph']) {
      await tab.click(`.tabs button:text-is("${panel}")`);
      await settled(tab);
    }
  },
);

await check(
  'Nothing.IsSaidWhereThereIsNoRun',
  write('empty.html', [{ prefix: '', blobs: new Map() }]),
  (tab) => tab.waitForSelector('.opening.bad:has-text("index.json: is not in this file")'),
);

// A folder behind a web server; then the same as a server that adds to the run.
const folder = join(out, 'site');
site(dist, folder, [{ prefix: '', blobs: demoSet() }]);
const live = {
  generation: 1,
  live: true,
  sets: [demoSet({ tasks: 300 }), demoSet({ tasks: 900, hang: true })],
};
const page = readFileSync(join(folder, 'index.html'), 'utf8');
const server = createServer((request, answer) => {
  const path = new URL(request.url, 'http://x').pathname.slice(1) || 'index.html';
  if (path.startsWith('live/')) answerLive(path.slice(5) || 'index.html', answer);
  else if (existsSync(join(folder, path))) {
    answer.setHeader('Content-Type', typeOf(path));
    answer.end(readFileSync(join(folder, path)));
  } else answer.writeHead(404).end();
});
function typeOf(path) {
  return path.endsWith('.html')
    ? 'text/html'
    : path.endsWith('.js')
      ? 'text/javascript'
      : path.endsWith('.css')
        ? 'text/css'
        : 'application/octet-stream';
}
function answerLive(path, answer) {
  answer.setHeader('Content-Type', typeOf(path));
  const set = live.sets[live.generation - 1];
  if (path === 'index.html') {
    answer.end(page.replace(/(id="setup">)[^<]*/, '$1{"way":"served","run":"","other":null}'));
  } else if (path === 'index.json') {
    const index = JSON.parse(Buffer.from(set.get('index.json')).toString());
    answer.end(
      JSON.stringify({
        ...index,
        generation: live.generation,
        live: live.live,
        blobs: `g${live.generation}/`,
      }),
    );
  } else if (/\.(js|css)$/.test(path)) answer.end(readFileSync(join(folder, path)));
  else {
    const blob = set.get(path.replace(/^g\d+\//, ''));
    if (path.startsWith(`g${live.generation}/`) && blob) answer.end(blob);
    else answer.writeHead(410).end();
  }
}
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
const address = `http://127.0.0.1:${server.address().port}/`;
await check('Site.IsShownFromAnyWebServer', `${address}#panel=timeline`, complete);
await check(
  'Live.NewSpansAppearAndSoDoesTheAutopsy',
  `${address}live/#panel=timeline`,
  async (tab) => {
    await complete(tab);
    assert.match(await tab.textContent('header'), /running/);
    live.generation = 2;
    live.live = false;
    await tab.waitForSelector('.hang .sentence', { timeout: 15000 });
    assert.match(await tab.textContent('header'), /hang/);
  },
);
server.close();
await browser.close();
process.exit(failures === 0 ? 0 : 1);
