import { AgentError, AgentRejectedError } from '../agent/errors.ts';
import { uploadFile } from '../agent/upload.ts';
import { FileRefused } from '../slack/errors.ts';
import { type SlackFile, slackFile } from '../slack/files.ts';
import type { FileNote, Thread, Turn, Words } from '../store/tables.ts';
import type { RelayParts, Workspace } from './context.ts';
import type { Lease } from './dispatcher.ts';

/** What became of a message's files. */
export interface Attachments {
  /** The service's file ids that go with the message. */
  attached: string[];
  /** One note a file, in the message's order. */
  notes: FileNote[];
  bytesUp: number;
}

/** Hears how far the upload of a file is, in bytes. */
export type UploadProgress = (note: { name: string; sentBytes: number; sizeBytes: number }) => void;

/** The files of a message, in order; what is not a file object at all is passed over. */
export function filesIn(words: Words): SlackFile[] {
  return (words.files ?? []).flatMap((raw) => {
    const parsed = slackFile.safeParse(raw);
    return parsed.success ? [parsed.data] : [];
  });
}

/**
 * Brings a message's files to the service, one after the other, streaming. A file that cannot be had is noted with
 * its reason and the others go on. Throws what passes by itself (the service or Slack is away): call it again, what
 * was uploaded is not uploaded twice.
 */
export async function uploadAttachments(
  parts: RelayParts,
  workspace: Workspace,
  thread: Thread,
  turn: Turn,
  projectId: string,
  words: Words,
  lease: Lease,
  onProgress: UploadProgress,
): Promise<Attachments> {
  const attached: string[] = [];
  const notes: FileNote[] = [];
  let bytesUp = 0;
  for (const file of filesIn(words)) {
    const name = file.name || file.title || file.id;
    const known = await parts.store.files.uploaded(turn.workspace, file.id, projectId);
    if (known !== undefined) {
      attached.push(known);
      notes.push({ name, reason: null, ...sizeOf(file) });
      continue;
    }
    try {
      const done = await uploadOne(parts, workspace, thread, projectId, { ...file, name }, lease, onProgress);
      attached.push(done.fileId);
      bytesUp += done.sizeBytes;
      notes.push({ name, reason: null, sizeBytes: done.sizeBytes });
    } catch (error) {
      const reason = reasonOf(error);
      if (reason === undefined) throw error;
      parts.log.info({ turn: turn.id, file: file.id, reason: reason.reason }, 'file left out');
      notes.push({ name, ...reason, ...sizeOf(file) });
    }
  }
  return { attached, notes, bytesUp };
}

async function uploadOne(
  parts: RelayParts,
  workspace: Workspace,
  thread: Thread,
  projectId: string,
  file: SlackFile & { name: string },
  lease: Lease,
  onProgress: UploadProgress,
): Promise<{ fileId: string; sizeBytes: number }> {
  const source = await workspace.downloads.open(file, { signal: lease.signal });
  const { sizeBytes } = source;
  if (sizeBytes === undefined) throw new FileRefused(file.id, 'processing');
  if (sizeBytes === 0) throw new FileRefused(file.id, 'empty');
  const uploaded = await uploadFile(parts.agent(thread.account), {
    projectId,
    filename: file.name,
    sizeBytes,
    mimeType: source.mime ?? 'application/octet-stream',
    body: source.stream,
    signal: lease.signal,
    onProgress: (sentBytes) => onProgress({ name: file.name, sentBytes, sizeBytes }),
  });
  await parts.store.files.record({
    workspace: thread.workspace,
    slack_file: file.id,
    project_id: projectId,
    file_id: uploaded.id,
    name: file.name,
    size_bytes: sizeBytes,
  });
  return { fileId: uploaded.id, sizeBytes };
}

/** Why a file was left out; undefined for an error that is not about the file. */
function reasonOf(error: unknown): { reason: string; detail?: string } | undefined {
  if (error instanceof FileRefused) return { reason: error.reason };
  if (error instanceof AgentRejectedError) return { reason: 'service_refused', detail: error.words };
  if (error instanceof AgentError && error.code === 'wrong_size') return { reason: 'changed' };
  if (error instanceof AgentError && error.cause instanceof FileRefused)
    return { reason: error.cause.reason };
  return undefined;
}

function sizeOf(file: SlackFile): { sizeBytes?: number } {
  return typeof file.size === 'number' ? { sizeBytes: file.size } : {};
}

/** Notes on files that were sent but that the service did not read: they are missing in what the reply answers. */
export function skippedNotes(turn: Turn, readFileIds: readonly string[] | null): FileNote[] {
  const notes = turn.file_notes ?? [];
  if (readFileIds === null) return notes;
  const sent = turn.attached ?? [];
  let index = 0;
  return notes.map((note) => {
    if (note.reason !== null) return note;
    const fileId = sent[index];
    index += 1;
    return fileId === undefined || readFileIds.includes(fileId) ? note : { ...note, reason: 'skipped' };
  });
}
