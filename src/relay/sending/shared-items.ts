import { createHash } from 'node:crypto';
import { plainCsvLine } from '../../render/text/escape.ts';
import { capitalise } from '../../render/text/shorten.ts';
import type { SlackFile } from '../../slack/downloadable-files.ts';
import { lookUpReferences, type NameScope } from '../reading/display-names.ts';
import { attachmentName, isUnreadableQuote } from '../reading/message-attachments.ts';
import { blocksOf, filesOf, type ParsedMessage } from '../reading/message-parser.ts';
import { inlinesToText } from '../reading/message-to-markdown.ts';
import type { ParsedTable } from '../reading/parsed-blocks.ts';
import { cellsOf, isTooLarge, tablesAmong } from '../reading/pasted-tables.ts';

/** What people shared with a message, beside its text. */
export type SharedItem =
  /** `isForwarded`: with a message of another place, so the asker may not be allowed to see it. */
  | { kind: 'file'; file: SlackFile; isForwarded: boolean }
  /** `csv` is undefined for a table that is too large. */
  | { kind: 'table'; id: string; name: string; csv: Buffer | undefined }
  /** An attachment that was too long to keep, or in which nothing can be read. */
  | { kind: 'left_out'; id: string; name: string; reason: 'too_long' | 'unreadable' };

/** The files and tables of messages, each file once, and what was too long to keep. */
export async function sharedItemsOf(
  scope: NameScope,
  messages: readonly ParsedMessage[],
): Promise<SharedItem[]> {
  const attachments = messages.flatMap((message) => message.attachments);
  const forwarded = attachments.flatMap(({ is_share, files = [] }) => (is_share === true ? files : []));
  const own = filesOf({ files: messages.flatMap(({ files }) => files) });
  const ownIds = new Set(own.map(({ id }) => id));
  const others = filesOf({ files: forwarded }).filter(({ id }) => !ownIds.has(id));
  const items: SharedItem[] = [
    ...own.map((file) => ({ kind: 'file' as const, file, isForwarded: false })),
    ...others.map((file) => ({ kind: 'file' as const, file, isForwarded: true })),
  ];
  for (const table of tablesAmong(messages.flatMap(blocksOf))) items.push(await tableItem(scope, table));
  for (const attachment of attachments) {
    const isTooLong = attachment.is_left_out === true;
    if (!isTooLong && !isUnreadableQuote(attachment)) continue;
    const name = capitalise(attachmentName(attachment));
    items.push({ kind: 'left_out', id: name, name, reason: isTooLong ? 'too_long' : 'unreadable' });
  }
  return items;
}

async function tableItem(scope: NameScope, table: ParsedTable): Promise<SharedItem> {
  const name = table.file ?? '';
  if (isTooLarge(table)) return { kind: 'table', id: name, name, csv: undefined };
  const lines = (await textOfCells(scope, table)).map(plainCsvLine);
  const csv = Buffer.from(`${lines.join('\n')}\n`);
  // The same table is uploaded once. After an edit it is another one.
  return { kind: 'table', id: `${name}/${createHash('sha256').update(csv).digest('hex')}`, name, csv };
}

/** What the cells of a table say, by rows. */
export async function textOfCells(scope: NameScope, table: ParsedTable): Promise<string[][]> {
  const cells = await cellsOf(table);
  const names = await lookUpReferences(scope, cells.flat(2));
  return cells.map((row) => row.map((cell) => inlinesToText(cell, names)));
}
