import type { Events } from './events.ts';
import type { Block, Channel, Ephemeral, Fields, Message, Team } from './model.ts';
import { messageJson, tombstoneJson } from './slack-objects.ts';
import type { World } from './world.ts';

/** A message to post. */
export interface Draft
  extends Partial<Pick<Message, 'botId' | 'appId' | 'attachments' | 'threadTs' | 'subtype' | 'clientMsgId'>>,
    Partial<Pick<Message, 'blocks' | 'metadata' | 'odd'>>,
    Pick<Message, 'user' | 'text'> {
  fileIds?: string[] | undefined;
  /** A reply that is also sent to the channel. */
  broadcast?: boolean | undefined;
}

/** The new content of a message; `blocks: undefined` removes the blocks. */
export interface Edit {
  text: string;
  blocks: Block[] | undefined;
  attachments?: unknown[] | undefined;
  /** Files that it has from now on, too. */
  fileIds?: string[] | undefined;
  metadata?: Fields | undefined;
  /** Who edited it, to show "(edited)"; absent for unfurls and for updates with blocks. */
  editedBy?: string | undefined;
}

/** Posts, edits and deletes messages, and sends the events. */
export class Messages {
  readonly #world: World;
  readonly #events: Events;

  constructor(world: World, events: Events) {
    this.#world = world;
    this.#events = events;
  }

