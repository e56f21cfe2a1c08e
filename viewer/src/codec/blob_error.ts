// SPDX-License-Identifier: Apache-2.0
// What is wrong with a blob, in words for the panel that wanted it. The page trusts no blob:
// every reader throws this and nothing else, and the store of tiles keeps the message.

export class BlobError extends Error {
  constructor(
    readonly blob: string,
    readonly reason: string,
  ) {
    super(`${blob}: ${reason}`);
    this.name = 'BlobError';
  }
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
