// SPDX-License-Identifier: Apache-2.0
// A reporter for `node --test`: a line per test, "ok NAME" or "not ok NAME" with what went wrong.
export default async function* lines(events) {
  for await (const { type, data } of events) {
    // A file that passes is no test.
    const isFile = /\.mjs$/.test(data?.name ?? '');
    if (type === 'test:pass' && !isFile) {
      yield `${data.skip || data.todo ? 'not ok (left out)' : 'ok'} ${data.name}\n`;
    } else if (type === 'test:fail') {
      const error = data.details?.error;
      yield `not ok ${data.name}\n`;
      yield `${error?.cause?.stack ?? error?.cause ?? error?.stack ?? error}\n`;
    } else if (type === 'test:stderr' || type === 'test:stdout') yield data.message;
  }
}
