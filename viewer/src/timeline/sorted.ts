// SPDX-License-Identifier: Apache-2.0
// Binary search.

// The first index whose value is at least `limit`; values are sorted.
export function firstAtLeast(values: Float64Array, limit: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] >= limit) high = middle;
    else low = middle + 1;
  }
  return low;
}
