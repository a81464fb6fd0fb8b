import { z } from 'zod';
import { valueIf } from '../calls/retries-and-waits.ts';
import { isRefusedWith } from './errors.ts';
import type { RateLimitedClient } from './rate-limits.ts';

/** A trigger expires after 3 s, part of which has passed: opening a modal after a longer wait (ms) fails. */
const TRIGGER_MAX_WAIT_MS = 2_000;

const openedSchema = z.looseObject({ view: z.looseObject({ id: z.string() }) });
const publishedSchema = z.looseObject({ view: z.looseObject({ hash: z.string() }) });

/** What begins the metadata of an organisation's views: their workspace, which Slack does not tell of what is used there. */
const WORKSPACE = /^(T[A-Z0-9]+) /;

interface View {
  private_metadata?: string;
}

/** The workspace of a view, if its metadata begins with one, and the metadata that it was made with. */
export function parseViewMetadata(metadata: string): { workspace: string | undefined; metadata: string } {
  return { workspace: WORKSPACE.exec(metadata)?.[1], metadata: metadata.replace(WORKSPACE, '') };
}

/** Modals and the Home tab. */
export class Views {
  readonly #client: RateLimitedClient;

  constructor(client: RateLimitedClient) {
    this.#client = client;
  }

  /** Opens a modal and returns its id, or undefined if the trigger has expired. Throws a SlackError. */
  async open(triggerId: string, view: View): Promise<string | undefined> {
    const options = { schema: openedSchema, maxWaitMs: TRIGGER_MAX_WAIT_MS };
    const call = { trigger_id: triggerId, view: this.#placed(view) };
    const opening = this.#client.call('views.open', call, options);
    return (await opening.catch(valueIf(undefined, isRefusedWith(/trigger/))))?.view.id;
  }

  /** Updates an open modal; false if it was closed. Throws a SlackError. */
  async update(viewId: string, view: View): Promise<boolean> {
    const updated = this.#client.send('views.update', { view_id: viewId, view: this.#placed(view) });
    return await updated.catch(valueIf(false, isRefusedWith(/^not_found$/)));
  }

  /**
   * Shows a person's Home tab, made when the rate limit allows it, and returns the view's hash. With the `hash` of an
   * earlier view, it does nothing and returns undefined if another view has replaced that one. Throws a SlackError, or the
   * reason of the signal that withdrew it before.
   */
  async publish(
    person: string,
    render: () => Promise<View>,
    { hash, signal }: { hash?: string | undefined; signal?: AbortSignal } = {},
  ): Promise<string | undefined> {
    const rendered = async () => ({ user_id: person, view: this.#placed(await render()), hash });
    const published = this.#client.call('views.publish', rendered, { schema: publishedSchema, signal });
    return (await published.catch(valueIf(undefined, isRefusedWith(/^hash_conflict$/))))?.view.hash;
  }

  #placed(view: View): View {
    const { workspace, isOrgToken } = this.#client.installation;
    if (isOrgToken !== true) return view;
    return { ...view, private_metadata: `${workspace} ${view.private_metadata ?? ''}` };
  }
}
