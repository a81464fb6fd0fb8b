import { z } from 'zod';
import { SlackRefusedError } from './errors.ts';
import type { RateLimitedClient } from './rate-limits.ts';

/** A trigger expires after 3 s, part of which has passed: opening a modal after a longer wait (ms) fails. */
const TRIGGER_MAX_WAIT_MS = 2_000;

const openedSchema = z.looseObject({ view: z.looseObject({ id: z.string() }) });
const publishedSchema = z.looseObject({ view: z.looseObject({ hash: z.string() }) });

/** Modals and the Home tab. */
export class Views {
  readonly #client: RateLimitedClient;

  constructor(client: RateLimitedClient) {
    this.#client = client;
  }

  /** Opens a modal and returns its id, or undefined if the trigger has expired. Throws a SlackError. */
  async open(triggerId: string, view: object): Promise<string | undefined> {
    const options = { schema: openedSchema, maxWaitMs: TRIGGER_MAX_WAIT_MS };
    try {
      return (await this.#client.call('views.open', { trigger_id: triggerId, view }, options))?.view.id;
    } catch (error) {
      if (error instanceof SlackRefusedError && /trigger/.test(error.slackCode)) return undefined;
      throw error;
    }
  }

  /** Updates an open modal; false if it was closed. Throws a SlackError. */
  async update(viewId: string, view: object): Promise<boolean> {
    try {
      return await this.#client.send('views.update', { view_id: viewId, view });
    } catch (error) {
      if (!(error instanceof SlackRefusedError && error.slackCode === 'not_found')) throw error;
      return false;
    }
  }

  /**
   * Shows a person's Home tab, made when the rate limit allows it, and returns the view's hash. With the `hash` of an
   * earlier view, it does nothing and returns undefined if another view has replaced that one. Throws a SlackError, or the
   * reason of the signal that withdrew it before.
   */
  async publish(
    person: string,
    render: () => Promise<object>,
    { hash, signal }: { hash?: string | undefined; signal?: AbortSignal } = {},
  ): Promise<string | undefined> {
    const rendered = async () => ({ user_id: person, view: await render(), hash });
    try {
      const options = { schema: publishedSchema, signal };
      return (await this.#client.call('views.publish', rendered, options)).view.hash;
    } catch (error) {
      if (error instanceof SlackRefusedError && error.slackCode === 'hash_conflict') return undefined;
      throw error;
    }
  }
}
