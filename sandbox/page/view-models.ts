import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import {
  type Block,
  type Channel,
  type Fields,
  isFields,
  type Message,
  type SlackFile,
} from '../slack/model.ts';
import type { SlackWorkspace } from '../slack/slack-workspace.ts';
import type { View } from '../slack/views.ts';
import type {
  BlockModel,
  FileModel,
  MessageModel,
  PrivateModel,
  ViewModel,
  WorkspaceModel,
} from './page-protocol.ts';

/** The people of the workspace, and the channels of one person. */
export function workspaceModel(slack: SlackWorkspace, me: string): WorkspaceModel {
  const { team } = slack;
  const people = [...team.people.values()].map(({ id, name, realName, kind }) => ({
    id,
    name,
    realName: id === team.bot.userId ? 'Taskthread' : realName,
    kind,
  }));
  const channels = [...team.channels.values()]
    .filter((channel) => channel.members.has(me))
    .map((channel) => ({
      id: channel.id,
      kind: channel.kind,
      name: nameOf(slack, channel, me),
      purpose: channel.topic || channel.purpose,
      members: [...channel.members],
      archived: channel.archived,
    }));
  return { team: team.name, bot: team.bot.userId, people, channels };
}

function nameOf(slack: SlackWorkspace, channel: Channel, me: string): string {
  if (channel.kind !== 'im' && channel.kind !== 'mpim') return channel.name;
  const others = [...channel.members].filter((id) => id !== me);
  return others.map((id) => (id === slack.bot.userId ? 'Taskthread' : slack.person(id).realName)).join(', ');
}

/** All messages in a person's channels, oldest first. */
export function messageModels(slack: SlackWorkspace, me: string): MessageModel[] {
  const channels = [...slack.team.channels.values()].filter((channel) => channel.members.has(me));
  return channels.flatMap((channel) =>
    [...channel.messages.values()].flatMap((message) => messageModel(slack, channel, message) ?? []),
  );
}

/** A message as the page shows it; undefined if it is deleted and not shown. */
export function messageModel(
  slack: SlackWorkspace,
  channel: Channel,
  message: Message,
): MessageModel | undefined {
  const deleted = message.deletedAt !== undefined;
  if (deleted && slack.thread(channel, message.ts).length === 0) return undefined;
  const attached = attachedBlocks(message);
  const blocks = deleted || attached.length === 0 ? message.blocks : [...ownBlocks(message), ...attached];
  return {
    channel: channel.id,
    ts: message.ts,
    user: message.user,
    text: deleted ? '' : message.text,
    ...(deleted || blocks === undefined ? {} : { blocks: blocks.map((block) => blockModel(block, slack)) }),
    files: deleted ? [] : message.fileIds.map((id) => fileModel(slack.file(id))),
    ...(message.threadTs === undefined ? {} : { thread: message.threadTs }),
    ...(message.subtype === undefined ? {} : { subtype: message.subtype }),
    permalink: slack.permalink(message),
    edited: message.edited !== undefined,
    deleted,
    ephemeral: false,
    reactions: [...message.reactions].map(([name, users]) => ({ name, users })),
    ...statusOf(slack, channel, message),
  };
}

function ownBlocks({ blocks, text }: Message): Block[] {
  if (blocks !== undefined) return blocks;
  return text === '' ? [] : [{ type: 'section', text: { type: 'mrkdwn', text } }];
}

/** What the page draws of a message's attachments: tables, and a line for a forwarded message or a preview. */
function attachedBlocks({ attachments = [] }: Message): Block[] {
  return attachments.filter(isFields).flatMap((attachment): Block[] => {
    const tables = Array.isArray(attachment.blocks) ? attachment.blocks.filter(isBlock) : [];
    if (tables.length > 0) return tables;
    const what = attachment.is_share === true ? 'Forwarded message' : 'Preview';
    const line = {
      type: 'mrkdwn',
      text: `> *${what}* ${typeof attachment.fallback === 'string' ? attachment.fallback : ''}${fileNames(attachment)}`,
    };
    return [{ type: 'context', elements: [line] }];
  });
}

/** ` (counts.csv)` where a forwarded message has files. */
function fileNames({ files }: Fields): string {
  const names = Array.isArray(files) ? files.filter(isFields).map(({ name }) => String(name)) : [];
  return names.length === 0 ? '' : ` (${names.join(', ')})`;
}

function isBlock(value: unknown): value is Block {
  return isFields(value) && typeof value.type === 'string';
}

/** A thread's status, if it is visible. */
function statusOf(slack: SlackWorkspace, channel: Channel, { ts }: Message): { status?: string } {
  const status = slack.status(channel.id, ts)?.status;
  return status === undefined || ['active', 'suspended', 'closed'].includes(status) ? {} : { status };
}

function fileModel(file: SlackFile): FileModel {
  const common = { id: file.id, name: file.name ?? 'untitled', mime: file.mime };
  const isDeleted = ['tombstone', 'hidden_by_limit'].includes(file.kind);
  return isDeleted ? common : { ...common, size: file.content.size, url: `/files/${file.id}` };
}

function blockModel(block: Block, slack?: SlackWorkspace): BlockModel {
  const { slack_file: shown } = block;
  if (slack !== undefined && isFields(shown) && typeof shown.id === 'string')
    return { ...block, file: { ...fileModel(slack.file(shown.id)) } };
  if (block.type !== 'markdown' || typeof block.text !== 'string') return block;
  return { ...block, tree: markdownTree(block.text) };
}

/** The syntax tree of Markdown, without text positions. */
export function markdownTree(text: string): object {
  const tree = fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  return JSON.parse(JSON.stringify(tree, (key, value: unknown) => (key === 'position' ? undefined : value)));
}

/** What only one person sees: ephemeral messages, the open modal, the Home tab. */
export function privateModel(slack: SlackWorkspace, me: string): PrivateModel {
  const channels = [...slack.team.channels.values()].filter((channel) => channel.members.has(me));
  const ephemerals = channels.flatMap((channel) =>
    slack.ephemerals(me, channel).map((one) => ({
      channel: channel.id,
      ts: one.ts,
      user: slack.bot.userId,
      text: one.text,
      ...(one.blocks === undefined ? {} : { blocks: one.blocks.map((block) => blockModel(block, slack)) }),
      files: [],
      ...(one.threadTs === undefined ? {} : { thread: one.threadTs }),
      edited: false,
      deleted: false,
      ephemeral: true,
      reactions: [],
    })),
  );
  const [modal, home] = [slack.modal(me), slack.home(me)];
  return {
    ephemerals,
    ...(modal === undefined ? {} : { modal: viewModel(modal) }),
    ...(home === undefined ? {} : { home: viewModel(home) }),
  };
}

function viewModel(view: View): ViewModel {
  const { title, submit, close } = view.texts;
  const submitText = textOf(submit);
  return {
    id: view.id,
    hash: view.hash,
    blocks: view.blocks.map((block) => blockModel(block)),
    title: textOf(title) ?? '',
    ...(submitText === undefined ? {} : { submit: submitText }),
    close: textOf(close) ?? 'Close',
  };
}

function textOf(value: unknown): string | undefined {
  return isFields(value) && typeof value.text === 'string' ? value.text : undefined;
}
