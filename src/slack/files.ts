import { z } from 'zod';
import type { FileReason } from './errors.ts';

/** Slack's file object: what we read of it. https://docs.slack.dev/reference/objects/file-object */
export const slackFile = z.looseObject({
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
  file_access: z.string().nullish(),
  url_private: z.string().nullish(),
  url_private_download: z.string().nullish(),
  permalink: z.string().nullish(),
  user: z.string().nullish(),
});
export type SlackFile = z.infer<typeof slackFile>;

/** What is to be done with a shared file. */
export type FileVerdict =
  | {
      do: 'download';
      url: string;
      /** As Slack promises it, in bytes; undefined where it does not say. */
      sizeBytes: number | undefined;
      mime: string | undefined;
    }
  /** Only a stub came with the event (Slack Connect): files.info knows more. */
  | { do: 'ask' }
  | { do: 'refuse'; reason: FileReason };

/** `quip` is a canvas, `list` a list, `space`, `docs` and `post` are posts. */
const NOT_FILES = new Set(['quip', 'canvas', 'list', 'post', 'space', 'docs']);
const FILE_MODES = new Set(['hosted', 'snippet']);

/** Decides before anything is downloaded. Pure. */
export function judgeFile(file: SlackFile, limits: { mostBytes: number }): FileVerdict {
  const refuse = (reason: FileReason): FileVerdict => ({ do: 'refuse', reason });
  const { mode, file_access: access } = file;
  if (mode === 'tombstone' || access === 'file_not_found') return refuse('deleted');
  if (mode === 'hidden_by_limit') return refuse('hidden_by_plan');
  if (access === 'access_denied') return refuse('access_denied');
  if (access === 'check_file_info' || mode === 'file_access') return { do: 'ask' };
  if (file.is_external || mode === 'external') return refuse('external');
  if (NOT_FILES.has(mode ?? '') || NOT_FILES.has(file.filetype ?? '')) return refuse('not_a_file');
  if (mode !== undefined && mode !== null && !FILE_MODES.has(mode)) return refuse('not_a_file');
  const url = file.url_private_download || file.url_private;
  if (!url) return refuse('processing');
  if (file.size === 0) return refuse('empty');
  const sizeBytes = file.size ?? undefined;
  if (sizeBytes !== undefined && sizeBytes > limits.mostBytes) return refuse('too_large');
  return { do: 'download', url, sizeBytes, mime: file.mimetype ?? undefined };
}

/** Whether a page of HTML is what the file is meant to be. */
export function isHtml(file: SlackFile): boolean {
  return file.filetype === 'html' || /^(text\/html|application\/xhtml\+xml)/i.test(file.mimetype ?? '');
}
