import type { Deliveries } from './deliveries.ts';
import type { Clock, Ids, Random } from './ids.ts';
import type { Channel, ChannelKind, Fields, Team } from './model.ts';

/** How the events of one message are sent: `message` and, if the bot is mentioned, `app_mention`. */
export interface DeliveryBehaviour {
  order: 'mentionFirst' | 'messageFirst' | 'random';
  /** Between the two events, in ms. */
  gapMs: number;
  /** Of an edit whose text mentions the bot: `message_changed` and an `app_mention` with `edited`, or the first alone. */
  editCopies: 'both' | 'messageOnly';
  /** Of a message that mentions the bot: both events, or `app_mention` alone. */
  mentionCopies: 'both' | 'mentionOnly';
  /** `app_mention` with all that the message has, or with its text alone. */
  mentionShows: 'all' | 'text';
  /** Of several workspaces with the app in one channel, the one whose installation an event names: its own, or another. */
  authorizes: 'host' | 'connected';
  /** Events of replies repeat the files of their thread's root. */
  repeatsRootFiles: boolean;
  /** Probability (0 to 1) that an acknowledged event is sent again. */
  duplicateChance: number;
  /** Another id by which texts mention the bot: Slack still sends an `app_mention`. */
  botAlias: string;
  /** Events for an organisation's installation name the organisation instead of the workspace. */
  organisationOnly: boolean;
}

const SUFFIX: Record<ChannelKind, string> = { channel: 'channels', group: 'groups', im: 'im', mpim: 'mpim' };

/** The scope prefix of a kind of conversation, such as `channels` in `channels:history`. */
export function scopePrefix(kind: ChannelKind): string {
  return SUFFIX[kind];
}

const SCOPES: Record<string, string> = {
  app_mention: 'app_mentions:read',
  reaction_added: 'reactions:read',
  reaction_removed: 'reactions:read',
};

interface EventsDeps {
  deliveries: Deliveries;
  ids: Ids;
  clock: Clock;
  random: Random;
  behaviour: DeliveryBehaviour;
  scopes: Set<string>;
  subscribed: () => ReadonlySet<string> | undefined;
}

/** Wraps events and hands them to the outbox, if the app subscribes to them and has the scopes. */
export class Events {
  readonly #deps: EventsDeps;

  constructor(deps: EventsDeps) {
    this.#deps = deps;
  }

  /** How the events of a message are sent; may be changed at any time. */
  get behaviour(): DeliveryBehaviour {
    return this.#deps.behaviour;
  }

  /** Sends one event; `from` is the home workspace of the person who caused it. */
  emit(team: Team, event: Fields, place: { channel?: Channel; from?: string; afterMs?: number } = {}): void {
    const type = String(event.type);
    const name = type === 'message' && place.channel ? `message.${SUFFIX[place.channel.kind]}` : type;
    if (this.#deps.subscribed()?.has(name) === false) return;
    const scope = scopeOf(type, place.channel?.kind);
    if (scope !== undefined && !this.#deps.scopes.has(scope)) return;
    if (team.installation.state !== 'live' && !UNINSTALL_EVENTS.has(type)) return;
    this.#send(team, event, name, place);
  }

  /** Sends the events of a message: `message`, and `app_mention` if the bot is mentioned. */
  emitMessage(
    team: Team,
    message: Fields,
    mention: Fields | undefined,
    channel: Channel,
    from: string,
  ): void {
    if (mention === undefined) {
      this.emit(team, message, { channel, from });
      return;
    }
    const { order, gapMs, mentionCopies } = this.#deps.behaviour;
    const mentionFirst = order === 'mentionFirst' || (order === 'random' && this.#deps.random() < 0.5);
    const both = mentionFirst ? [mention, message] : [message, mention];
    const copies = mentionCopies === 'mentionOnly' ? [mention] : both;
    for (const [at, copy] of copies.entries()) this.emit(team, copy, { channel, from, afterMs: at * gapMs });
  }

  #send(
    team: Team,
    event: Fields,
    name: string,
    place: { channel?: Channel; from?: string; afterMs?: number },
  ): void {
    const { organisation } = team.installation;
    // Events about an organisation's whole installation name no workspace.
    const isOfAll = organisation !== undefined && INSTALLATION_EVENTS.has(name);
    const organisationOnly = this.#deps.behaviour.organisationOnly ? organisation?.id : undefined;
    const named = isOfAll ? null : (organisationOnly ?? team.id);
    const payload = {
      token: 'verification-token',
      team_id: isOfAll ? null : (place.from ?? team.id),
      context_team_id: named,
      ...(organisation === undefined ? {} : { enterprise_id: organisation.id }),
      context_enterprise_id: organisation?.id ?? null,
      api_app_id: team.bot.appId,
      event,
      type: 'event_callback',
      event_id: this.#deps.ids.next('Ev'),
      event_time: Math.floor(this.#deps.clock.now() / 1000),
      authorizations: [
        {
          enterprise_id: organisation?.id ?? null,
          team_id: named === team.id ? team.id : null,
          user_id: team.bot.userId,
          is_bot: true,
          is_enterprise_install: organisation !== undefined,
        },
      ],
      is_ext_shared_channel: place.channel?.shared ?? false,
      event_context: `4-${this.#deps.ids.letters(24)}`,
    };
    const twice =
      this.#deps.behaviour.duplicateChance > 0 && this.#deps.random() < this.#deps.behaviour.duplicateChance;
    this.#deps.deliveries.event(payload, name, place.afterMs ?? 0, twice);
  }
}

/** Events that arrive even without a valid token. */
const UNINSTALL_EVENTS = new Set(['app_uninstalled', 'tokens_revoked']);
const INSTALLATION_EVENTS = new Set([...UNINSTALL_EVENTS, 'team_access_granted', 'team_access_revoked']);

function scopeOf(type: string, kind: ChannelKind | undefined): string | undefined {
  if (type === 'message') return kind === undefined ? undefined : `${SUFFIX[kind]}:history`;
  if (type.startsWith('channel_')) return 'channels:read';
  if (type.startsWith('group_')) return 'groups:read';
  if (type.startsWith('member_')) return kind === 'group' ? 'groups:read' : 'channels:read';
  return SCOPES[type];
}
