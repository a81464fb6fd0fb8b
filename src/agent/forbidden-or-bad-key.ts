import { setTimeout as sleep } from 'node:timers/promises';
import type { CallGate } from '../calls/credential-gate.ts';
import { AgentError, type AgentRejectedError } from './errors.ts';

/** No task has this id, so asking for it changes nothing. */
export const NO_TASK_ID = '00000000-0000-0000-0000-000000000000';

/** Whether a text may be a key. It is redacted from every log line, so it must not be an ordinary word or a piece of JSON. */
export function isPlausibleKey(text: string): boolean {
  return /^(?:(?!["'`{}\\])[\x21-\x7e]){16,}$/.test(text);
}

/** How often a key is tried (ms), however many calls were refused. */
const TRY_INTERVAL_MS = 10_000;
/** A key that worked this long (ms) before a refusal still counts as valid. */
const VALID_FOR_MS = 1_000;

/** The service as one key sees it. */
interface KeyedService {
  /** When a call under the key last succeeded (`performance.now()`). */
  readonly lastSuccessAt: number;
  /** Makes a call that any valid key may make, with the key or another one. Its 403 is thrown as a refused key. */
  tryKey(otherKey?: string): Promise<unknown>;
}

/** Finds out whether a 403 is about the key or about what the call asked for, by another call under the same key. */
export class KeyCheck {
  readonly #service: KeyedService;
  readonly #gate: CallGate | undefined;
  #triedAt = Number.NEGATIVE_INFINITY;
  #state: Promise<KeyState> = Promise.resolve('unknown');

  constructor(service: KeyedService, gate: CallGate | undefined) {
    this.#service = service;
    this.#gate = gate;
  }

  /**
   * The error to throw for a 403: the same if the key is valid or another call succeeds, `bad_key` if it is refused, and `unavailable` if
   * the service does not tell. May wait until the key may be tried again; `aborted` if `signal` ends that.
   */
  async explain(refusal: AgentRejectedError, signal: AbortSignal): Promise<AgentError> {
    const { status, requestId, message } = refusal;
    const details = { outcome: refusal.outcome, status, requestId, cause: refusal };
    const at = performance.now();
    const state = await this.#stateAfter(at, signal).catch(() => 'aborted' as const);
    const hasWorkedSince = this.#service.lastSuccessAt > at;
    if (state === 'refused' && !hasWorkedSince) {
      const sentence = `${message} It rejects the API key for other calls, too. An administrator must set a valid AGENT_API_KEY.`;
      const badKey = new AgentError('bad_key', { ...details, sentence });
      this.#gate?.refused(badKey);
      return badKey;
    }
    if (state === 'aborted') return new AgentError('aborted', { ...details, sentence: message });
    if (state === 'unknown' && !hasWorkedSince)
      return new AgentError('unavailable', { ...details, sentence: message });
    this.#gate?.accepted();
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
      await this.#service.tryKey();
      return 'valid';
    } catch (error) {
      if (!(error instanceof AgentError) || error.outcome !== 'refused') return 'unknown';
      if (error.code === 'bad_key') return 'refused';
      return error.code === 'not_found' || error.code === 'rejected' ? 'valid' : 'unknown';
    }
  }
}

type KeyState = 'valid' | 'refused' | 'unknown';

export const WRONG_KEY = 'a-key-that-nobody-has';

/** Rejects unless the service refuses a wrong key: a gateway in front of it has errors or pages of its own. */
export async function expectKeyRefusal(service: KeyedService): Promise<void> {
  const answer = await service.tryKey(WRONG_KEY).catch((error: unknown) => error);
  if (!(answer instanceof AgentError && answer.code === 'bad_key')) throw answer;
}
