// SPDX-License-Identifier: Apache-2.0
// What drawings are made with: the same calls paint on a canvas or write an SVG.

export interface TextStyle {
  color: string;
  size?: number;
  bold?: boolean;
  align?: 'left' | 'right' | 'center';
}

export interface Painter {
  rect(x: number, y: number, width: number, height: number, fill: string, alpha?: number): void;
  frame(x: number, y: number, width: number, height: number, color: string, line: number): void;
  // Points are x, y, x, y, …
  line(points: number[], color: string, width: number, dash?: number[]): void;
  area(points: number[], fill: string, alpha?: number): void;
  curve(
    x0: number,
    y0: number,
    x1: number,
    y1: number,
    color: string,
    width: number,
    dash?: number[],
  ): void;
  text(x: number, y: number, text: string, style: TextStyle): void;
  clip(x: number, y: number, width: number, height: number, inside: () => void): void;
}

export const kFont = 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

export class CanvasPainter implements Painter {
  constructor(private readonly context: CanvasRenderingContext2D) {}

  rect(x: number, y: number, width: number, height: number, fill: string, alpha = 1): void {
    const c = this.context;
    c.globalAlpha = alpha;
    c.fillStyle = fill;
    c.fillRect(x, y, width, height);
    c.globalAlpha = 1;
  }

  frame(x: number, y: number, width: number, height: number, color: string, line: number): void {
    const c = this.context;
    c.strokeStyle = color;
    c.lineWidth = line;
    c.strokeRect(x, y, width, height);
  }

  line(points: number[], color: string, width: number, dash: number[] = []): void {
    const c = this.context;
    this.path(points);
    c.setLineDash(dash);
    c.strokeStyle = color;
    c.lineWidth = width;
    c.stroke();
    c.setLineDash([]);
  }

  area(points: number[], fill: string, alpha = 1): void {
    const c = this.context;
    this.path(points);
    c.closePath();
    c.globalAlpha = alpha;
    c.fillStyle = fill;
    c.fill();
    c.globalAlpha = 1;
  }

  curve(
    x0: number,
    y0: number,
    x1: number,
    y1: number,
    color: string,
    width: number,
    dash: number[] = [],
  ): void {
    const c = this.context;
    const bend = bendOf(x0, x1);
    c.beginPath();
    c.moveTo(x0, y0);
    c.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
    c.setLineDash(dash);
    c.strokeStyle = color;
    c.lineWidth = width;
    c.stroke();
    c.setLineDash([]);
  }

  text(x: number, y: number, text: string, style: TextStyle): void {
    const c = this.context;
    c.font = `${style.bold ? '600 ' : ''}${style.size ?? 11}px ${kFont}`;
    c.textAlign = style.align ?? 'left';
    c.textBaseline = 'alphabetic';
    c.fillStyle = style.color;
    c.fillText(text, x, y);
  }

  clip(x: number, y: number, width: number, height: number, inside: () => void): void {
    const c = this.context;
    c.save();
    c.beginPath();
    c.rect(x, y, width, height);
    c.clip();
    inside();
    c.restore();
  }

  private path(points: number[]): void {
    const c = this.context;
    c.beginPath();
    for (let i = 0; i + 1 < points.length; i += 2) {
      if (i === 0) c.moveTo(points[0], points[1]);
      else c.lineTo(points[i], points[i + 1]);
    }
  }
}

function bendOf(x0: number, x1: number): number {
  return Math.max(12, Math.min(80, Math.abs(x1 - x0) / 2));
}

// Text for markup: what XML forbids is replaced, not only what it quotes.
export function escapeXml(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

export class SvgPainter implements Painter {
  private readonly parts: string[] = [];
  private clips = 0;

  constructor(
    private readonly width: number,
    private readonly height: number,
  ) {}

  rect(x: number, y: number, width: number, height: number, fill: string, alpha = 1): void {
    if (width <= 0 || height <= 0) return;
    this.parts.push(
      `<rect x="${n(x)}" y="${n(y)}" width="${n(width)}" height="${n(height)}" ` +
        `fill="${escapeXml(fill)}"${alpha < 1 ? ` fill-opacity="${n(alpha)}"` : ''}/>`,
    );
  }

  frame(x: number, y: number, width: number, height: number, color: string, line: number): void {
    this.parts.push(
      `<rect x="${n(x)}" y="${n(y)}" width="${n(Math.max(0, width))}" ` +
        `height="${n(Math.max(0, height))}" fill="none" stroke="${escapeXml(color)}" ` +
        `stroke-width="${n(line)}"/>`,
    );
  }

  line(points: number[], color: string, width: number, dash: number[] = []): void {
    this.parts.push(
      `<polyline points="${points.map(n).join(' ')}" fill="none" ` +
        `stroke="${escapeXml(color)}" stroke-width="${n(width)}"${dashed(dash)}/>`,
    );
  }

  area(points: number[], fill: string, alpha = 1): void {
    this.parts.push(
      `<polygon points="${points.map(n).join(' ')}" fill="${escapeXml(fill)}" ` +
        `fill-opacity="${n(alpha)}"/>`,
    );
  }

  curve(
    x0: number,
    y0: number,
    x1: number,
    y1: number,
    color: string,
    width: number,
    dash: number[] = [],
  ): void {
    const bend = bendOf(x0, x1);
    this.parts.push(
      `<path d="M${n(x0)} ${n(y0)}C${n(x0 + bend)} ${n(y0)} ${n(x1 - bend)} ` +
        `${n(y1)} ${n(x1)} ${n(y1)}" fill="none" stroke="${escapeXml(color)}" ` +
        `stroke-width="${n(width)}"${dashed(dash)}/>`,
    );
  }

  text(x: number, y: number, text: string, style: TextStyle): void {
    const anchor = { left: 'start', right: 'end', center: 'middle' }[style.align ?? 'left'];
    this.parts.push(
      `<text x="${n(x)}" y="${n(y)}" fill="${escapeXml(style.color)}" ` +
        `font-size="${style.size ?? 11}"${style.bold ? ' font-weight="600"' : ''} ` +
        `text-anchor="${anchor}">${escapeXml(text)}</text>`,
    );
  }

  clip(x: number, y: number, width: number, height: number, inside: () => void): void {
    const id = `c${this.clips++}`;
    this.parts.push(
      `<clipPath id="${id}"><rect x="${n(x)}" y="${n(y)}" width="${n(width)}" ` +
        `height="${n(height)}"/></clipPath><g clip-path="url(#${id})">`,
    );
    inside();
    this.parts.push('</g>');
  }

  raw(markup: string): void {
    this.parts.push(markup);
  }

  finish(): string {
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${n(this.width)}" ` +
      `height="${n(this.height)}" viewBox="0 0 ${n(this.width)} ${n(this.height)}" ` +
      `font-family="${escapeXml(kFont)}" font-size="11">${this.parts.join('')}</svg>`
    );
  }
}

function n(value: number): string {
  return Number.isFinite(value) ? String(Math.round(value * 100) / 100) : '0';
}

function dashed(dash: number[]): string {
  return dash.length > 0 ? ` stroke-dasharray="${dash.map(n).join(' ')}"` : '';
}
