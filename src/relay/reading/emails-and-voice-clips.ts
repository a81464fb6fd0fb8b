import { z } from 'zod';
import { toOneLine } from '../../render/text-format.ts';
import type { SlackFile } from '../../slack/downloadable-files.ts';
import { optional, text } from '../../slack/field-schemas.ts';
import { type ParsedBlock, textPiece } from './parsed-blocks.ts';

/** An e-mail that was forwarded into Slack: its head and words, and a name; undefined for any other file. */
export function emailText(file: SlackFile): { name: string; text: string } | undefined {
  const { mode, subject, plain_text: words = '', headers } = file;
  if (mode !== 'email' || words.trim() === '') return undefined;
  const name = toOneLine(subject || file.title || file.name || 'e-mail');
  const people = (list: SlackFile['to']) =>
    list?.flatMap(({ original, address }) => original || address || []).join(', ');
  const attached = file.attachments?.flatMap(({ filename }) => filename ?? []).join(', ');
  const head = Object.entries({
    Subject: subject,
    From: people(file.from),
    To: people(file.to),
    Cc: people(file.cc),
    Date: headers?.date,
    'Attachments (not included)': attached,
  });
  const lines = head.flatMap(([field, value]) => (value ? [`${field}: ${toOneLine(value)}`] : []));
  return { name, text: `${lines.join('\n')}\n\n${words.trimEnd()}\n` };
}

/** The fields of a message's file that say what it is and what was spoken in it. */
export const namedFileSchema = z.looseObject({
  name: text,
  title: text,
  mode: text,
  file_access: text,
  user: text,
  transcription: optional(
    z.looseObject({ preview: optional(z.looseObject({ content: text, has_more: optional(z.boolean()) })) }),
  ),
});

/** What is spoken in voice clips, as far as Slack has written it down. */
export function transcriptBlocks(files: readonly z.infer<typeof namedFileSchema>[]): ParsedBlock[] {
  return files.flatMap(({ name, title, transcription }): ParsedBlock[] => {
    const { content = '', has_more: hasMore } = transcription?.preview ?? {};
    if (content.trim() === '') return [];
    const clip = `[Slack's transcript of ${toOneLine(name || title || 'a voice clip')}: `;
    const said = `${clip}${content.trim()}${hasMore === true ? '…' : ''}]`;
    return [{ kind: 'paragraph', content: [textPiece(said)] }];
  });
}
