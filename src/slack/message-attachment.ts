import { z } from 'zod';
import { listOf, optional, slackId, slackTs } from './field-schemas.ts';
import { slackFileSchema } from './shared-file.ts';

const text = optional(z.string());
const blocks = optional(z.array(z.unknown()));

/**
 * The fields that are read of an attachment: a forwarded message, a table that a person pasted, Slack's preview of a link, or
 * what an app posts. Slack documents only those of apps (https://docs.slack.dev/messaging/formatting-message-text#attachments).
 */
export const attachmentSchema = z.object({
  /** Another message: forwarded, or Slack's preview of a link to it. */
  is_share: optional(z.boolean()),
  is_msg_unfurl: optional(z.boolean()),
  ts: optional(slackTs),
  author_id: optional(slackId),
  author_name: text,
  channel_id: optional(slackId),
  channel_name: text,
  message_blocks: optional(listOf(z.object({ message: optional(z.object({ blocks })) }))),
  files: optional(listOf(z.object(slackFileSchema.shape))),
  /** The address that a preview is of. */
  from_url: text,
  original_url: text,
  title: text,
  title_link: text,
  pretext: text,
  text,
  fields: optional(listOf(z.object({ title: text, value: text }))),
  blocks,
  fallback: text,
  /** Ours: its contents were too large to keep. */
  is_left_out: optional(z.boolean()),
});
export type MessageAttachment = z.output<typeof attachmentSchema>;

/** The attachments of a message; those of another form are left out. */
export const attachmentsSchema = listOf(attachmentSchema);

/** What is kept of all attachments of a message, as JSON without the rows of tables, which have a limit of their own. */
const MAX_KEPT_BYTES = 64 * 1024;

/** The attachments as they are kept: those that exceed the limit are named only. */
export function keptAttachments(attachments: readonly MessageAttachment[]): MessageAttachment[] {
  let room = MAX_KEPT_BYTES;
  return attachments.map((attachment) => {
    const kept = withoutRepeats(attachment);
    room -= Buffer.byteLength(JSON.stringify(kept, (key, value) => (key === 'rows' ? [] : value)));
    if (room >= 0) return kept;
    const { is_share, is_msg_unfurl, author_id, author_name, from_url, title } = attachment;
    const names = {
      author_name: shortened(author_name),
      from_url: shortened(from_url),
      title: shortened(title),
    };
    return { is_share, is_msg_unfurl, author_id, ...names, is_left_out: true };
  });
}

/** The texts of a forwarded message repeat its blocks. */
function withoutRepeats({ text: repeated, fallback, ...attachment }: MessageAttachment): MessageAttachment {
  const hasBlocks = attachment.message_blocks?.some(({ message }) => (message?.blocks ?? []).length > 0);
  return hasBlocks === true ? attachment : { ...attachment, text: repeated, fallback };
}

function shortened(name: string | undefined): string | undefined {
  return name?.slice(0, 200).toWellFormed();
}
