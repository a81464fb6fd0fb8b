/** Returns numbers in [0, 1). */
export type Random = () => number;

/** The sandbox's clock; `now` is Unix time in ms. */
export interface Clock {
  now(): number;
}

/** A repeatable `Random` (mulberry32). */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** Creates unique ids and timestamps in Slack's formats. */
export class Ids {
  readonly #random: Random;
  readonly #clock: Clock;
  #count = 0;
  #lastMicros = 0;

  constructor(random: Random, clock: Clock) {
    this.#random = random;
    this.#clock = clock;
  }

  /** `length` random letters and digits. */
  letters(length: number): string {
    let text = '';
    for (let i = 0; i < length; i += 1) text += LETTERS[Math.floor(this.#random() * LETTERS.length)] ?? 'A';
    return text;
  }

  /** An id such as `U0A1B2C3D4E`: a prefix, a serial number and letters. */
  next(prefix: string): string {
    this.#count += 1;
    return `${prefix}0${this.#count.toString(36).toUpperCase().padStart(4, '0')}${this.letters(5)}`;
  }

  /** A UUID, such as a client_msg_id or an envelope_id. */
  uuid(): string {
    const hex = Array.from({ length: 32 }, () => Math.floor(this.#random() * 16).toString(16)).join('');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
  }

  /** A message timestamp: seconds with six decimals, always later than the previous one. */
  ts(): string {
    const micros = Math.max(this.#lastMicros + 1, Math.floor((this.#clock.now() + this.#random()) * 1000));
    this.#lastMicros = micros;
    return `${Math.floor(micros / 1_000_000)}.${String(micros % 1_000_000).padStart(6, '0')}`;
  }
}
