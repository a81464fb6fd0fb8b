import type { Channel, Fields, Person, PersonKind, Team } from '../model.ts';
import { channelJson } from '../slack-objects.ts';
import type { WorkspaceDeps } from '../web-api-method.ts';

/** A person or the id of one. */
export type PersonRef = Person | string;
/** A channel or the id of one. */
export type ChannelRef = Channel | string;

export interface NewPerson {
  name: string;
  realName?: string;
  /** `member` by default; a `stranger` belongs to another organisation (Slack Connect). */
  kind?: PersonKind;
  admin?: boolean;
  teamId?: string;
  /** The person's home workspace in an organisation (Enterprise Grid); `teamId` by default. */
  homeTeamId?: string;
}

export interface NewChannel {
  name: string;
  topic?: string;
  purpose?: string;
  private?: boolean;
  /** By default everybody in the workspace except bots. */
  members?: PersonRef[];
  /** Whether our bot is a member; true by default. */
  bot?: boolean;
  /** A Slack Connect channel. */
  shared?: boolean;
  teamId?: string;
}

/** What admins and owners do: they manage people, channels, membership and tokens. */
export class AdminActions<Deps extends WorkspaceDeps> {
  protected readonly deps: Deps;

  constructor(deps: Deps) {
    this.deps = deps;
  }

  createPerson(wanted: NewPerson): Person {
    const team = this.teamOr(wanted.teamId);
    const person = this.deps.world.addPerson(team, wanted.name, wanted.kind ?? 'member');
    if (wanted.homeTeamId !== undefined) person.homeTeamId = wanted.homeTeamId;
    const { organisation } = team.installation;
    if (organisation !== undefined) person.organisation = organisation.id;
    person.realName = wanted.realName ?? wanted.name;
    person.admin = wanted.admin ?? false;
    return person;
  }

  /** Creates a channel; its first members join without events. */
  createChannel(wanted: NewChannel): Channel {
    const team = this.teamOr(wanted.teamId);
    const people = [...team.people.values()].filter((person) => person.kind !== 'bot');
    const members = (wanted.members ?? people).map((member) => this.person(member).id);
    if (wanted.bot !== false) members.push(team.bot.userId);
    const kind = wanted.private ? 'group' : 'channel';
    const channel = this.deps.world.addChannel(
      team,
      kind,
      wanted.name,
      members[0] ?? team.bot.userId,
      members,
    );
    channel.topic = wanted.topic ?? '';
    channel.purpose = wanted.purpose ?? '';
    channel.shared = wanted.shared ?? false;
    return channel;
  }

  /** Shares a channel with another workspace that has the app, of its organisation or another one: its bot is a member, too. */
  connect(channelRef: ChannelRef, teamId: string): void {
    const channel = this.channel(channelRef);
    const other = this.deps.world.team(teamId);
    channel.shared ||= other.installation !== this.deps.world.team(channel.teamId).installation;
    channel.connectedTeams.push(teamId);
    channel.members.add(other.bot.userId);
    other.channels.set(channel.id, channel);
  }

  /** The direct messages between a person and the bot. */
  openDm(person: PersonRef): Channel {
    const found = this.person(person);
    return this.deps.world.dm(this.deps.world.team(found.teamId), found.id);
  }

  /** The group direct messages of these people and the bot. */
  openGroupDm(people: PersonRef[]): Channel {
    const found = people.map((person) => this.person(person));
    return this.deps.world.groupDm(
      this.teamOr(found[0]?.teamId),
      found.map((person) => person.id),
    );
  }

  /** Invites a person, or the bot by default. */
  invite(channelRef: ChannelRef, personRef?: PersonRef, inviter?: PersonRef): void {
    const channel = this.channel(channelRef);
    const team = this.deps.world.team(channel.teamId);
    const user = personRef === undefined ? team.bot.userId : this.person(personRef).id;
    const invitedBy = inviter === undefined ? channel.creator : this.person(inviter).id;
    channel.members.add(user);
    this.membershipEvent(team, channel, 'member_joined_channel', { user, inviter: invitedBy });
    this.notice(channel, user, 'channel_join', `<@${user}> has joined the channel`);
  }

  /** Removes a person, or the bot by default. */
  kick(channelRef: ChannelRef, personRef?: PersonRef): void {
    const channel = this.channel(channelRef);
    const team = this.deps.world.team(channel.teamId);
    const user = personRef === undefined ? team.bot.userId : this.person(personRef).id;
    this.membershipEvent(team, channel, 'member_left_channel', { user });
    channel.members.delete(user);
    if (user === team.bot.userId)
      this.channelEvent(channel, 'left', { channel: channel.id, actor_id: channel.creator });
    else this.notice(channel, user, 'channel_leave', `<@${user}> has left the channel`);
  }

  archive(channelRef: ChannelRef): void {
    const channel = this.channel(channelRef);
    this.notice(channel, channel.creator, 'channel_archive', `<@${channel.creator}> archived the channel`);
    channel.archived = true;
    this.channelEvent(channel, 'archive', { channel: channel.id, user: channel.creator });
  }

  unarchive(channelRef: ChannelRef): void {
    const channel = this.channel(channelRef);
    channel.archived = false;
    this.channelEvent(channel, 'unarchive', { channel: channel.id, user: channel.creator });
  }

