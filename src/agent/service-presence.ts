import { AgentError } from './errors.ts';
import { NO_TASK_ID } from './key-check.ts';
import type { ServiceHttp } from './service-http.ts';
import { taskSchema } from './service-schema.ts';

export const WRONG_KEY = 'a-key-that-nobody-has';

/** How often the service is asked (ms), however many want to know. */
const ASK_INTERVAL_MS = 1_000;

/** Tells whether the service itself answers, or only a gateway in front of it, with errors or pages of its own. */
export class ServicePresence {
  readonly #http: ServiceHttp;
  readonly #wrongKeyHttp: ServiceHttp;
  #asking: Promise<void> | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #refusedWrongKeyAt = Number.NEGATIVE_INFINITY;

  /** `wrongKeyHttp` makes calls with `WRONG_KEY`. */
  constructor(http: ServiceHttp, wrongKeyHttp: ServiceHttp) {
    this.#http = http;
    this.#wrongKeyHttp = wrongKeyHttp;
  }

  /**
   * Whether the service was there after `at` (`performance.now()`): a call under the key succeeded or, if none did,
   * the service now refuses a wrong key.
   */
  async wasThereAfter(at: number): Promise<boolean> {
    if (this.#lastThereAt > at) return true;
    if (performance.now() - this.#askedAt >= ASK_INTERVAL_MS) {
      this.#askedAt = performance.now();
      this.#asking = this.#ask();
    }
    await this.#asking;
    return this.#lastThereAt > at;
  }

  /** Whether a call under the key succeeded after `at` (`performance.now()`). In an outage, a gateway may still refuse keys. */
  hasSucceededAfter(at: number): boolean {
    return this.#http.lastSuccessAt > at;
  }

  get #lastThereAt(): number {
    return Math.max(this.#http.lastSuccessAt, this.#refusedWrongKeyAt);
  }

  async #ask(): Promise<void> {
    const ids = { task_id: NO_TASK_ID };
    try {
      await this.#wrongKeyHttp.call('GET', '/experimental/tasks/{task_id}', taskSchema, { ids });
    } catch (error) {
      if (error instanceof AgentError && error.code === 'bad_key')
        this.#refusedWrongKeyAt = performance.now();
    }
  }
}
