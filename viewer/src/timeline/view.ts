// SPDX-License-Identifier: Apache-2.0
// The range of time that is shown, and how hands move it. Pure arithmetic.

export interface View {
  begin: number; // ticks, may be a fraction
  end: number;
}

export interface Bounds {
  begin: number;
  end: number;
}

// No view is narrower: ticks are whole.
export const kLeastTicks = 16;

export function clampView(view: View, bounds: Bounds): View {
  const whole = Math.max(bounds.end - bounds.begin, kLeastTicks);
  let width = view.end - view.begin;
  if (!(width > 0)) width = whole;
  width = Math.min(Math.max(width, kLeastTicks), whole * 1.1);
  let begin = Number.isFinite(view.begin) ? view.begin : bounds.begin;
  // At most a twentieth of the view is beyond the run.
  const margin = width * 0.05;
  begin = Math.min(Math.max(begin, bounds.begin - margin), bounds.end + margin - width);
  if (width >= whole) begin = bounds.begin - (width - whole) / 2;
  return { begin, end: begin + width };
}

// `at` is where the pointer is, 0..1 of the view; a factor below 1 zooms in.
export function zoomAt(view: View, bounds: Bounds, at: number, factor: number): View {
  const width = view.end - view.begin;
  const fixed = view.begin + at * width;
  const least = kLeastTicks / width;
  const scale = Math.max(factor, least);
  return clampView(
    { begin: fixed - at * width * scale, end: fixed + (1 - at) * width * scale },
    bounds,
  );
}

// `part`: of the view's width, to the right where positive.
export function pan(view: View, bounds: Bounds, part: number): View {
  const by = (view.end - view.begin) * part;
  return clampView({ begin: view.begin + by, end: view.end + by }, bounds);
}

export function fitRange(begin: number, end: number, bounds: Bounds): View {
  const width = Math.max(end - begin, 1);
  return clampView({ begin: begin - width * 0.3, end: end + width * 0.3 }, bounds);
}

export function xOf(view: View, width: number, ticks: number): number {
  return ((ticks - view.begin) / (view.end - view.begin)) * width;
}

export function ticksAt(view: View, width: number, x: number): number {
  return view.begin + (x / width) * (view.end - view.begin);
}

// A view moved by less than a pixel, so that pixels keep their ranges of time while one pans.
export function snapped(view: View, width: number): View {
  const perPixel = (view.end - view.begin) / width;
  const begin = Math.round(view.begin / perPixel) * perPixel;
  return { begin, end: begin + perPixel * width };
}
