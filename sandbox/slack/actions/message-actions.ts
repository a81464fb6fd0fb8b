import { readAll } from '../file-content.ts';
import { forwardedMessage, messagePreview, pastedTable } from '../message-attachments.ts';
import type { Block, Channel, Ephemeral, Fields, Message, Person, SlackFile, Team } from '../model.ts';
import { compose } from '../rich-text-composer.ts';
import { permalinkOf } from '../slack-objects.ts';
import { visibleText } from '../visible-text.ts';
import type { WorkspaceDeps } from '../web-api-method.ts';
import type { NewFile } from '../world.ts';
import { AdminActions, type ChannelRef, type PersonRef } from './admin-actions.ts';

/** A file that a person shares; without content it holds a short text. */
export interface SharedFile extends NewFile {
  bytes?: Uint8Array | string;
  path?: string;
  size?: number;
}

export interface MessageInput {
  person: PersonRef;
  channel: ChannelRef;
  /** As typed: `@name`, `<@U..>`, `#channel`, `<#C..>`, links, *bold*, lists, quotes, fences. */
  text: string;
  /** The root's ts, for a reply. */
  thread?: string;
  /** A reply that is also sent to the channel. */
  broadcast?: boolean;
  files?: SharedFile[];
  /** Ids of files that are in Slack already. */
  existingFileIds?: string[];
  subtype?: string;
  /** A table that is pasted into it: rows of cells. */
  table?: readonly (readonly string[])[];
  /** Another message that it forwards. */
  forwards?: { channel: ChannelRef; ts: string };
  /** Messages that its text links to, which Slack previews at once. */
  previews?: readonly Pick<Message, 'channel' | 'ts'>[];
  /** What apps attach, in Slack's form. */
  attachments?: Fields[];
  /** The app (`B…`) that posts it with the person's own token. */
  byApp?: string;
  /** Replaces the rich_text block that Slack's client creates. */
  blocks?: Block[];
  clientMsgId?: string;
  /** Fields that Slack gives in this form instead, in history and events: old integrations write `text: null`. */
  odd?: Fields;
}

/** How people write messages, and how tests read them. */
export class MessageActions<Deps extends WorkspaceDeps> extends AdminActions<Deps> {
  /** A person posts a message. @throws if the person is not in the channel */
  say(input: MessageInput): Message {
    const channel = this.channel(input.channel);
    const person = this.person(input.person);
    const team = this.deps.world.team(channel.teamId);
    if (!channel.members.has(person.id))
      throw new Error(`${person.name} is not in ${channel.name || channel.id}.`);
    if (channel.archived) throw new Error(`${channel.name} is archived.`);
    const added = input.files?.map((file) => this.addFile(team, person.id, file).id);
    const fileIds =
      added === undefined ? input.existingFileIds : [...added, ...(input.existingFileIds ?? [])];
    const typed = this.composed(team, input.text);
    const botId = input.byApp ?? person.botId;
    const withBlocks = input.subtype === undefined || input.subtype === 'me_message';
    const draft = {
      user: person.id,
      botId,
      appId: botId && `A${botId.slice(1)}`,
      text: typed.text,
      blocks: input.blocks ?? (withBlocks && input.text !== '' ? typed.blocks : undefined),
      attachments: this.attachmentsOf(input),
      threadTs: input.thread,
      broadcast: input.broadcast,
      subtype: input.subtype ?? (fileIds === undefined ? undefined : 'file_share'),
      fileIds,
      odd: input.odd,
      clientMsgId:
        input.clientMsgId ??
        (fileIds === undefined && botId === undefined ? this.deps.world.ids.uuid() : undefined),
    };
    return this.deps.messages.post(channel, draft);
  }

  /** A person adds a file to a modal's file input: the app may read it although no message contains it. */
  upload(person: PersonRef, file: SharedFile): SlackFile {
    const { id, teamId } = this.person(person);
    const added = this.addFile(this.deps.world.team(teamId), id, file);
    added.givenToApp = true;
    return added;
  }

  /** A person edits a message, and may paste another table into it, or add files. */
  edit(
    channelRef: ChannelRef,
    ts: string,
    text: string,
    more: Pick<MessageInput, 'table' | 'files'> = {},
  ): void {
    const channel = this.channel(channelRef);
    const message = this.message(channel, ts);
    const typed = this.composed(this.deps.world.team(channel.teamId), text);
    const attachments = more.table && [pastedTable(more.table)];
    const fileIds = this.#added(message, more.files);
    this.deps.messages.edit(channel, message, { ...typed, attachments, fileIds, editedBy: message.user });
  }

