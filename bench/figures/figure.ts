/** What a figure must be to hold; a figure of another program is only shown. */
export type Bar = { atMost: number } | { atLeast: number } | { is: number | boolean } | { shown: 'only' };

/** One value of the JSON line that a run prints last. */
export interface Figure {
  /** Where it stands in that line: names and indexes with dots between them. */
  field: string;
  /** What it says, in words that follow those of its run. */
  what: string;
  /** What stands behind the number, such as `s`; `times` and the like follow it with a space. */
  unit?: string;
  bar: Bar;
  /** The value in words, where a number does not say it. */
  words?: (value: FigureValue) => string;
}

/** A value of a JSON line; null where the run had nothing to measure. */
export type FigureValue = number | boolean | null;

/** A command that measures or judges the bot, and what of its last line counts. */
export interface Run {
  /** How it is called: `npm run figures -- <name>`. */
  name: string;
  /** What is measured or judged, in words that begin a sentence. */
  what: string;
  /** The words after `npm run`. */
  command: readonly string[];
  /** How long it takes by itself on two cores (s); it is ended after three times as long. */
  seconds: number;
  /** How often it runs, if its figures are noisy: their median counts. */
  times?: number;
  /** The option that takes the seed of its randomness: each run has a fresh one. */
  seedOption?: '--seed' | '--poison';
  /** What it needs that a machine may lack: its figures may be missing there. */
  needs?: string;
  /** The folders and files whose changes can move its figures. */
  dependsOn: readonly string[];
  figures: readonly Figure[];
}

/** Whether a value reaches its bar. A missing value never does. */
export function isHeld(value: FigureValue | undefined, bar: Bar): boolean {
  if ('shown' in bar) return true;
  if (value === undefined || value === null) return false;
  if ('is' in bar) return value === bar.is;
  const number = Number(value);
  return 'atMost' in bar ? number <= bar.atMost : number >= bar.atLeast;
}

/** A value as pages and tables show it. */
export function shownValue({ words, unit }: Figure, value: FigureValue | undefined): string {
  if (value === undefined) return '-';
  if (words !== undefined) return words(value);
  if (value === null) return 'never';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return withUnit(value, unit);
}

/** A bar as pages and tables show it. */
export function shownBar({ bar, unit }: Figure): string {
  if ('shown' in bar) return '';
  if ('is' in bar) return typeof bar.is === 'boolean' ? (bar.is ? 'yes' : 'no') : withUnit(bar.is, unit);
  return 'atMost' in bar
    ? `at most ${withUnit(bar.atMost, unit)}`
    : `at least ${withUnit(bar.atLeast, unit)}`;
}

function withUnit(value: number, unit: string | undefined): string {
  const number = value.toLocaleString('en', { maximumFractionDigits: value >= 100 ? 0 : 2 });
  return unit === undefined ? number : `${number} ${unit}`;
}
