import { toMarkdown } from './markdown.ts';
import { withoutAddress } from './mentions.ts';
import { contentOf, type MessageToRead } from './message.ts';
import type { Names } from './names.ts';

/**
 * What people read in the message, as Markdown. The bot's mentions at the beginning are left out,
 * elsewhere it is named. Empty when nothing else was said.
 */
export function readable(message: MessageToRead, names: Names, botUserId: string): string {
  const content = withoutAddress(contentOf(message), botUserId);
  return toMarkdown(content, { ...lookups(names), person: (id) => nameOrAgent(id, names, botUserId) });
}

/** The text with its writer's name before it, for a thread where several people write. */
export function signed(text: string, name: string): string {
  const writer = `${name.replace(/\s+/g, ' ').trim() || 'Somebody'}:`;
  if (text === '') return writer;
  const beginsABlock = /^(?:\s|[->#|`]|\d+\. )/.test(text);
  return text.includes('\n') || beginsABlock ? `${writer}\n\n${text}` : `${writer} ${text}`;
}

function lookups(names: Names): Pick<Names, 'channel' | 'usergroup'> {
  return { channel: (id) => names.channel(id), usergroup: (id) => names.usergroup(id) };
}

function nameOrAgent(id: string, names: Names, botUserId: string): string | undefined {
  return names.person(id) ?? (id === botUserId ? 'agent' : undefined);
}
