import { z } from 'zod';
import { SlackRefusedError } from './errors.ts';
import type { RateLimitedClient } from './rate-limited-client.ts';

/** A trigger lives 3 s, and part of that is over by now: an opening that must wait longer (ms) comes too late. */
const TRIGGER_MAX_WAIT_MS = 2_000;

const openedSchema = z.looseObject({ view: z.looseObject({ id: z.string() }) });
const publishedSchema = z.looseObject({ view: z.looseObject({ hash: z.string() }) });
const anyAnswerSchema = z.looseObject({});

/** Modals and the Home tab. */
export class Views {
  readonly #api: RateLimitedClient;

  constructor(options: { api: RateLimitedClient }) {
    this.#api = options.api;
  }

  /** Opens a modal; the answer is its id, or undefined where the trigger lives no more. Throws a SlackError. */
  async open(triggerId: string, view: object): Promise<string | undefined> {
    const args = { trigger_id: triggerId, view };
    try {
      const answer = await this.#api.tryCall(TRIGGER_MAX_WAIT_MS, 'views.open', args, {
        schema: openedSchema,
      });
      return answer?.view.id;
    } catch (error) {
      if (error instanceof SlackRefusedError && /trigger/.test(error.slackCode)) return undefined;
      throw error;
    }
  }

  /** Shows something else in an open modal; false where it was closed. Throws a SlackError. */
  async update(viewId: string, view: object): Promise<boolean> {
    try {
      await this.#api.call('views.update', { view_id: viewId, view }, { schema: anyAnswerSchema });
      return true;
    } catch (error) {
      if (!(error instanceof SlackRefusedError && error.slackCode === 'not_found')) throw error;
      return false;
    }
  }

  /**
   * Shows a person's Home tab; the answer is the view's hash. With the `hash` of an earlier view nothing is shown, and
   * the answer is undefined, where another has taken that one's place since. Throws a SlackError.
   */
  async publish(person: string, view: object, hash?: string): Promise<string | undefined> {
    const args = { user_id: person, view, ...(hash !== undefined && { hash }) };
    try {
      return (await this.#api.call('views.publish', args, { schema: publishedSchema })).view.hash;
    } catch (error) {
      if (error instanceof SlackRefusedError && error.slackCode === 'hash_conflict') return undefined;
      throw error;
    }
  }
}