  /** Slack shows files of a message later than the message: it changes without an edit. */
  showLater(channelRef: ChannelRef, ts: string, files: SharedFile[]): void {
    const channel = this.channel(channelRef);
    const message = this.message(channel, ts);
    const { text, blocks } = message;
    this.deps.messages.edit(channel, message, { text, blocks, fileIds: this.#added(message, files) });
  }

  #added({ teamId, user }: Message, files: SharedFile[] = []): string[] {
    return files.map((file) => this.addFile(this.deps.world.team(teamId), user, file).id);
  }

  /** Deletes a message. */
  remove(channelRef: ChannelRef, ts: string): void {
    const channel = this.channel(channelRef);
    this.deps.messages.remove(channel, this.message(channel, ts));
  }

  /** Slack adds a link preview: the message changes without an edit. */
  unfurl(channelRef: ChannelRef, ts: string): void {
    const channel = this.channel(channelRef);
    const message = this.message(channel, ts);
    const preview = { id: 1, from_url: 'https://example.com/', title: 'Example', fallback: 'Example' };
    const attachments = [...(message.attachments ?? []), preview];
    this.deps.messages.edit(channel, message, { text: message.text, blocks: message.blocks, attachments });
  }

  react(person: PersonRef, channelRef: ChannelRef, ts: string, name: string): void {
    const channel = this.channel(channelRef);
    this.deps.messages.react(channel, this.message(channel, ts), this.person(person).id, name, true);
  }

  unreact(person: PersonRef, channelRef: ChannelRef, ts: string, name: string): void {
    const channel = this.channel(channelRef);
    this.deps.messages.react(channel, this.message(channel, ts), this.person(person).id, name, false);
  }

  /** What **Copy link** gives for a message. */
  permalink(message: Message): string {
    return permalinkOf(this.deps.world.team(message.teamId), message);
  }

  /** The message with this ts. @throws if there is none */
  message(channelRef: ChannelRef, ts: string): Message {
    const channel = this.channel(channelRef);
    const message = channel.messages.get(ts);
    if (message === undefined) throw new Error(`${channel.name || channel.id} has no message ${ts}.`);
    return message;
  }

  /** The channel's messages including replies, without deleted ones, oldest first. */
  messages(channelRef: ChannelRef): Message[] {
    return [...this.channel(channelRef).messages.values()].filter(
      (message) => message.deletedAt === undefined,
    );
  }

  /** The thread's root and replies, without deleted ones, oldest first. */
  thread(channelRef: ChannelRef, rootTs: string): Message[] {
    return this.deps.world.thread(this.channel(channelRef), rootTs);
  }

  /** The text that people see: that of the blocks, or the message's text if it has none. */
  visibleText(message: { text: string; blocks: Block[] | undefined }): string {
    return message.blocks === undefined ? message.text : visibleText(message.blocks);
  }

  /** The ephemeral messages of this person in a channel. */
  ephemerals(person: PersonRef, channelRef: ChannelRef): Ephemeral[] {
    const { id } = this.person(person);
    return this.channel(channelRef).ephemerals.filter((one) => one.user === id);
  }

  hasFile(id: string): boolean {
    return this.deps.world.files.has(id);
  }

  /** @throws if there is no such file */
  file(id: string): SlackFile {
    const file = this.deps.world.files.get(id);
    if (file === undefined) throw new Error(`The sandbox has no file ${id}.`);
    return file;
  }

  /** A file's content, for files that fit into memory. */
  fileBytes(id: string): Promise<Buffer> {
    return readAll(this.file(id).content);
  }

  private addFile(team: Team, user: string, shared: SharedFile): SlackFile {
    const { bytes = 'A few words.\n', path, size } = shared;
    const known = path === undefined ? { bytes } : { path };
    return this.deps.world.addFile(team, user, shared, size === undefined ? known : { size });
  }

  private attachmentsOf(input: MessageInput): Fields[] | undefined {
    const { table, forwards, previews = [], attachments = [] } = input;
    const quote = (make: typeof forwardedMessage, place: ChannelRef, ts: string) => {
      const channel = this.channel(place);
      return make(this.deps.world, channel, this.message(channel, ts));
    };
    const made = [
      ...attachments,
      ...(table === undefined ? [] : [pastedTable(table)]),
      ...(forwards === undefined ? [] : [quote(forwardedMessage, forwards.channel, forwards.ts)]),
      ...previews.map(({ channel, ts }) => quote(messagePreview, channel, ts)),
    ];
    return made.length === 0 ? undefined : made;
  }

  private composed(team: Team, typed: string): { text: string; blocks: Block[] } {
    const names = {
      person: (name: string) => personNamed(team, name)?.id,
      severalWords: [...team.people.values()]
        .map(({ realName }) => realName)
        .filter((name) => name.includes(' ')),
      channel: (name: string) =>
        [...team.channels.values()].find((channel: Channel) => channel.name === name)?.id,
    };
    return compose(typed, names, this.deps.world.ids.letters(5));
  }
}

/** The person whose name, as it is typed or displayed, is this; upper and lower case are the same. */
function personNamed(team: Team, typed: string): Person | undefined {
  const wanted = typed.toLowerCase();
  const people = [...team.people.values()];
  return (
    people.find(({ name }) => name.toLowerCase() === wanted) ??
    people.find(({ realName }) => realName.toLowerCase() === wanted)
  );
}
