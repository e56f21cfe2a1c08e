// SPDX-License-Identifier: Apache-2.0
// Raw deflate to bytes, by the browser. A limit on what comes out: a blob of a few bytes could
// otherwise fill the memory.

export const kMostInflated = 64 << 20;

export async function inflate(
  blob: string,
  bytes: Uint8Array,
  most = kMostInflated,
): Promise<Uint8Array> {
  const stream = new DecompressionStream('deflate-raw');
  const writer = stream.writable.getWriter();
  // What goes wrong here also fails the reads below.
  const written = writer.write(bytes as Uint8Array<ArrayBuffer>).then(() => writer.close());
  written.catch(() => undefined);
  const reader = stream.readable.getReader();
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      if (size > most) throw new Error(`is larger than ${most >> 20} MiB when unpacked`);
      pieces.push(value);
    }
  } catch (error) {
    reader.cancel().catch(() => undefined);
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${blob}: ${reason || 'cannot be unpacked'}`);
  }
  if (pieces.length === 1) return pieces[0];
  const out = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    out.set(piece, at);
    at += piece.length;
  }
  return out;
}
