import { PNG } from 'pngjs';

export interface Bar {
  label: string;
  value: number;
}

const WIDTH = 720;
const HEIGHT = 360;
const MARGIN = 32;
const INK = [51, 51, 51] as const;
const COLOURS = [
  [54, 116, 181],
  [230, 126, 34],
  [39, 158, 104],
  [192, 72, 90],
] as const;

/** Bitmaps of the characters in numbers: seven rows of five bits. */
const GLYPHS: Record<string, readonly number[]> = {
  '0': [14, 17, 19, 21, 25, 17, 14],
  '1': [4, 12, 4, 4, 4, 4, 14],
  '2': [14, 17, 1, 2, 4, 8, 31],
  '3': [31, 2, 4, 2, 1, 17, 14],
  '4': [2, 6, 10, 18, 31, 2, 2],
  '5': [31, 16, 30, 1, 1, 17, 14],
  '6': [6, 8, 16, 30, 17, 17, 14],
  '7': [31, 1, 2, 4, 8, 8, 8],
  '8': [14, 17, 17, 14, 17, 17, 14],
  '9': [14, 17, 17, 15, 1, 2, 12],
  '.': [0, 0, 0, 0, 0, 12, 12],
  '-': [0, 0, 0, 31, 0, 0, 0],
  '+': [0, 4, 4, 31, 4, 4, 0],
  e: [0, 0, 14, 17, 31, 16, 14],
};

type Colour = readonly [number, number, number];

/** Draws a bar chart as PNG; labels may contain digits, `.`, `-`, `+` and `e`. Negative bars extend below zero. */
export function barChart(bars: readonly Bar[]): Buffer {
  const png = new PNG({ width: WIDTH, height: HEIGHT });
  png.data.fill(255);
  const top = Math.max(0, ...bars.map(({ value }) => value));
  const bottom = Math.min(0, ...bars.map(({ value }) => value));
  const span = top - bottom || 1;
  const rowOf = (value: number): number =>
    Math.round(MARGIN + ((top - value) / span) * (HEIGHT - 2 * MARGIN));
  const slot = (WIDTH - 2 * MARGIN) / Math.max(1, bars.length);
  for (const [index, { label, value }] of bars.entries()) {
    const left = Math.round(MARGIN + slot * (index + 0.15));
    const width = Math.max(1, Math.round(slot * 0.7));
    const from = rowOf(Math.max(0, value));
    fill(png, left, from, width, rowOf(Math.min(0, value)) - from, COLOURS[index % COLOURS.length] ?? INK);
    if (label.length * 6 <= slot) drawText(png, left, value < 0 ? rowOf(value) + 4 : from - 11, label);
    drawText(png, left, HEIGHT - 14, String(index + 1));
  }
  fill(png, MARGIN, rowOf(0), WIDTH - 2 * MARGIN, 1, INK);
  // Plain areas compress well without a filter, and trying every filter on each row is slow.
  return PNG.sync.write(png, { filterType: 0, deflateStrategy: 0, deflateLevel: 6 });
}

function fill(png: PNG, left: number, top: number, width: number, height: number, colour: Colour): void {
  const pixel = Uint8Array.of(...colour, 255);
  const [from, to] = [Math.max(0, left), Math.min(WIDTH, left + width)];
  if (from >= to) return;
  for (let y = Math.max(0, top); y < Math.min(HEIGHT, top + height); y += 1) {
    png.data.fill(pixel, (y * WIDTH + from) * 4, (y * WIDTH + to) * 4);
  }
}

function drawText(png: PNG, left: number, top: number, text: string): void {
  for (const [place, character] of text.split('').entries()) {
    for (const [row, bits] of (GLYPHS[character] ?? []).entries()) {
      for (let column = 0; column < 5; column += 1) {
        if ((bits >> (4 - column)) & 1) fill(png, left + place * 6 + column, top + row, 1, 1, INK);
      }
    }
  }
}