  rename(channelRef: ChannelRef, name: string): void {
    const channel = this.channel(channelRef);
    const before = channel.name;
    channel.name = name;
    channel.previousNames.unshift(before);
    const renamed = `has renamed the channel from "${before}" to "${name}"`;
    this.notice(channel, channel.creator, 'channel_name', `<@${channel.creator}> ${renamed}`);
    const bot = this.deps.world.team(channel.teamId).bot.userId;
    this.channelEvent(channel, 'rename', { channel: channelJson(channel, bot) });
  }

  /** Makes a channel private or public; it keeps its id. */
  convert(channelRef: ChannelRef, to: 'private' | 'public'): void {
    const channel = this.channel(channelRef);
    const subtype = `channel_convert_to_${to}`;
    this.notice(channel, channel.creator, subtype, `<@${channel.creator}> made this channel ${to}`);
    channel.kind = to === 'private' ? 'group' : 'channel';
  }

  /**
   * Gives a channel another id, as when it is shared with another organisation. Calls with the old one fail at once; the
   * returned function sends the event.
   */
  changeId(channelRef: ChannelRef): () => void {
    const channel = this.channel(channelRef);
    const { channels } = this.deps.world.team(channel.teamId);
    const old = channel.id;
    channels.delete(old);
    channel.id = this.deps.world.ids.next('C');
    channels.set(channel.id, channel);
    for (const message of channel.messages.values()) message.channel = channel.id;
    const event = { type: 'channel_id_changed', old_channel_id: old, new_channel_id: channel.id };
    const event_ts = this.deps.world.ids.ts();
    return () =>
      this.deps.events.emit(this.deps.world.team(channel.teamId), { ...event, event_ts }, { channel });
  }

  /** Sets the channel's topic, or its purpose, which Slack shows as its description. */
  describe(channelRef: ChannelRef, what: 'topic' | 'purpose', text: string): void {
    const channel = this.channel(channelRef);
    channel[what] = text;
    const said = `set the channel ${what === 'topic' ? 'topic' : 'description'}: ${text}`;
    this.notice(channel, channel.creator, `channel_${what}`, `<@${channel.creator}> ${said}`);
  }

  deleteChannel(channelRef: ChannelRef): void {
    const channel = this.channel(channelRef);
    this.channelEvent(channel, 'deleted', { channel: channel.id, actor_id: channel.creator });
    this.deps.world.team(channel.teamId).channels.delete(channel.id);
  }

  /** Revokes the bot's token: calls fail with `token_revoked`. */
  revokeToken(teamId?: string): void {
    const team = this.teamOr(teamId);
    team.installation.state = 'revoked';
    this.sendUninstallEvent('tokens_revoked', team.id);
  }

  /** Uninstalls the app: calls fail with `account_inactive`. */
  uninstall(teamId?: string): void {
    const team = this.teamOr(teamId);
    this.revokeToken(team.id);
    team.installation.state = 'inactive';
    this.sendUninstallEvent('app_uninstalled', team.id);
  }

  /** Slackbot, or Slack itself, posts a message: a reminder, a response that an admin has set, a notice. */
  slackSays(channelRef: ChannelRef, text: string, thread?: string, user = 'USLACKBOT'): void {
    this.deps.messages.post(this.channel(channelRef), { user, text, threadTs: thread });
  }

  /** Sends only the event of an uninstallation, to simulate a late or repeated one. */
  sendUninstallEvent(type: 'tokens_revoked' | 'app_uninstalled', teamId?: string): void {
    const team = this.teamOr(teamId);
    const tokens = type === 'tokens_revoked' ? { tokens: { oauth: [], bot: [team.bot.userId] } } : {};
    this.deps.events.emit(team, { type, ...tokens, event_ts: this.deps.world.ids.ts() });
  }

  /** The organisation removes the app from one of its workspaces, or adds it again. */
  setAccess(teamId: string, access: 'granted' | 'revoked'): void {
    const team = this.teamOr(teamId);
    team.isWithdrawn = access === 'revoked';
    const event = { type: `team_access_${access}`, team_ids: [teamId], event_ts: this.deps.world.ids.ts() };
    this.deps.events.emit(team, event);
  }

  /** @throws if there is no such person */
  person(ref: PersonRef): Person {
    return typeof ref === 'string' ? this.deps.world.anyPerson(ref) : ref;
  }

  /** @throws if there is no such channel */
  channel(ref: ChannelRef): Channel {
    return typeof ref === 'string' ? this.deps.world.anyChannel(ref) : ref;
  }

  protected teamOr(id: string | undefined): Team {
    const [first] = this.deps.world.teams.keys();
    return this.deps.world.team(id ?? first ?? '');
  }

  private membershipEvent(team: Team, channel: Channel, type: string, who: Fields): void {
    if (!channel.members.has(team.bot.userId)) return;
    const channelType = channel.kind === 'channel' ? 'C' : 'G';
    const event = { type, channel: channel.id, channel_type: channelType, team: team.id, ...who };
    this.deps.events.emit(team, { ...event, event_ts: this.deps.world.ids.ts() }, { channel });
  }

  /** Posts a message that Slack itself writes into a channel. */
  private notice(channel: Channel, user: string, subtype: string, text: string): void {
    this.deps.messages.post(channel, { user, subtype, text });
  }

  /** Sends an event such as `channel_archive`, or `group_archive` for a private channel. */
  private channelEvent(channel: Channel, what: string, detail: Fields): void {
    const type = `${channel.kind === 'channel' ? 'channel' : 'group'}_${what}`;
    const event = { type, ...detail, event_ts: this.deps.world.ids.ts() };
    this.deps.events.emit(this.deps.world.team(channel.teamId), event, { channel });
  }
}
