/** Characters of one line, including its line break. */
export const LINE_LENGTH = 27;
/** Between two lines (ms). */
export const LINE_INTERVAL_MS = 50;

const NUMBERED_LINE = /t(\d{3}) n(\d{6}) abcdefghijkl\./g;

/** Line `number` of the answer in thread `thread`. */
export function numberedLine(thread: number, number: number): string {
  return `t${String(thread).padStart(3, '0')} n${String(number).padStart(6, '0')} abcdefghijkl.\n`;
}

/** One answer of numbered lines: when each was written and when it first appeared (ms, `performance.now()`). */
export class NumberedAnswer {
  readonly thread: number;
  readonly #written: number[] = [];
  readonly #seen: number[] = [];
  /** When the agent finished writing. */
  endedAt = Number.NaN;
  /** When the first reply appeared in the thread. */
  firstReplyAt = Number.NaN;

  constructor(thread: number) {
    this.thread = thread;
  }

  /** Returns the next line, written at `now`. */
  write(now: number): string {
    this.#written.push(now);
    return numberedLine(this.thread, this.#written.length - 1);
  }

  /** Records that the thread shows this text at `now`. */
  see(shown: string, now: number): void {
    for (const number of this.#numbersIn(shown)) this.#seen[number] ??= now;
  }

  get lines(): number {
    return this.#written.length;
  }

  /** The age (ms) of each visible line when it first appeared. */
  ages(): number[] {
    return this.#written.flatMap((at, number) => {
      const seen = this.#seen[number];
      return seen === undefined ? [] : [seen - at];
    });
  }

  /** From the agent's end until every line was visible (ms); infinite if one is missing. */
  doneLag(): number {
    let last = 0;
    for (const [number] of this.#written.entries())
      last = Math.max(last, this.#seen[number] ?? Number.POSITIVE_INFINITY);
    return Math.max(0, last - this.endedAt);
  }

  /** Whether the text contains every line once and in order. */
  isShownBy(shown: string): boolean {
    const numbers = this.#numbersIn(shown);
    return numbers.length === this.lines && numbers.every((number, index) => number === index);
  }

  #numbersIn(shown: string): number[] {
    return [...shown.matchAll(NUMBERED_LINE)].flatMap(([, thread, number]) =>
      Number(thread) === this.thread ? [Number(number)] : [],
    );
  }
}
