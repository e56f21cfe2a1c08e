// SPDX-License-Identifier: Apache-2.0
// Debian's Chromium, and checks in it: each has tabs of its own, and every message of the console is
// a failure.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { here } from '../bundle.mjs';

// A busy machine is slow; nothing here is decided by how slow.
export const kPatienceMs = 60_000;

export class Browser {
  constructor(browser, tally, only) {
    this.browser = browser;
    this.tally = tally;
    this.only = only;
  }

  // `folder`: for whatever the browser writes.
  static async launch(tally, folder, only = /./) {
    const home = join(folder, 'home');
    mkdirSync(home, { recursive: true });
    const browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      env: { ...process.env, HOME: home, XDG_CONFIG_HOME: home, XDG_CACHE_HOME: home },
      args: [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-dev-shm-usage',
        '--disable-sync',
      ],
      timeout: kPatienceMs,
    });
    return new Browser(browser, tally, only);
  }

  // `allowed`: what may be said.
  async check(name, address, steps, { allowed = null, ...page } = {}) {
    if (!this.only.test(name)) return;
    const context = await this.browser.newContext({
      viewport: { width: 1280, height: 720 },
      acceptDownloads: true,
      ...page,
    });
    context.setDefaultTimeout(kPatienceMs);
    const tab = await context.newPage();
    const said = [];
    tab.on('console', (message) => said.push(message.text()));
    tab.on('pageerror', (error) => said.push(String(error)));
    tab.on('dialog', (dialog) => said.push(`dialog ${dialog.message()}`) && dialog.dismiss());
    let failure = null;
    try {
      await tab.goto(typeof address === 'function' ? await address() : address);
      await steps(tab);
      assert.deepEqual(
        said.filter((text) => !allowed?.test(text)),
        [],
      );
    } catch (error) {
      const picture = join(here, 'out', `failed-${name}.png`);
      await tab.screenshot({ path: picture }).catch(() => undefined);
      failure = `${error.stack}\n${said.join('\n')}\npicture: ${picture}`;
    }
    await context.close();
    this.tally.add(name, failure);
  }

  close() {
    return this.browser.close();
  }
}
