import { WORD_JOINER } from '../markdown/pings.ts';

/** A number of a table with how exactly it is written: `mantissa` × 10^`exponent`, which may be beyond the range of the type. */
export interface CellNumber {
  mantissa: number;
  exponent: number;
  /** Half a unit of the mantissa's last digit. */
  halfStep: number;
  /** `<` or `>` if the cell gives a bound alone. */
  bound: string;
  /** Such as `%` or `mg`, whose µ is the micro sign; '' for a bare number. */
  unit: string;
}

/** Longer cells hold sentences. */
const MAX_LENGTH = 60;
const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';
const EXPONENT = `[⁺⁻]?[${SUPERSCRIPTS}]+`;
const MINUS = '−–‐-';
/** With separators of thousands or without; what begins with further zeros is a name. */
const DIGITS = '(?!0[\\d,])(?:\\d{1,3}(?:[,\u00a0\u2009\u202f]\\d{3})+|\\d+)(?:\\.(\\d*))?|\\.(\\d+)';
const CARET = `\\^\\(?([+⁺⁻${MINUS}]?[\\d${SUPERSCRIPTS}]+)\\)?`;
const RAISED = `${CARET}|(${EXPONENT}|[${MINUS}]\\d+)`;
const POWER = `e([+${MINUS}]?\\d+)|\\s?[×x·⋅*]\\s?10(?:${RAISED})`;
const NUMBER = new RegExp(`^([<>≤≥]?)=?\\s*([+${MINUS}]?)\\s?(${DIGITS})(?:${POWER})?(.*)$`, 'isu');
/** A power of ten alone, such as 10⁻⁸; 10-20 is a range. */
const BARE_POWER = new RegExp(`^([<>≤≥]?=?\\s*)(10(?:${CARET}|${EXPONENT})$)`, 'u');
const UNIT = '\\s?[%‰°×x]|\\s[\\p{L}µ°%][\\p{L}µ°%/·^⁻¹²³ -]{0,15}';
/** What follows a number: how uncertain it is, such as ± 0.2 or (95% CI 1.2–2.4), and before or behind that its unit. */
const REST = new RegExp(`^(${UNIT})?(?:\\s*(?:±|\\+/-|[([]).*\\d(?:.*[)\\]])?(${UNIT})?.*)?$`, 'su');

/**
 * The number of a cell of a table in Markdown; undefined for any other text. An interval or an error in brackets or behind ± is
 * left out: it differs from run to run. So is a range, a fraction or a name with digits, such as 293T.
 */
export function numberInCell(cell: string): CellNumber | undefined {
  if (cell.length > MAX_LENGTH) return undefined;
  // Stars mark how significant a number is.
  const plain = plainCell(cell).replace(/(?<=[\d.)%])\s?[*†‡§]+$/u, '');
  const parts = NUMBER.exec(plain.replace(BARE_POWER, (_, bound, power) => `${bound}1×${power}`));
  if (parts === null) return undefined;
  const [, bound = '', sign = '', digits = '', afterPoint, bare, e, caret, raised, behind = ''] = parts;
  const rest = REST.exec(behind.trimEnd());
  if (rest === null) return undefined;
  const size = Number(digits.replace(/[,\s]/g, ''));
  const decimals = (afterPoint ?? bare ?? '').length;
  const power = e ?? caret ?? raised ?? '0';
  const unit = (rest[1] ?? rest[2] ?? '').trim().replace(/^x$/, '×').replaceAll('\u03bc', '\u00b5');
  // A bare 0 is nothing, or too small to be written; other whole numbers count something, unless they are percentages.
  const isCount = power === '0' && decimals === 0 && unit !== '%';
  return {
    mantissa: sign !== '' && MINUS.includes(sign) ? -size : size,
    exponent: Number(inAscii(power)),
    halfStep: isCount ? (size === 0 ? 0.0005 : 0) : 0.5 * 10 ** -decimals,
    bound: bound.replace('≤', '<').replace('≥', '>'),
    unit,
  };
}

/**
 * Whether two numbers agree: within 1 %, or `rounded`: one is the other rounded, or it is within the other's bound. Undefined if
 * they cannot be compared: their units differ, or both are bounds, and different ones.
 */
export function doNumbersAgree(one: CellNumber, other: CellNumber): boolean | 'rounded' | undefined {
  if (one.unit !== other.unit) return undefined;
  const scaled = (size: number, { exponent }: CellNumber) =>
    size * 10 ** (exponent - Math.max(one.exponent, other.exponent));
  const [a, b] = [scaled(one.mantissa, one), scaled(other.mantissa, other)];
  const apart = Math.abs(a - b) / 1.0001;
  const isClose = apart <= 0.01 * Math.max(Math.abs(a), Math.abs(b));
  // A bound is meant as it is written.
  const steps = [one, other].map((number) => (number.bound === '' ? scaled(number.halfStep, number) : 0));
  const isRounding = apart <= Math.max(...steps);
  if (one.bound === '' && other.bound === '') return isClose || (isRounding && 'rounded');
  if (one.bound !== '' && other.bound !== '') return one.bound === other.bound && a === b ? true : undefined;
  const isAtMost = one.bound === '<' || other.bound === '>';
  return (isClose || isRounding || (isAtMost ? b < a : b > a)) && 'rounded';
}

/** A cell without the marks of Markdown, HTML and formulas around what it says. */
export function plainCell(cell: string): string {
  return cell
    .replace(/&([lg])t;/g, (_, side) => (side === 'l' ? '<' : '>'))
    .replace(/\\times|\\cdot/g, '×')
    .replaceAll('\\pm', '±')
    .replace(/<sup>([^<]{0,20})<\/sup>/gi, '^$1')
    .replace(/\\(?=[!-/:-@[-`{-~])|[$`{}]/g, '')
    .trim()
    .replace(/^(\*{1,3}|_{1,3})(?=\S)(.*\S)\1$/, '$2');
}

/** A number as it is printed, with a power of ten or without, or such a power alone. */
const PRINTED = new RegExp(`^([+−–-]?)(?:(\\d+(?:\\.\\d+)?)(?: ?[×·] ?10(${EXPONENT}))?|10(${EXPONENT}))$`);

/** A cell's number as programs read it: `−2.5 × 10⁻³` is `-2.5e-3`. Any other text stays as it is. */
export function machineReadable(cell: string): string {
  const text = cell.replaceAll(WORD_JOINER, '');
  const [, sign, mantissa = '1', raised, power = raised] = PRINTED.exec(text) ?? [];
  if (sign === undefined) return text;
  return `${inAscii(sign)}${mantissa}${power === undefined ? '' : `e${inAscii(power)}`}`;
}

/** A sign or an exponent in ASCII. */
function inAscii(power: string): string {
  return power.normalize('NFKC').replace(/[−–‐]/, '-');
}
