import { timeLimit, unlessAborted } from '../../calls/retries-and-waits.ts';
import { ttlCache } from '../../calls/shared-calls.ts';
import { isPermanentRefusal, SlackAuthError } from '../../slack/errors.ts';
import type { SlackTs, ThreadKey } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { isDirectChannel } from '../runtime/incoming-message.ts';
import type { WorkspaceRegistry } from './installed-workspaces.ts';

/** What of an event tells whose it is. Slack names one installation of those whose bots are in the channel. */
export interface SharedEvent extends ThreadKey {
  /** False if Slack says that the channel is not shared with another organisation. */
  isShared: boolean;
  /** When its message was written, or when it happened. */
  ts: SlackTs;
  writer: string | undefined;
  /** Whom the message mentions, in their order; of a reaction, to whose message it is. */
  mentioned: () => readonly string[];
}

/** Where somebody uses a control or a shortcut of an organisation's bot; Slack names the workspace where they are at home. */
export interface OrganisationUse extends ThreadKey {
  organisation: string;
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
   * The workspace that an event is for: of the bot that is mentioned, else the one that has the thread (of several the one
   * to whose bot the writer last turned), else the one that Slack names. Another than that counts only if Slack says, for
   * its own token, that its bot is in the channel. Nobody's token is used for a channel that is not shared with their
   * organisation. Throws a StoreError, a SlackError or a time-out: then nobody knows.
   */
  async workspaceFor(sent: SharedEvent): Promise<string> {
    // A direct conversation is with one bot, in whichever workspace of its organisation the person writes.
    const isDirect = isDirectChannel(sent.channel);
    const event = { ...sent, isShared: sent.isShared && !isDirect };
    const { workspace: named, thread_ts, isShared, ts, writer, mentioned } = event;
    if (this.#registry.ids().length < 2) return named;
    // What one of our bots posts is its own.
    const own = this.#ofBot(event, writer ?? '');
    if (own[0] !== undefined) return own[0];
    for (const id of isDirect ? [] : mentioned()) {
      const found = await this.#firstInside(this.#ofBot(event, id), event);
      if (found !== undefined) return found;
    }
    // Workspaces of an organisation share channels among themselves, too.
    const isAlone = !isShared && this.#registry.organisationOf(named) === undefined;
    if (isAlone || thread_ts === '' || ts === '') return named;
    const owners = await this.#threads.workspacesOf(event, writer, ts);
    const reachable = owners.filter((id) => this.#isReachable(event, id));
    return (await this.#firstInside(reachable, event)) ?? named;
  }

  /**
   * The workspace of the organisation that has the thread, else the person's home if its bot is in the channel or nobody says
   * so in time, else one with threads there. Throws a StoreError.
   */
  async workspaceOfUse({ organisation, ...place }: OrganisationUse): Promise<string | undefined> {
    const { workspace: home, channel, thread_ts } = place;
    const isOurs = (id: string) => this.#registry.organisationOf(id) === organisation;
    const owner = (await this.#threads.workspacesOf(place, undefined, thread_ts)).find(isOurs);
    if (owner !== undefined) return owner;
    const isHere = async () => {
      // It may be used there for the first time.
      await this.#registry.find({ workspace: home, organisation });
      return isOurs(home) && (await this.#isInside(home, channel));
    };
    const others = await this.#threads.workspacesIn(channel);
    const isHome = await unlessAborted(isHere(), timeLimit(LOOKUP_TIMEOUT_MS)).catch(() => true);
    return (isHome ? [home, ...others] : others).find(isOurs);
  }

  /** The installations that have this bot; of several workspaces of an organisation the named one alone, if it is among them. */
  #ofBot(event: SharedEvent, userId: string): readonly string[] {
    const workspaces = this.#registry.ofBot(userId);
    const { workspace: named } = event;
    return workspaces.includes(named) ? [named] : workspaces.filter((id) => this.#isReachable(event, id));
  }

  #isReachable({ workspace: named, isShared }: SharedEvent, id: string): boolean {
    const organisation = this.#registry.organisationOf(named);
    const isOfSame = organisation !== undefined && this.#registry.organisationOf(id) === organisation;
    return isShared || id === named || isOfSame;
  }

  async #firstInside(workspaces: readonly string[], { workspace: named, channel }: SharedEvent) {
    for (const workspace of workspaces) {
      if (workspace === named || isDirectChannel(channel)) return workspace;
      if (await this.#isInside(workspace, channel)) return workspace;
    }
    return undefined;
  }

  async #isInside(workspace: string, channel: string): Promise<boolean> {
    const known = this.#places.forceFetch(`${workspace}/${channel}`, { context: { workspace, channel } });
    return (await unlessAborted(known, timeLimit(LOOKUP_TIMEOUT_MS))) === 'inside';
  }

  async #placeOf(workspace: string, channel: string): Promise<'inside' | 'elsewhere'> {
    try {
      const place = await this.#registry.workspace(workspace)?.people.botPlaceIn(channel);
      return place === 'inside' ? 'inside' : 'elsewhere';
    } catch (error) {
      if (error instanceof SlackAuthError || isPermanentRefusal(error)) return 'elsewhere';
      throw error;
    }
  }
}
