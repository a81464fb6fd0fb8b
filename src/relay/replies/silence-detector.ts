/** Notices when the agent writes nothing new for a while. */
export class SilenceDetector {
  #changedAt = performance.now();
  #isSilent = false;
  #count = 0;

  /** The number of the current silence, from 1; undefined while the agent writes. */
  get current(): number | undefined {
    return this.#isSilent ? this.#count : undefined;
  }

  /** The agent wrote something, or got something to answer: the silence starts over. */
  reset(): void {
    this.#changedAt = performance.now();
    this.#isSilent = false;
  }

  /** Whether a silence of `silenceMs` begins now; true once for each silence. */
  begins(silenceMs: number): boolean {
    if (this.#isSilent || performance.now() - this.#changedAt <= silenceMs) return false;
    this.#isSilent = true;
    this.#count += 1;
    return true;
  }
}
