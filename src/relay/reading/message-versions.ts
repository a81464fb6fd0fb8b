import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { parseJson } from '../../calls/json.ts';
import type { MessageContent, SlackTs } from '../../store/schema.ts';
import type { MessageUpdate } from '../../store/threads/messages.ts';
import { isEarlierTs } from '../runtime/incoming-message.ts';
import { wordsOf } from './block-parser.ts';
import { isLinkPreview } from './message-attachments.ts';
import { blocksOf, filesOf, type ParsedMessage, parseMessage } from './message-parser.ts';
import { tablesAmong, withoutTables } from './pasted-tables.ts';

/** A message as one event shows it, with its last edit. */
export type MessageVersion = Omit<MessageUpdate, 'is_partial'>;

/**
 * Two versions of a message in one. A later edit has new words. Of the same edit, Slack may show less in one event than in
 * another, in any order: what either shows counts. A file that an edit took away is gone from Slack, too.
 */
export function mergedVersions(known: MessageVersion, other: MessageVersion): MessageVersion {
  const newer = isLaterEdit(known.edited_ts, other.edited_ts) ? known : other;
  const isSameEdit = known.edited_ts === other.edited_ts;
  const words = isSameEdit ? fullerWords(known.content, other.content) : newer.content;
  const { text, blocks, attachments } = words;
  const files = mergedFiles(known.content.files, other.content.files);
  const shared = { ...(blocks && { blocks }), ...(attachments && { attachments }), ...(files && { files }) };
  return { content: { text, ...shared }, edited_ts: newer.edited_ts };
}

/** What a version changes of a message; `isPartial`: this copy may lack files. */
export function messageUpdate(
  known: MessageUpdate,
  version: MessageVersion,
  { isPartial }: { isPartial: boolean },
): MessageUpdate {
  const merged = mergedVersions(known, version);
  return { ...merged, is_partial: isPartial && (merged.edited_ts !== known.edited_ts || known.is_partial) };
}

/** Whether a message was edited again; null: it was not at all. */
export function isLaterEdit(edit: SlackTs | null, than: SlackTs | null): boolean {
  return edit !== null && (than === null || isEarlierTs(than, edit));
}

function fullerWords(known: MessageContent, other: MessageContent) {
  return {
    text: larger(known.text, other.text),
    blocks: larger(known.blocks, other.blocks),
    attachments: larger(known.attachments, other.attachments),
  };
}

function larger<T>(known: T, other: T): T {
  return sizeOf(other) > sizeOf(known) ? other : known;
}

function sizeOf(part: unknown): number {
  return part === undefined ? 0 : JSON.stringify(part).length;
}

const fileSchema = z.looseObject({ id: z.string() });

function mergedFiles(known: unknown[] | undefined, other: unknown[] | undefined): unknown[] | undefined {
  if (known === undefined || other === undefined) return known ?? other;
  const files = new Map<unknown, unknown>();
  for (const file of [...known, ...other]) {
    const id = fileSchema.safeParse(file).data?.id ?? file;
    files.set(id, larger(files.get(id), file));
  }
  return [...files.values()];
}

/** The content without these files. */
export function withoutFiles({ files, ...content }: MessageContent, ids: readonly string[]): MessageContent {
  const own = filesOf({ files }).filter(({ id }) => !ids.includes(id));
  return own.length === 0 ? content : { ...content, files: own };
}

/** Whether two versions of a message say and share the same. What Slack adds by itself, such as previews and transcripts, does not count. */
export function isSameAsWritten(one: MessageContent, other: MessageContent): boolean {
  return isDeepStrictEqual(asWritten(one), asWritten(other));
}

/** What was written; the database and Slack order the keys of a table's cells differently. */
function asWritten(content: MessageContent): unknown {
  const message = parseMessage(content);
  const attachments = message.attachments.filter((attachment) => !isLinkPreview(attachment));
  const blocks = blocksOf({ ...message, attachments, files: [] } satisfies ParsedMessage);
  const tables = tablesAmong(blocks).map(({ rows }) => rows);
  const files = filesOf(content).map(({ id }) => id);
  const written = JSON.stringify(
    [message.text, wordsOf(withoutTables(blocks)), tables, files],
    // Slack names blocks anew.
    (key, value: unknown) => (key === 'block_id' ? undefined : value),
  );
  return parseJson(written);
}
