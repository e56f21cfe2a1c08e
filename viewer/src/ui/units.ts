// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them: grouped, and always with their unit.

const kUnits: [number, string][] = [
  [1e9, 's'],
  [1e6, 'ms'],
  [1e3, 'µs'],
  [1, 'ns'],
];

export function duration(ns: number, digits = 3): string {
  if (!Number.isFinite(ns)) return '?';
  if (ns === 0) return '0 ns';
  const size = Math.abs(ns);
  const [scale, unit] = kUnits.find(([least]) => size >= least) ?? kUnits[3];
  return `${significant(ns / scale, digits)} ${unit}`;
}

function significant(value: number, digits: number): string {
  const whole = Math.floor(Math.abs(value)).toString().length;
  return value.toFixed(Math.max(0, digits - whole));
}

// A point of time with all the digits that tell it from its neighbours `step` ns away.
export function moment(ns: number, step: number): string {
  const size = Math.max(Math.abs(ns), step);
  const [scale, unit] = kUnits.find(([least]) => size >= least) ?? kUnits[3];
  const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(scale / Math.max(step, 1e-3)))));
  return `${group((ns / scale).toFixed(digits))} ${unit}`;
}

export function group(digits: string): string {
  const [whole, part] = digits.split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return part ? `${grouped}.${part}` : grouped;
}

export function count(value: number): string {
  return Number.isFinite(value) ? group(String(Math.round(value))) : '?';
}

export function percent(share: number): string {
  if (!Number.isFinite(share)) return '?';
  const value = share * 100;
  if (value > 0 && value < 0.05) return '< 0.1 %';
  return `${value !== 0 && Math.abs(value) < 10 ? value.toFixed(1) : value.toFixed(0)} %`;
}

export function bytes(size: number): string {
  if (size < 1024) return `${count(size)} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  let at = -1;
  while (size >= 1024 && at < units.length - 1) {
    size /= 1024;
    at++;
  }
  return `${size.toFixed(size < 10 ? 2 : size < 100 ? 1 : 0)} ${units[at]}`;
}

export function short(value: number, digits = 7): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? 'inf' : '-inf';
  if (Number.isInteger(value) && Math.abs(value) < 1e7) return count(value);
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e7 || size < 1e-4))
    return value.toExponential(Math.min(4, digits - 1));
  return String(Number(value.toPrecision(digits)));
}

// A number of some counter: bytes read best in their own units.
export function quantity(value: number, unit: string): string {
  if (unit === 'bytes' || unit === 'byte' || unit === 'B') return bytes(value);
  return unit ? `${short(value)} ${unit}` : short(value);
}

const kRingShift = 32n;

// r1t42, or t42 on ring 0; with a lap r1t42l3. As the C++ side writes it.
export function taskText(task: string): string {
  if (!/^0x[0-9a-f]{16}$/.test(task)) return task;
  const id = BigInt(task);
  const local = id & 0xffffffffn;
  const ring = (id >> kRingShift) & 3n;
  const lap = id >> 34n;
  return `${ring ? `r${ring}` : ''}t${local}${lap ? `l${lap}` : ''}`;
}

// The reverse; also 0x…. Null: not a task.
export function parseTask(text: string): string | null {
  const word = text.trim().toLowerCase();
  const hexed = /^0x([0-9a-f]{1,16})$/.exec(word);
  if (hexed) return `0x${hexed[1].padStart(16, '0')}`;
  const parts = /^(?:r(\d))?t(\d{1,10})(?:l(\d{1,10}))?$/.exec(word);
  if (!parts || Number(parts[1] ?? 0) > 3) return null;
  const id =
    (BigInt(parts[3] ?? 0) << 34n) | (BigInt(parts[1] ?? 0) << kRingShift) | BigInt(parts[2]);
  if (BigInt(parts[2]) > 0xffffffffn || id >> 64n) return null;
  return `0x${id.toString(16).padStart(16, '0')}`;
}
