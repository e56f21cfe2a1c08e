// SPDX-License-Identifier: Apache-2.0
// Colours. Those of the page are in style.css; here are those of names. A name has its colour from
// its own letters, so that it is the same in every run; two names of a run that would share one are
// moved apart in the order of the alphabet. The hues are told apart by colour-blind eyes.
import type { Index } from '../codec/index_file';

export const kHues = [
  '#4477aa',
  '#ee8866',
  '#44bb99',
  '#ddaa33',
  '#aa4499',
  '#88ccee',
  '#338844',
  '#aaaa33',
  '#7766bb',
  '#dd99bb',
  '#997755',
];

export type Rgb = [number, number, number];

export function rgb(color: string): Rgb {
  const value = parseInt(color.slice(1, 7), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

export function hex(color: Rgb): string {
  return `#${color.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;
}

export function mix(from: Rgb, to: Rgb, part: number): Rgb {
  return [0, 1, 2].map((i) => from[i] + (to[i] - from[i]) * part) as Rgb;
}

export function luminance(color: Rgb): number {
  return (0.299 * color[0] + 0.587 * color[1] + 0.114 * color[2]) / 255;
}

function hash(name: string): number {
  let value = 2166136261;
  for (let i = 0; i < name.length; i++) value = Math.imul(value ^ name.charCodeAt(i), 16777619);
  return (value ^ (value >>> 13)) >>> 0;
}

// Slots by name; names beyond the number of hues share them.
export function slots(names: string[]): Map<string, number> {
  const result = new Map<string, number>();
  const taken = new Set<number>();
  for (const name of [...new Set(names)].sort()) {
    let slot = hash(name) % kHues.length;
    if (taken.size < kHues.length) while (taken.has(slot)) slot = (slot + 1) % kHues.length;
    taken.add(slot);
    result.set(name, slot);
  }
  return result;
}

export interface Theme {
  dark: boolean;
  page: Rgb;
  text: string;
  faint: string;
  hairline: string;
  accent: string;
  loss: Rgb;
  stall: Rgb;
  bad: string;
  band: Rgb;
}

export function readTheme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string): string => style.getPropertyValue(`--${name}`).trim() || '#888888';
  return {
    dark: luminance(rgb(color('page'))) < 0.5,
    page: rgb(color('page')),
    text: color('text'),
    faint: color('faint'),
    hairline: color('hairline'),
    accent: color('accent'),
    loss: rgb(color('loss')),
    stall: rgb(color('stall')),
    bad: color('bad'),
    band: rgb(color('band')),
  };
}

// The colours of the names of a run, in one theme.
export class NameColors {
  private readonly colors: Rgb[];
  private readonly byName = new Map<string, Rgb>();
  private readonly ramps: (Uint32Array | undefined)[] = [];

  // `emphasis`: the one name that keeps its colour while the others step back.
  constructor(
    index: Index,
    private readonly theme: Theme,
    emphasis: string | null = null,
  ) {
    const kernels = index.names.filter((_, i) => index.nameKinds[i] === 'kernel');
    const others = index.names.filter((_, i) => index.nameKinds[i] !== 'kernel');
    const ofKernels = slots(kernels);
    const ofOthers = slots(others);
    const grey: Rgb = theme.dark ? [120, 126, 134] : [150, 156, 164];
    this.colors = index.names.map((name, i) => {
      const kernel = index.nameKinds[i] === 'kernel';
      const hue = rgb(kHues[(kernel ? ofKernels : ofOthers).get(name) ?? 0]);
      const color = kernel ? hue : mix(hue, grey, 0.55);
      if (kernel || !this.byName.has(name)) this.byName.set(name, color);
      return emphasis === null || name === emphasis ? color : mix(color, theme.page, 0.78);
    });
  }

  of(name: number): Rgb {
    return this.colors[name] ?? [136, 136, 136];
  }

  ofText(name: string): string {
    return hex(this.byName.get(name) ?? rgb(kHues[hash(name) % kHues.length]));
  }

  // 17 steps from hardly covered to covered, as pixels of an ImageData; the last is for edges.
  ramp(name: number): Uint32Array {
    const known = this.ramps[name];
    if (known) return known;
    const color = this.of(name);
    const ramp = new Uint32Array(18);
    for (let i = 0; i <= 16; i++) {
      ramp[i] = pixel(mix(this.theme.page, color, 0.25 + (0.75 * i) / 16));
    }
    ramp[17] = pixel(mix(color, this.theme.page, 0.45));
    this.ramps[name] = ramp;
    return ramp;
  }

  textOn(name: number): string {
    return luminance(this.of(name)) > 0.53 ? '#10151c' : '#ffffff';
  }
}

// A colour as one word of an ImageData, on a little-endian machine.
export function pixel(color: Rgb): number {
  return (
    (0xff000000 |
      (Math.round(color[2]) << 16) |
      (Math.round(color[1]) << 8) |
      Math.round(color[0])) >>>
    0
  );
}
