import { toMarkdown } from './blocks-to-markdown.ts';
import type { DisplayNames } from './display-names.ts';
import { withoutLeadingMention } from './mentions.ts';
import { blocksOf, type ParsedMessage } from './message-parser.ts';

/**
 * What people read in the message, as Markdown. The bot's mentions at the beginning are left out,
 * elsewhere it is named. Empty when nothing else was said.
 */
export function readableText(message: ParsedMessage, names: DisplayNames, botUserId: string): string {
  const content = withoutLeadingMention(blocksOf(message), botUserId);
  return toMarkdown(content, {
    ...channelAndGroupNames(names),
    person: (id) => personNameOrAgent(id, names, botUserId),
  });
}

/** The text with its writer's name before it, for a thread where several people write. */
export function withWriterName(text: string, name: string): string {
  const writer = `${name.replace(/\s+/g, ' ').trim() || 'Somebody'}:`;
  if (text === '') return writer;
  const beginsABlock = /^(?:\s|[->#|`]|\d+\. )/.test(text);
  return text.includes('\n') || beginsABlock ? `${writer}\n\n${text}` : `${writer} ${text}`;
}

function channelAndGroupNames(names: DisplayNames): Pick<DisplayNames, 'channel' | 'usergroup'> {
  return { channel: (id) => names.channel(id), usergroup: (id) => names.usergroup(id) };
}

function personNameOrAgent(id: string, names: DisplayNames, botUserId: string): string | undefined {
  return names.person(id) ?? (id === botUserId ? 'agent' : undefined);
}