  /** Posts a message and, if the bot is a member, sends `message` (and `app_mention`). */
  post(channel: Channel, draft: Draft): Message {
    const message = this.#store(channel, draft);
    this.#world.changed('posted', channel, message);
    const team = this.#recipient(channel);
    if (team === undefined) return message;
    const from = team.people.get(draft.user)?.homeTeamId ?? team.id;
    this.#events.emitMessage(
      team,
      this.#event(channel, message),
      this.#mention(channel, message),
      channel,
      from,
    );
    return message;
  }

  /** Posts an ephemeral message. */
  postEphemeral(channel: Channel, seen: Omit<Ephemeral, 'ts'>): Ephemeral {
    const ephemeral = { ts: this.#world.ids.ts(), ...seen };
    channel.ephemerals.push(ephemeral);
    this.#world.changedFor(seen.user);
    return ephemeral;
  }

  edit(channel: Channel, message: Message, edit: Edit): void {
    const before = messageJson(this.#world, channel, message, true);
    message.text = edit.text;
    message.blocks = this.#withIds(edit.blocks);
    if (edit.attachments !== undefined) message.attachments = edit.attachments;
    this.#share(message, edit.fileIds ?? []);
    if (edit.metadata !== undefined) {
      message.metadata = Object.keys(edit.metadata).length === 0 ? undefined : edit.metadata;
    }
    if (edit.editedBy !== undefined) message.edited = { user: edit.editedBy, ts: this.#world.ids.ts() };
    message.versions.push({ at: this.#world.clock.now(), text: message.text, blocks: message.blocks });
    this.#world.changed('edited', channel, message);
    const detail = { message: messageJson(this.#world, channel, message, true), previous_message: before };
    this.#changed(channel, 'message_changed', detail, edit.editedBy === undefined ? undefined : message);
  }

  /** Deletes a message; a root with replies becomes a tombstone, as in Slack. */
  remove(channel: Channel, message: Message): void {
    const before = messageJson(this.#world, channel, message, true);
    const hasReplies = this.#world.thread(channel, message.ts).some((one) => one.ts !== message.ts);
    message.deletedAt = this.#world.clock.now();
    this.#world.changed('deleted', channel, message);
    if (hasReplies) {
      this.#changed(channel, 'message_changed', { message: tombstoneJson(before), previous_message: before });
      return;
    }
    if (message.threadTs !== undefined) {
      const rest = (channel.threads.get(message.threadTs) ?? []).filter((ts) => ts !== message.ts);
      channel.threads.set(message.threadTs, rest);
    }
    this.#changed(channel, 'message_deleted', { deleted_ts: message.ts, previous_message: before });
  }

  /** Adds or removes a reaction; returns false if there is nothing to change. */
  react(channel: Channel, message: Message, user: string, name: string, on: boolean): boolean {
    const users = message.reactions.get(name) ?? [];
    if (users.includes(user) === on) return false;
    const left = on ? [...users, user] : users.filter((one) => one !== user);
    if (left.length === 0) message.reactions.delete(name);
    else message.reactions.set(name, left);
    this.#world.changed('reaction', channel, message);
    const team = this.#recipient(channel);
    if (team !== undefined) {
      const item = { type: 'message', channel: channel.id, ts: message.ts };
      const type = on ? 'reaction_added' : 'reaction_removed';
      const event = {
        type,
        user,
        reaction: name,
        item,
        item_user: message.user,
        event_ts: this.#world.ids.ts(),
      };
      this.#events.emit(team, event, { channel });
    }
    return true;
  }

  #store(channel: Channel, draft: Draft): Message {
    const { threadTs, clientMsgId, blocks, fileIds = [], broadcast, subtype, ...said } = draft;
    const message: Message = {
      ...said,
      ts: this.#world.ids.ts(),
      channel: channel.id,
      teamId: channel.teamId,
      threadTs,
      clientMsgId,
      subtype: subtype ?? (broadcast ? 'thread_broadcast' : undefined),
      blocks: this.#withIds(blocks),
      fileIds: [],
      reactions: new Map(),
      versions: [],
    };
    if (clientMsgId !== undefined) channel.clientMsgIds.set(`${draft.user} ${clientMsgId}`, message.ts);
    message.versions.push({ at: this.#world.clock.now(), text: message.text, blocks: message.blocks });
    channel.messages.set(message.ts, message);
    if (message.threadTs !== undefined) {
      const replies = channel.threads.get(message.threadTs);
      if (replies === undefined) channel.threads.set(message.threadTs, [message.ts]);
      else replies.push(message.ts);
    }
    this.#share(message, fileIds);
    return message;
  }

  #share(message: Message, fileIds: string[]): void {
    const { channel, ts, threadTs } = message;
    message.fileIds.push(...fileIds);
    for (const id of fileIds) this.#world.files.get(id)?.shares.push({ channel, ts, threadTs });
  }

  #withIds(blocks: Block[] | undefined): Block[] | undefined {
    return blocks?.map((block) =>
      typeof block.block_id === 'string' && block.type !== 'markdown'
        ? block
        : { ...block, block_id: this.#world.ids.letters(5) },
    );
  }

  /** The workspaces with the app in a channel, and its bot. */
  #teams(channel: Channel): Team[] {
    const teams = [channel.teamId, ...channel.connectedTeams].map((id) => this.#world.team(id));
    return teams.filter(({ bot }) => channel.members.has(bot.userId));
  }

  /** The installation that the events of a channel name; none if no bot is a member. */
  #recipient(channel: Channel): Team | undefined {
    const teams = this.#teams(channel);
    return this.#events.behaviour.authorizes === 'host' ? teams[0] : teams.at(-1);
  }

  #event(channel: Channel, message: Message): Fields {
    const root = channel.messages.get(message.threadTs ?? '');
    const repeated = this.#events.behaviour.repeatsRootFiles ? (root?.fileIds ?? []) : [];
    const shown = { ...message, fileIds: [...message.fileIds, ...repeated] };
    return {
      ...messageJson(this.#world, channel, shown, true),
      channel: channel.id,
      event_ts: message.ts,
      channel_type: channel.kind,
    };
  }

  #mention(channel: Channel, message: Message): Fields | undefined {
    const bots = this.#teams(channel).map(({ bot }) => bot.userId);
    const ids = [...bots, this.#events.behaviour.botAlias];
    const mentioned = ids.some((id) => message.text.includes(`<@${id}>`));
    if (!mentioned || channel.kind === 'im' || bots.includes(message.user)) return undefined;
    const isBare = this.#events.behaviour.mentionShows === 'text';
    const shown = isBare ? { ...message, blocks: undefined, attachments: undefined, fileIds: [] } : message;
    const { subtype: _, channel_type: __, ...copy } = this.#event(channel, shown);
    return { ...copy, type: 'app_mention' };
  }

  /** `edited`: the message that a person edited, for the `app_mention` that Slack sends again. */
  #changed(channel: Channel, subtype: string, detail: Fields, edited?: Message): void {
    const team = this.#recipient(channel);
    if (team === undefined) return;
    const ts = this.#world.ids.ts();
    const event = { type: 'message', subtype, channel: channel.id, ts, hidden: true, ...detail };
    const change = { ...event, event_ts: ts, channel_type: channel.kind };
    const { editCopies } = this.#events.behaviour;
    const mention = edited && editCopies !== 'messageOnly' ? this.#mention(channel, edited) : undefined;
    const again = mention && { ...mention, event_ts: ts };
    this.#events.emitMessage(team, change, again, channel, team.id);
  }
}
