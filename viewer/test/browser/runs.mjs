// SPDX-License-Identifier: Apache-2.0
// Real runs, made by the tidemark executable in a folder of the tests, and what its other commands
// say of them: the truth that pages are compared with.
import { execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { kPatienceMs } from './chromium.mjs';

export class Runs {
  // `build`: of the release build.
  constructor(build, folder) {
    this.build = build;
    this.tidemark = join(build, 'tidemark');
    this.folder = folder;
    this.made = new Map();
    this.children = new Set();
  }

  // What it prints. `codes`: the exit codes that are expected.
  call(words, codes = [0]) {
    const options = { cwd: this.folder, maxBuffer: 256 << 20, env: this.environment() };
    return new Promise((done, fail) => {
      execFile(this.tidemark, words, options, (error, stdout, stderr) => {
        const code = error ? error.code : 0;
        if (codes.includes(code)) done(stdout);
        else fail(new Error(`tidemark ${words.join(' ')}: exit code ${code}\n${stdout}${stderr}`));
      });
    });
  }

  environment() {
    return { ...process.env, TMPDIR: this.folder };
  }

  path(...names) {
    return join(this.folder, ...names);
  }

  json(...names) {
    return JSON.parse(readFileSync(this.path(...names), 'utf8'));
  }

  // Each name is made once, however often it is asked for.
  once(name, make) {
    if (!this.made.has(name)) this.made.set(name, make());
    return this.made.get(name);
  }

  run(name, words, codes = [0]) {
    return this.once(name, () =>
      this.call(['run', ...words.split(' '), '--output-prefix', name], codes),
    );
  }

  // The page of a run in one file.
  file(name, other = null) {
    const page = `${name}${other ? `-beside-${other}` : ''}.html`;
    return this.once(page, async () => {
      await this.call(['report', name, '-o', page, ...(other ? ['--compare', other] : [])]);
      return pathToFileURL(this.path(page)).href;
    });
  }

  // The page of a run as a folder for any web server.
  site(name) {
    return this.once(`${name}-site`, async () => {
      await this.call(['report', name, '--tiles', `${name}-site`]);
      return this.path(`${name}-site`);
    });
  }

  // A child that goes on; it is ended with the tests at the latest.
  start(words) {
    const child = spawn(this.tidemark, words, {
      cwd: this.folder,
      env: this.environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const started = { child, out: '', ended: null };
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (bytes) => (started.out += bytes));
    }
    started.ended = new Promise((done) =>
      child.on('close', (code) => {
        this.children.delete(child);
        done(code);
      }),
    );
    this.children.add(child);
    return started;
  }

  // `tidemark serve`: its address, and how to end it.
  async serve(...words) {
    const started = this.start(['serve', ...words]);
    await until(() => /Ctrl-C/.test(started.out) || !this.children.has(started.child));
    const address = /http:\/\/127\.0\.0\.1:\S+/.exec(started.out)?.[0];
    if (!address) throw new Error(`tidemark serve ${words.join(' ')}: ${started.out}`);
    return {
      address,
      pid: started.child.pid,
      stop: () => {
        started.child.kill('SIGINT');
        return started.ended;
      },
    };
  }

  // Until the run has a capture that can be looked at.
  async startRun(name, words) {
    const started = this.start(['run', ...words.split(' '), '--output-prefix', name]);
    const capture = this.path(name, 'capture.tide');
    await until(() => existsSync(capture) || !this.children.has(started.child));
    if (!existsSync(capture)) throw new Error(`tidemark run ${words}: ${started.out}`);
    return started;
  }

  async close() {
    const all = [...this.children];
    for (const child of all) child.kill('SIGTERM');
    await until(() => this.children.size === 0).catch(() => undefined);
    for (const child of this.children) child.kill('SIGKILL');
  }
}

export async function until(test, patienceMs = kPatienceMs) {
  const end = Date.now() + patienceMs;
  while (!(await test())) {
    if (Date.now() > end) throw new Error(`not within ${patienceMs / 1000} s: ${test}`);
    await new Promise((resume) => setTimeout(resume, 20));
  }
}
