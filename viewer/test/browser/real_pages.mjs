// SPDX-License-Identifier: Apache-2.0
// The real runs that checks share, each with its page in one file. Made when first asked for.

const kStreams = '--enable-l2-swimlane --enable-dep-gen --enable-scope-stats';
const kDump = '--dump-tensor --enable-l2-swimlane --enable-dep-gen';
export const kEverything = `${kStreams} --dump-tensor`;

export const paged = (runs) => async () => {
  await pagedRun(runs);
  return runs.file('paged');
};

export const pagedRun = (runs) => runs.run('paged', `paged_attention --case VarSeq4 ${kStreams}`);

export const heap = (runs) => async () => {
  await runs.run('heap', 'heap_deadlock --enable-l2-swimlane --enable-scope-stats', [3]);
  return runs.file('heap');
};

export const brokenRun = (runs) => runs.run('broken', `nan_producer ${kDump}`, [1]);
export const healthyRun = (runs) => runs.run('healthy', `nan_producer --case healthy ${kDump}`);

export const broken = (runs) => async () => {
  await brokenRun(runs);
  return runs.file('broken');
};

export const healthyBesideBroken = (runs) => async () => {
  await Promise.all([healthyRun(runs), brokenRun(runs)]);
  return runs.file('healthy', 'broken');
};

export const hang = (runs) => async () => {
  await runs.run('hang', `hang_kernel ${kDump} --scheduler-timeout-ms 300`, [3]);
  return runs.file('hang');
};
