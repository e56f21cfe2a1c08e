// SPDX-License-Identifier: Apache-2.0
// Where the page's script spends its time, by Chromium's own profiler.

export async function profiled(tab, work) {
  const session = await tab.context().newCDPSession(tab);
  await session.send('Profiler.enable');
  await session.send('Profiler.setSamplingInterval', { interval: 200 });
  await session.send('Profiler.start');
  const result = await work();
  const { profile } = await session.send('Profiler.stop');
  await session.detach();
  return { result, functions: timesOf(profile) };
}

// Milliseconds in each function itself, most first. The bundle has one line: a function is where it
// begins there.
function timesOf(profile) {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node.callFrame]));
  const times = new Map();
  profile.samples.forEach((id, i) => {
    const { functionName, columnNumber } = nodes.get(id);
    const name =
      columnNumber < 0 ? functionName : `${functionName || '(no name)'} at ${columnNumber}`;
    times.set(name, (times.get(name) ?? 0) + profile.timeDeltas[i] / 1000);
  });
  return [...times].sort((a, b) => b[1] - a[1]);
}
