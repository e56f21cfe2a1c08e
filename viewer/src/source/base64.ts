// SPDX-License-Identifier: Apache-2.0
// Base64 to bytes; white space is passed over, anything else is an error.

const kValues = new Int8Array(128).fill(-1);
const kLetters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
for (let i = 0; i < kLetters.length; i++) kValues[kLetters.charCodeAt(i)] = i;

export function fromBase64(text: string): Uint8Array {
  const out = new Uint8Array(Math.floor((text.length * 3) / 4) + 3);
  let at = 0;
  let bits = 0;
  let held = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code <= 32 || code === 61) continue;
    const value = code < 128 ? kValues[code] : -1;
    if (value < 0) throw new Error(`base64 has the character ${code} at ${i}`);
    held = ((held << 6) | value) & 0xffffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out[at++] = (held >> bits) & 255;
    }
  }
  return out.subarray(0, at);
}
