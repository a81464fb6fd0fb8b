import { z } from 'zod';
import { listOf } from '../calls/json.ts';
import { SlackError, SlackUnavailableError } from './errors.ts';
import { flag, optional, slackId, text } from './field-schemas.ts';

const emailAddressSchema = z.looseObject({ original: text, address: text });

/** The fields of Slack's file object that we read. https://docs.slack.dev/reference/objects/file-object */
export const slackFileSchema = z.looseObject({
  id: z.string(),
  name: text,
  title: text,
  mimetype: text,
  filetype: text,
  mode: text,
  /** In bytes. */
  size: optional(z.int().min(0)),
  is_external: flag,
  external_url: text,
  file_access: text,
  url_private: text,
  url_private_download: text,
  permalink: text,
  /** Of an e-mail that was forwarded into Slack: its words, and who sent it to whom. */
  plain_text: text,
  subject: text,
  from: optional(listOf(emailAddressSchema)),
  to: optional(listOf(emailAddressSchema)),
  cc: optional(listOf(emailAddressSchema)),
  headers: optional(z.looseObject({ date: text })),
  attachments: optional(listOf(z.looseObject({ filename: text }))),
  /** Who uploaded it, and the conversations that it is shared in, as far as the bot sees them: files.info says. */
  user: optional(slackId),
  channels: optional(listOf(slackId)),
  groups: optional(listOf(slackId)),
  ims: optional(listOf(slackId)),
});
export type SlackFile = z.infer<typeof slackFileSchema>;

/** Why a file is left out; `src/render/strings/file-transfer.ts` says what people can do about it. */
export type FileRefusalReason =
  | 'missing_scope'
  | 'external'
  | 'deleted'
  | 'hidden_by_plan'
  | 'too_large'
  | 'empty'
  | 'canvas'
  | 'list'
  | 'post'
  | 'not_a_file'
  | 'access_denied'
  | 'processing'
  | 'broken_off'
  | 'changed'
  | 'other_host';

export class FileRefusedError extends SlackError {
  readonly code = 'file_refused';
  readonly reason: FileRefusalReason;

  constructor(fileId: string, reason: FileRefusalReason, cause?: unknown) {
    super(
      { method: `download of ${fileId}`, slackCode: reason, outcome: 'none', cause },
      'The message goes without this file; the thread says why.',
    );
    this.reason = reason;
  }
}

/** Slack does not deliver the file for now: the network or Slack itself failed. */
export class FileUnavailableError extends SlackUnavailableError {
  constructor(fileId: string, slackCode: string, cause?: unknown) {
    super(
      { method: `download of ${fileId}`, slackCode, outcome: 'none', cause },
      'Slack did not deliver the file; try again soon.',
    );
  }
}

export type FileDecision =
  | {
      do: 'download';
      url: string;
      /** As Slack announces it, in bytes; undefined if it does not, or nobody can rely on it. */
      sizeBytes: number | undefined;
      mime: string | undefined;
    }
  /** The event brought only a stub (Slack Connect): call files.info. */
  | { do: 'ask' }
  | { do: 'refuse'; reason: FileRefusalReason };

/** Items that Slack keeps otherwise than files, by mode or file type; it may deliver them as web pages. */
const NON_FILE_KINDS = new Map<string | undefined, FileRefusalReason>([
  ['quip', 'canvas'],
  ['canvas', 'canvas'],
  ['list', 'list'],
  ['post', 'post'],
  ['space', 'post'],
  ['docs', 'post'],
]);
const STORED_MODES = new Set<string | undefined>([undefined, 'hosted', 'snippet']);

/** Why an item that Slack writes anew for each download is left out if it does not deliver it; undefined for a stored file. */
export function unstoredKind({ mode, filetype }: SlackFile): FileRefusalReason | undefined {
  const kind = NON_FILE_KINDS.get(mode) ?? NON_FILE_KINDS.get(filetype);
  return kind ?? (STORED_MODES.has(mode) ? undefined : 'not_a_file');
}

/** Whether somebody deleted a file, as far as Slack has said that. */
export function isDeleted({ mode, file_access }: Partial<SlackFile>): boolean {
  return mode === 'tombstone' || file_access === 'file_not_found';
}

/** Decides before anything is downloaded. Pure. */
export function decideOnFile(file: SlackFile, limits: { maxBytes: number }): FileDecision {
  const refuse = (reason: FileRefusalReason): FileDecision => ({ do: 'refuse', reason });
  const { mode, file_access: access } = file;
  if (isDeleted(file)) return refuse('deleted');
  if (mode === 'hidden_by_limit') return refuse('hidden_by_plan');
  if (access === 'access_denied') return refuse('access_denied');
  if (access === 'check_file_info' || mode === 'file_access') return { do: 'ask' };
  if (file.is_external || mode === 'external')
    return refuse(externalLink(file) === undefined ? 'not_a_file' : 'external');
  const kind = unstoredKind(file);
  const url = file.url_private_download || file.url_private;
  if (!url) return refuse(kind ?? 'processing');
  // Slack may not have counted the bytes yet.
  const sizeBytes = kind === undefined && file.size !== 0 ? file.size : undefined;
  if (sizeBytes !== undefined && sizeBytes > limits.maxBytes) return refuse('too_large');
  return { do: 'download', url, sizeBytes, mime: file.mimetype };
}

/** How long to wait for a file that Slack is processing (ms). */
export const PROCESSING_TIMEOUT_MS = 60_000;

/** Whether Slack may still be processing a file: it has no address, size or type yet. A size of 0 is looked at once more. */
export function isUnfinished(
  file: SlackFile,
  decision: Exclude<FileDecision, { do: 'ask' }>,
  isLookedUp: boolean,
): boolean {
  if (decision.do === 'refuse') return decision.reason === 'processing';
  if (file.size === 0 || unstoredKind(file) !== undefined) return file.size === 0 && !isLookedUp;
  return decision.sizeBytes === undefined || !file.mimetype;
}

/** The address of a file that Slack only links to. */
export function externalLink(file: SlackFile): string | undefined {
  const url = file.external_url || file.url_private || file.permalink;
  if (!url || !URL.canParse(url)) return undefined;
  return /^https?:$/.test(new URL(url).protocol) ? url : undefined;
}

/** Whether the file is meant to be HTML. */
export function isHtmlFile(file: SlackFile): boolean {
  return file.filetype === 'html' || /^(text\/html|application\/xhtml\+xml)/i.test(file.mimetype ?? '');
}
