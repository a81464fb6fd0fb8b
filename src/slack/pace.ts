const STEP_DOWN = 0.8;
const LEAST = 0.3;
/** Back to full pace by this much a minute. */
const STEP_UP_PER_MINUTE = 0.1;
/** Refusals of requests that were on their way together count once (ms). */
const ONE_REFUSAL_MS = 2_000;

/** How much of its pace a lane uses: less after a refusal, and slowly more again. */
export class Pace {
  #factor = 1;
  #at = 0;

  /** 1 is full pace. */
  factor(): number {
    const minutes = (performance.now() - this.#at) / 60_000;
    return Math.min(1, this.#factor + minutes * STEP_UP_PER_MINUTE);
  }

  slowDown(): void {
    const now = performance.now();
    if (this.#factor < 1 && now - this.#at < ONE_REFUSAL_MS) return;
    this.#factor = Math.max(LEAST, this.factor() * STEP_DOWN);
    this.#at = now;
  }
}
