// SPDX-License-Identifier: Apache-2.0
// The results of a test run: a line each on the screen and, for `./dev test`, in a file. The file's
// last line is "end", so that a run that died half way is not taken for a good one.
import { appendFileSync, writeFileSync } from 'node:fs';

export class Tally {
  passed = 0;
  failed = 0;

  constructor(file = '') {
    this.file = file;
    if (file) writeFileSync(file, '');
  }

  add(name, error = null) {
    const line = `${error ? 'not ok' : 'ok'} ${name}`;
    if (error) this.failed++;
    else this.passed++;
    console.log(error ? `${line}\n${error}` : line);
    if (this.file) appendFileSync(this.file, `${line}\n`);
  }

  // The exit status of the whole.
  end() {
    console.log(`page: ${this.passed} passed, ${this.failed} failed`);
    if (this.file) appendFileSync(this.file, 'end\n');
    return this.failed === 0 && this.passed > 0 ? 0 : 1;
  }
}
