import { PNG } from 'pngjs';
import { type ColumnSummary, formatNumber } from './table-summary.ts';

const WIDTH = 720;
const MARGIN = 24;
const HEAD = 52;
const ROW = 76;
const MAX_ROWS = 12;
/** Pixels for each dot of a character. */
const DOT = 2;
const MAX_NAME_LENGTH = 13;
/** The range from the least to the greatest value of a column. */
const TRACK = { left: 206, width: 470, top: 24, height: 16 };
const INK = [51, 51, 51] as const;
const SOFT_INK = [120, 120, 120] as const;
const GROUND = [233, 236, 239] as const;
const COLOURS = [
  { light: [164, 200, 232], dark: [36, 92, 152] },
  { light: [246, 203, 158], dark: [184, 88, 16] },
  { light: [159, 217, 188], dark: [20, 116, 72] },
  { light: [233, 172, 183], dark: [160, 44, 66] },
] as const;

type Colour = readonly [number, number, number];

/** Draws one range for each column as PNG, on the column's own scale: least, mean with standard deviation, greatest. */
export function columnChart(columns: readonly ColumnSummary[]): Buffer {
  const shown = columns.slice(0, MAX_ROWS);
  const height = HEAD + Math.max(1, shown.length) * ROW + (shown.length < columns.length ? ROW / 2 : 0);
  const png = new PNG({ width: WIDTH, height });
  png.data.fill(255);
  const title =
    shown.length > 0 ? 'Each column on its own scale: mean and sd' : 'No column holds numbers only';
  drawText(png, MARGIN, MARGIN - 4, title, INK);
  for (const [index, column] of shown.entries()) drawColumn(png, HEAD + index * ROW, column, index);
  const rest = columns.length - shown.length;
  if (rest > 0) drawText(png, MARGIN, height - ROW / 2, `… and ${rest} more`, SOFT_INK);
  // Plain areas compress well without a filter, and trying every filter on each row is slow.
  return PNG.sync.write(png, { filterType: 0, deflateStrategy: 0, deflateLevel: 6 });
}

function drawColumn(png: PNG, top: number, { name, min, max, mean, sd }: ColumnSummary, index: number): void {
  const { light, dark } = COLOURS[index % COLOURS.length] ?? COLOURS[0];
  const { left, width } = TRACK;
  const y = top + TRACK.top;
  const place = (value: number): number => {
    const share = max > min ? (value - min) / (max - min) : 0.5;
    return Math.round(left + Math.min(1, Math.max(0, share)) * width);
  };
  const spread = Number.isFinite(sd) ? sd : 0;
  const [from, to] = [place(mean - spread), place(mean + spread)];
  fill(png, left, y, width, TRACK.height, GROUND);
  fill(png, from, y, to - from, TRACK.height, light);
  fill(png, place(mean) - 2, y - 4, 4, TRACK.height + 8, dark);
  const characters = charactersOf(name);
  const isLong = characters.length > MAX_NAME_LENGTH;
  const label = isLong ? `${characters.slice(0, MAX_NAME_LENGTH - 1).join('')}…` : name;
  drawText(png, MARGIN, y + 1, label, INK);
  const middle = formatNumber(mean);
  const fits = Math.min(left + width - widthOf(middle), Math.max(left, place(mean) - widthOf(middle) / 2));
  drawText(png, Math.round(fits), top, middle, dark);
  const greatest = formatNumber(max);
  drawText(png, left, y + TRACK.height + 8, formatNumber(min), SOFT_INK);
  drawText(png, left + width - widthOf(greatest), y + TRACK.height + 8, greatest, SOFT_INK);
}

function widthOf(text: string): number {
  return charactersOf(text).length * ADVANCE * DOT - DOT;
}

function drawText(png: PNG, left: number, top: number, text: string, colour: Colour): void {
  for (const { x, y } of dotsOf(text)) fill(png, left + x * DOT, top + y * DOT, DOT, DOT, colour);
}

function fill(png: PNG, left: number, top: number, width: number, height: number, colour: Colour): void {
  const pixel = Uint8Array.of(...colour, 255);
  const [from, to] = [Math.max(0, left), Math.min(WIDTH, left + width)];
  if (from >= to) return;
  for (let y = Math.max(0, top); y < Math.min(png.height, top + height); y += 1) {
    png.data.fill(pixel, (y * WIDTH + from) * 4, (y * WIDTH + to) * 4);
  }
}

/** Seven rows of five bits for each character, each row as one digit of base 32. */
const GLYPHS: Readonly<Record<string, string>> = {
  ' ': '0000000',
  ...glyphs(
    '0 ehjlphe 1 4c4444e 2 eh1248v 3 v2421he 4 26aiv22 5 vgu11he 6 68guhhe 7 v124888 8 ehhehhe 9 ehhf12c',
  ),
  ...glyphs('A ehhvhhh B uhhuhhu C ehggghe D sihhhis E vgguggv F vgguggg G ehgnhhf H hhhvhhh I e44444e'),
  ...glyphs('J 72222ic K hikokih L ggggggv M hrllhhh N hhpljhh O ehhhhhe P uhhuggg Q ehhhlid R uhhukih'),
  ...glyphs('S fgge11u T v444444 U hhhhhhe V hhhhha4 W hhhllla X hha4ahh Y hhha444 Z v1248gv'),
  ...glyphs('a 00e1fhf b ggmphhu c 00egghe d 11djhhf e 00ehvge f 698s888 g 0fhhf1e h ggmphhh i 40c444e'),
  ...glyphs('j 20622ic k ggikoki l c44444e m 00qllhh n 00mphhh o 00ehhhe p 00uhugg q 00djf11 r 00mpggg'),
  ...glyphs('s 00ege1u t 88s8896 u 00hhhjd v 00hhha4 w 00hhlla x 00ha4ah y 00hhf1e z 00v248v'),
  ...glyphs('. 00000cc , 0000c48 - 000v000 + 044v440 _ 000000v / 01248g0 % op248j3 ( 2488842 ) 8422248'),
  ...glyphs(': 0cc0cc0 = 00v0v00 … 000000l ? eh12404 * 04lel40 # aavavaa & cik8lid < 248g842 > 8421248'),
};
/** Stands for every other character. */
const BOX = 'vhhhhhv';

const GLYPH_WIDTH = 5;
/** From one character to the next, in dots. */
export const ADVANCE = 6;

const segmenter = new Intl.Segmenter();

/** The characters of a text, as people count them. */
export function charactersOf(text: string): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** The dots of a text as columns and rows from its upper left corner. */
export function dotsOf(text: string): { x: number; y: number }[] {
  return charactersOf(text).flatMap((character, place) => {
    const rows = GLYPHS[character] ?? GLYPHS[withoutAccent(character)] ?? BOX;
    return rows.split('').flatMap((digit, y) => {
      const bits = Number.parseInt(digit, 32);
      return Array.from({ length: GLYPH_WIDTH }, (_, column) => column)
        .filter((column) => (bits >> (GLYPH_WIDTH - 1 - column)) & 1)
        .map((column) => ({ x: place * ADVANCE + column, y }));
    });
  });
}

function withoutAccent(character: string): string {
  return character.normalize('NFD').slice(0, 1);
}

function glyphs(list: string): Record<string, string> {
  return Object.fromEntries(
    [...list.matchAll(/(\S) (\w{7})/g)].map(([, character = '', rows = '']) => [character, rows]),
  );
}
