// SPDX-License-Identifier: Apache-2.0
// Reads members of JSON that others wrote: a member of the wrong type is as good as none, so that
// no panel meets a value it does not expect.

export type Json = Record<string, unknown>;

export function record(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Json)
    : {};
}

export function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function records(value: unknown): Json[] {
  return list(value).filter(isRecord);
}

export function text(value: unknown, otherwise = ''): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : otherwise;
}

export function number(value: unknown, otherwise = 0): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : otherwise;
}

export function maybe(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

// Also what JSON has no number for, which is written as a text.
export function wide(value: unknown): number | null {
  if (value === 'nan') return NaN;
  if (value === 'inf') return Infinity;
  if (value === '-inf') return -Infinity;
  return maybe(value);
}

export function flag(value: unknown): boolean {
  return value === true;
}

export function texts(value: unknown): string[] {
  return list(value).filter((one): one is string => typeof one === 'string');
}

export function numbers(value: unknown): number[] {
  return list(value).filter((one): one is number => typeof one === 'number');
}

export function parseJson(blob: string, bytes: Uint8Array): Json {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    throw new Error(`${blob}: is no JSON (${error instanceof Error ? error.message : error})`);
  }
  if (!isRecord(value)) throw new Error(`${blob}: is no JSON object`);
  return value;
}
