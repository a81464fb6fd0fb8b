import { z } from 'zod';
import type { Block } from './content.ts';
import { decode, readMrkdwn } from './mrkdwn.ts';
import { readRichText } from './rich-text.ts';

const word = z.string().optional().catch(undefined);

const sharedMessage = z.looseObject({
  is_share: z.boolean().optional().catch(undefined),
  is_msg_unfurl: z.boolean().optional().catch(undefined),
  author_name: word,
  text: word,
  fallback: word,
});

const schema = z.looseObject({
  text: z.string().catch(''),
  blocks: z.array(z.unknown()).catch([]),
  attachments: z.array(sharedMessage).catch([]),
  files: z.array(z.looseObject({ name: word, title: word })).catch([]),
  ts: word,
  user: word,
  bot_id: word,
  username: word,
  bot_profile: z.looseObject({ name: word }).optional().catch(undefined),
});

const lenient = schema.catch(() => schema.parse({}));

/** A Slack message as far as it is read here. */
export type MessageToRead = z.infer<typeof schema>;

/** Takes a message, event or stored words as they are. A field of a wrong shape is left out; never throws. */
export function readMessage(raw: unknown): MessageToRead {
  return lenient.parse(raw);
}

/** What its writer wrote: the rich text, or else the `text`. */
export function ownWordsOf(message: MessageToRead): Block[] {
  return readRichText(message.blocks, labelsIn(message.text)) ?? readMrkdwn(message.text);
}

/** Its writer's words and forwarded messages; where there are none, what an app's blocks and attachments say. */
export function contentOf(message: MessageToRead): Block[] {
  const forwarded = message.attachments
    .filter((attachment) => attachment.is_share === true || attachment.is_msg_unfurl === true)
    .map(readForwarded);
  const content = [...ownWordsOf(message), ...forwarded];
  if (content.length > 0) return content;
  const others = message.attachments.map((attachment) => attachment.text ?? attachment.fallback ?? '');
  return readMrkdwn([...textsIn(message.blocks), ...others].join('\n\n'));
}

/** The names of the message's files, in order. */
export function fileNames(message: MessageToRead): string[] {
  return message.files.map((file) => file.name || file.title || 'a file');
}

function readForwarded(attachment: MessageToRead['attachments'][number]): Block {
  const author =
    attachment.author_name === undefined ? 'Forwarded message' : `Forwarded from ${attachment.author_name}`;
  return {
    kind: 'quoted',
    blocks: [
      { kind: 'paragraph', content: [{ kind: 'text', text: `${author}:`, style: {} }] },
      ...readMrkdwn(attachment.text ?? attachment.fallback ?? ''),
    ],
  };
}

function labelsIn(text: string): Map<string, string> {
  const labels = new Map<string, string>();
  for (const [, id, label] of text.matchAll(/<(?:[@#]|!subteam\^)([A-Z0-9]+)\|([^<>|]+)>/g)) {
    if (id !== undefined && label !== undefined) labels.set(id, decode(label));
  }
  return labels;
}

const textual = z.looseObject({
  type: z.string().catch(''),
  text: z.unknown().optional(),
  fields: z.unknown().optional(),
  elements: z.unknown().optional(),
});

/** The words of blocks that apps write: sections, headers, contexts. */
function textsIn(raw: unknown): string[] {
  if (typeof raw === 'string') return raw.trim() === '' ? [] : [raw];
  if (Array.isArray(raw)) return raw.flatMap(textsIn);
  const parsed = textual.safeParse(raw);
  if (!parsed.success || parsed.data.type === 'actions') return [];
  return [parsed.data.text, parsed.data.fields, parsed.data.elements].flatMap(textsIn);
}
