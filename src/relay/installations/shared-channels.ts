import { unlessAborted } from '../../calls/retries-and-waits.ts';
import { ttlCache } from '../../calls/shared-calls.ts';
import { isPermanentRefusal, SlackAuthError } from '../../slack/errors.ts';
import type { ThreadKey } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { isDirectChannel } from '../runtime/incoming-message.ts';
import type { WorkspaceRegistry } from './installed-workspaces.ts';

/** What of an event tells whose it is. Slack names one installation of those whose bots are in the channel. */
export interface SharedEvent extends ThreadKey {
  /** False if Slack says that the channel is not shared with another organisation. */
  isShared: boolean;
  /** Who wrote its message. */
  writer: string | undefined;
  /** Whom the message mentions, in their order; of a reaction, to whose message it is. */
  mentioned: () => readonly string[];
}

/** Whether the bot of a workspace is in a channel is known for so long (ms), of so many. */
const PLACE_TTL_MS = 60_000;
const MAX_PLACES = 1_000;
/** How long Slack may take to say so (ms): it sends an event again that is not acknowledged within 3 s. */
const LOOKUP_TIMEOUT_MS = 1_500;

/** Finds the installation that an event is for, where several share its channel. */
export class SharedChannels {
  readonly #registry: WorkspaceRegistry;
  readonly #threads: Store['threads'];
  readonly #places = ttlCache<'inside' | 'elsewhere', { workspace: string; channel: string }>(
    MAX_PLACES,
    PLACE_TTL_MS,
    (_key, { workspace, channel }) => this.#placeOf(workspace, channel),
  );

  constructor(registry: WorkspaceRegistry, { threads }: Pick<Store, 'threads'>) {
    this.#registry = registry;
    this.#threads = threads;
  }

  /**
   * The workspace that an event is for: of the bot that is mentioned, else the one that has the thread, else the one that
   * Slack names. Another than that counts only if Slack says, for its own token, that its bot is in the channel. Throws a
   * StoreError, a SlackError or a time-out: then nobody knows.
   */
  async workspaceFor(event: SharedEvent): Promise<string> {
    const { workspace: named, channel, thread_ts, isShared, writer, mentioned } = event;
    if (this.#registry.ids().length < 2 || isDirectChannel(channel)) return named;
    // What another of our bots posts is its own.
    const [own] = writer === undefined ? [] : this.#others(named, writer);
    if (own !== undefined) return own;
    for (const id of mentioned()) {
      if (this.#registry.ofBot(id).includes(named)) return named;
      const found = await this.#firstInside(this.#others(named, id), channel);
      if (found !== undefined) return found;
    }
    if (!isShared || thread_ts === '') return named;
    const owners = await this.#threads.workspacesOf(channel, thread_ts);
    return owners.includes(named) ? named : ((await this.#firstInside(owners, channel)) ?? named);
  }

  #others(named: string, botUser: string): readonly string[] {
    const workspaces = this.#registry.ofBot(botUser);
    return workspaces.includes(named) ? [] : workspaces;
  }

  async #firstInside(workspaces: readonly string[], channel: string): Promise<string | undefined> {
    for (const workspace of workspaces) {
      const known = this.#places.forceFetch(`${workspace}/${channel}`, { context: { workspace, channel } });
      const place = await unlessAborted(known, AbortSignal.timeout(LOOKUP_TIMEOUT_MS));
      if (place === 'inside') return workspace;
    }
    return undefined;
  }

  async #placeOf(workspace: string, channel: string): Promise<'inside' | 'elsewhere'> {
    try {
      const people = this.#registry.workspace(workspace)?.people;
      if ((await people?.botPlaceIn(channel)) !== 'inside') return 'elsewhere';
      // An organisation's bot is also in the channels of its other workspaces.
      const kind = (await people?.currentChannel(channel))?.kind ?? 'unknown';
      return kind === 'unknown' || kind === 'elsewhere' ? 'elsewhere' : 'inside';
    } catch (error) {
      if (error instanceof SlackAuthError || isPermanentRefusal(error)) return 'elsewhere';
      throw error;
    }
  }
}
