import { z } from 'zod';
import type { FileRefusalReason } from './errors.ts';

/** Slack's file object: what we read of it. https://docs.slack.dev/reference/objects/file-object */
export const slackFileSchema = z.looseObject({
  id: z.string(),
  name: z.string().nullish(),
  title: z.string().nullish(),
  mimetype: z.string().nullish(),
  filetype: z.string().nullish(),
  mode: z.string().nullish(),
  /** In bytes. */
  size: z.number().nullish(),
  is_external: z.boolean().nullish(),
  external_type: z.string().nullish(),
  external_url: z.string().nullish(),
  file_access: z.string().nullish(),
  url_private: z.string().nullish(),
  url_private_download: z.string().nullish(),
  permalink: z.string().nullish(),
  user: z.string().nullish(),
});
export type SlackFile = z.infer<typeof slackFileSchema>;

/** What is to be done with a shared file. */
export type FileDecision =
  | {
      do: 'download';
      url: string;
      /** As Slack promises it, in bytes; undefined where it does not say. */
      sizeBytes: number | undefined;
      mime: string | undefined;
    }
  /** Only a stub came with the event (Slack Connect): files.info knows more. */
  | { do: 'ask' }
  | { do: 'refuse'; reason: FileRefusalReason };

/** What Slack keeps like files and hands out to nobody, by mode or file type. */
const NON_FILE_KINDS: Readonly<Record<string, FileRefusalReason>> = {
  quip: 'canvas',
  canvas: 'canvas',
  list: 'list',
  post: 'post',
  space: 'post',
  docs: 'post',
};
const DOWNLOADABLE_MODES = new Set(['hosted', 'snippet']);

/** Decides before anything is downloaded. Pure. */
export function decideOnFile(file: SlackFile, limits: { maxBytes: number }): FileDecision {
  const refuse = (reason: FileRefusalReason): FileDecision => ({ do: 'refuse', reason });
  const { mode, file_access: access } = file;
  if (mode === 'tombstone' || access === 'file_not_found') return refuse('deleted');
  if (mode === 'hidden_by_limit') return refuse('hidden_by_plan');
  if (access === 'access_denied') return refuse('access_denied');
  if (access === 'check_file_info' || mode === 'file_access') return { do: 'ask' };
  if (file.is_external || mode === 'external') return refuse('external');
  const kept = nonFileReason(mode) ?? nonFileReason(file.filetype);
  if (kept !== undefined) return refuse(kept);
  if (mode !== undefined && mode !== null && !DOWNLOADABLE_MODES.has(mode)) return refuse('not_a_file');
  const url = file.url_private_download || file.url_private;
  if (!url) return refuse('processing');
  if (file.size === 0) return refuse('empty');
  const sizeBytes = file.size ?? undefined;
  if (sizeBytes !== undefined && sizeBytes > limits.maxBytes) return refuse('too_large');
  return { do: 'download', url, sizeBytes, mime: file.mimetype ?? undefined };
}

function nonFileReason(kind: string | null | undefined): FileRefusalReason | undefined {
  return kind && Object.hasOwn(NON_FILE_KINDS, kind) ? NON_FILE_KINDS[kind] : undefined;
}

/** What people call a file. */
export function slackFileName(file: SlackFile): string | undefined {
  return file.name || file.title || undefined;
}

/** Where a file lies that Slack only links to. */
export function externalLink(file: SlackFile): string | undefined {
  const url = file.external_url || file.url_private || file.permalink;
  if (!url || !URL.canParse(url)) return undefined;
  return /^https?:$/.test(new URL(url).protocol) ? url : undefined;
}

/** Whether a page of HTML is what the file is meant to be. */
export function isHtmlFile(file: SlackFile): boolean {
  return file.filetype === 'html' || /^(text\/html|application\/xhtml\+xml)/i.test(file.mimetype ?? '');
}
