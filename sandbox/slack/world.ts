import { AppInstallation, type Organisation } from './app-installation.ts';
import type { ContentSource } from './file-content.ts';
import { contentFrom } from './file-content.ts';
import { type Clock, Ids, type Random } from './ids.ts';
import type {
  Channel,
  ChannelKind,
  FileKind,
  Message,
  Person,
  PersonKind,
  SlackFile,
  Team,
} from './model.ts';
import { SlackRefusal } from './slack-refusal.ts';

/** A change that people in a channel can see. */
export interface Change {
  kind: 'posted' | 'edited' | 'deleted' | 'reaction';
  /** Unix time in ms. */
  at: number;
  channel: Channel;
  message: Message;
}

export interface NewFile extends Pick<SlackFile, 'email' | 'transcript'> {
  name: string | null;
  title?: string;
  mime?: string;
  kind?: FileKind;
}

/** How long a `processing` file has no url_private, in ms. */
const PROCESSING_MS = 500;

/** The state of all workspaces. */
export class World {
  readonly ids: Ids;
  readonly clock: Clock;
  readonly random: Random;
  /** The server's address without a trailing slash; set once it listens. */
  baseUrl = '';
  readonly teams = new Map<string, Team>();
  readonly files = new Map<string, SlackFile>();
  readonly #listeners = new Set<(change: Change) => void>();
  readonly #privateListeners = new Set<(user: string) => void>();

  constructor(clock: Clock, random: Random) {
    this.clock = clock;
    this.random = random;
    this.ids = new Ids(random, clock);
  }

  onChange(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  changed(kind: Change['kind'], channel: Channel, message: Message): void {
    for (const listener of this.#listeners) listener({ kind, at: this.clock.now(), channel, message });
  }

  /** Adds a listener for changes that one person sees: ephemeral messages, modals, the Home tab. */
  onPrivateChange(listener: (user: string) => void): () => void {
    this.#privateListeners.add(listener);
    return () => this.#privateListeners.delete(listener);
  }

  changedFor(user: string): void {
    for (const listener of this.#privateListeners) listener(user);
  }

  /** Adds a workspace that, or whose organisation, has installed the app. */
  addTeam(appId: string, name: string, id = this.ids.next('T'), organisation?: Organisation): Team {
    const sibling = [...this.teams.values()].find(
      ({ installation }) => organisation !== undefined && installation.organisation?.id === organisation.id,
    );
    const { ids, clock } = this;
    const team: Team = {
      id,
      name,
      domain: name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'),
      installation:
        sibling?.installation ??
        new AppInstallation({ ids, clock, id: organisation?.id ?? id, organisation }),
      bot: sibling?.bot ?? { userId: ids.next('U'), botId: ids.next('B'), appId, name: 'taskthread' },
      isWithdrawn: false,
      people: new Map(),
      channels: new Map(),
    };
    this.teams.set(id, team);
    const bot = this.addPerson(team, team.bot.name, 'bot', team.bot.userId);
    bot.botId = team.bot.botId;
    return team;
  }

  addPerson(team: Team, name: string, kind: PersonKind, id = this.ids.next('U')): Person {
    const person: Person = {
      id,
      teamId: team.id,
      homeTeamId: kind === 'stranger' ? this.ids.next('T') : team.id,
      name,
      realName: name,
      kind,
      admin: false,
      deleted: false,
    };
    if (kind === 'bot') person.botId = this.ids.next('B');
    team.people.set(id, person);
    return person;
  }

  addChannel(
    team: Team,
    kind: ChannelKind,
    name: string,
    creator: string,
    members: Iterable<string>,
  ): Channel {
    const channel: Channel = {
      id: this.ids.next(kind === 'im' ? 'D' : 'C'),
      teamId: team.id,
      name,
      kind,
      topic: '',
      purpose: '',
      previousNames: [],
      created: Math.floor(this.clock.now() / 1000),
      creator,
      members: new Set(members),
      archived: false,
      shared: false,
      connectedTeams: [],
      messages: new Map(),
      threads: new Map(),
      clientMsgIds: new Map(),
      ephemerals: [],
    };
    team.channels.set(channel.id, channel);
    return channel;
  }

  addFile(
    team: Team,
    user: string,
    file: NewFile,
    source: ContentSource,
    id = this.ids.next('F'),
  ): SlackFile {
    const kind = file.kind ?? 'hosted';
    const now = this.clock.now();
    const added: SlackFile = {
      id,
      teamId: team.id,
      user,
      name: file.name,
      title: file.title ?? file.name ?? '',
      mime: file.mime ?? 'application/octet-stream',
      kind,
      email: file.email,
      transcript: file.transcript,
      content: contentFrom(source),
      created: now,
      readyAt: kind === 'processing' ? now + PROCESSING_MS : now,
      shares: [],
    };
    this.files.set(added.id, added);
    return added;
  }

  /** The direct messages of the bot with a person; created if missing. */
  dm(team: Team, userId: string): Channel {
    const known = [...team.channels.values()].find((one) => one.kind === 'im' && one.members.has(userId));
    return known ?? this.addChannel(team, 'im', '', userId, [userId, team.bot.userId]);
  }

  /** The group direct messages of exactly these people and the bot; created if missing. */
  groupDm(team: Team, userIds: string[]): Channel {
    const members = new Set([...userIds, team.bot.userId]);
    const known = [...team.channels.values()].find(
      (one) =>
        one.kind === 'mpim' &&
        members.size === one.members.size &&
        [...members].every((id) => one.members.has(id)),
    );
    const creator = userIds[0] ?? team.bot.userId;
    return known ?? this.addChannel(team, 'mpim', `mpdm-${[...members].join('--')}-1`, creator, members);
  }

  /** @throws if no workspace has this id */
  team(id: string): Team {
    const team = this.teams.get(id);
    if (team === undefined) throw new Error(`The sandbox has no workspace ${id}.`);
    return team;
  }

  /** The channel with this id in any workspace. @throws if there is none */
  anyChannel(id: string): Channel {
    for (const team of this.teams.values()) {
      const channel = team.channels.get(id);
      if (channel !== undefined) return channel;
    }
    throw new Error(`The sandbox has no channel ${id}.`);
  }

  /** The person with this id in any workspace. @throws if there is none */
  anyPerson(id: string): Person {
    for (const team of this.teams.values()) {
      const person = team.people.get(id);
      if (person !== undefined) return person;
    }
    throw new Error(`The sandbox has no person ${id}.`);
  }

  /** A channel that the bot can see. @throws SlackRefusal channel_not_found */
  visibleChannel(team: Team, id: string): Channel {
    const channel = team.channels.get(id);
    const hidden =
      channel !== undefined && channel.kind !== 'channel' && !channel.members.has(team.bot.userId);
    if (channel === undefined || hidden) throw new SlackRefusal('channel_not_found');
    return channel;
  }

  /** A channel of which the bot is a member. @throws SlackRefusal channel_not_found, not_in_channel */
  joinedChannel(team: Team, id: string): Channel {
    const channel = this.visibleChannel(team, id);
    if (!channel.members.has(team.bot.userId)) throw new SlackRefusal('not_in_channel');
    return channel;
  }

  /** The thread's root and replies, without deleted ones, oldest first. */
  thread(channel: Channel, rootTs: string): Message[] {
    return [rootTs, ...(channel.threads.get(rootTs) ?? [])]
      .map((ts) => channel.messages.get(ts))
      .filter((message) => message !== undefined)
      .filter((message) => message.deletedAt === undefined);
  }
}
