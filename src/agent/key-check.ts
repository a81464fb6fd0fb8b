import { setTimeout as sleep } from 'node:timers/promises';
import type { CallGate } from '../calls/credential-gate.ts';
import { AgentError, type AgentForbiddenError } from './errors.ts';

/** No task has this id, so asking for it changes nothing. */
export const NO_TASK_ID = '00000000-0000-0000-0000-000000000000';

/** How often a key is tried (ms), however many calls were refused. */
const TRY_INTERVAL_MS = 10_000;
/** A key that worked this long (ms) before a refusal still counts as valid. */
const VALID_FOR_MS = 1_000;

export interface KeyCheckDeps {
  /** Makes a call that any valid key may make. Its 403 is thrown as a refused key. */
  readonly tryKey: () => Promise<unknown>;
  /** When a call under the key last succeeded (`performance.now()`). */
  readonly lastSuccessAt: () => number;
  readonly gate: CallGate | undefined;
}

/** Finds out whether a 403 is about the key or about what the call asked for, by another call under the same key. */
export class KeyCheck {
  readonly #deps: KeyCheckDeps;
  #triedAt = Number.NEGATIVE_INFINITY;
  #state: Promise<KeyState> = Promise.resolve('unknown');

  constructor(deps: KeyCheckDeps) {
    this.#deps = deps;
  }

  /**
   * The error to throw for a 403: the same if the key is valid or another call succeeds, `bad_key` if it is refused, and `unavailable` if
   * the service does not tell. May wait until the key may be tried again; `aborted` if `signal` ends that.
   */
  async explain(refusal: AgentForbiddenError, signal: AbortSignal): Promise<AgentError> {
    const { status, requestId, message } = refusal;
    const details = { outcome: refusal.outcome, status, requestId, cause: refusal };
    const at = performance.now();
    const state = await this.#stateAfter(at, signal).catch(() => 'aborted' as const);
    const hasWorkedSince = this.#deps.lastSuccessAt() > at;
    if (state === 'refused' && !hasWorkedSince) {
      const sentence = `${message} It rejects the API key for other calls, too. An administrator must set a valid AGENT_API_KEY.`;
      const badKey = new AgentError('bad_key', { ...details, sentence });
      this.#deps.gate?.refused(badKey);
      return badKey;
    }
    if (state === 'aborted') return new AgentError('aborted', { ...details, sentence: message });
    if (state === 'unknown' && !hasWorkedSince)
      return new AgentError('unavailable', { ...details, sentence: message });
    this.#deps.gate?.accepted();
    return refusal;
  }

  /** The key's state by a try at that time or later. Rejects if `signal` ends the wait for it. */
  async #stateAfter(at: number, signal: AbortSignal): Promise<KeyState> {
    while (this.#triedAt < at - VALID_FOR_MS) {
      const waitMs = this.#triedAt + TRY_INTERVAL_MS - performance.now();
      if (waitMs > 0) {
        await sleep(waitMs, undefined, { signal });
      } else {
        this.#triedAt = performance.now();
        this.#state = this.#try();
      }
    }
    return await this.#state;
  }

  async #try(): Promise<KeyState> {
    try {
      await this.#deps.tryKey();
      return 'valid';
    } catch (error) {
      if (!(error instanceof AgentError) || error.outcome !== 'refused') return 'unknown';
      if (error.code === 'bad_key') return 'refused';
      return error.code === 'not_found' || error.code === 'rejected' ? 'valid' : 'unknown';
    }
  }
}

type KeyState = 'valid' | 'refused' | 'unknown';
