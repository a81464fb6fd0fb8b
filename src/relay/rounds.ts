/** What is looked for again and again. */
export interface RoundsOptions {
  /** The time from one look to the next (ms); one that takes longer leaves looks out. */
  everyMs: number;
  /** One look. */
  round: () => Promise<void>;
  /** Hears what a look threw; the next one comes all the same. */
  onError: (error: unknown) => void;
}

/** Looks every so often, one look at a time. */
export class Rounds {
  readonly #options: RoundsOptions;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #again = false;
  #stopped = false;

  constructor(options: RoundsOptions) {
    this.#options = options;
  }

  /** Begins; the first look comes after one interval. */
  start(): void {
    this.#timer = setInterval(() => {
      if (this.#running === undefined) this.look();
    }, this.#options.everyMs);
  }

  /** Looks now, and after a look under way once more. Does nothing before the start and after the stop. */
  look(): void {
    if (this.#timer === undefined || this.#stopped) return;
    this.#again = true;
    this.#running ??= this.#all();
  }

  /** Whether a long look should begin nothing more. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** Looks no more, and waits for the look under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#running;
  }

  async #all(): Promise<void> {
    while (this.#again && !this.#stopped) {
      this.#again = false;
      try {
        await this.#options.round();
      } catch (error) {
        this.#options.onError(error);
      }
    }
    this.#running = undefined;
  }
}
