import type { AgentClient } from '../../agent/agent-client.ts';
import { AgentError, AgentRejectedError } from '../../agent/errors.ts';
import type { FileLimits, FileReason } from '../../render/strings/index.ts';
import * as strings from '../../render/strings/index.ts';
import { FileRefusedError, FileUnavailableError } from '../../slack/downloadable-files.ts';
import type { FileNote, Turn } from '../../store/schema.ts';
import type { RelayLimits, WorkspaceClient } from '../runtime/deps.ts';
import { FailingTime, RefusalDoubt } from '../runtime/retry-and-giving-up.ts';
import { projectExists } from './channel-project.ts';

/** The service's answers to an upload that may be about the file, or about all its calls. */
const DOUBTED = new Set(['not_found', 'not_understood', 'unavailable']);

/** The name of a file without one. */
export const UNNAMED_FILE = 'unnamed file';

/** The notes of a turn, with a reason for each sent file that the service did not read; null: it did not say. */
export function withSkippedFiles(turn: Turn, readFileIds: readonly string[] | null): FileNote[] {
  const notes = turn.file_notes ?? [];
  if (readFileIds === null) return notes;
  const sent = turn.attached_file_ids ?? [];
  let index = 0;
  return notes.map((note) => {
    if (note.reason !== null) return note;
    const fileId = sent[index];
    index += 1;
    if (fileId === undefined || readFileIds.includes(fileId)) return note;
    return { ...note, reason: 'skipped' satisfies FileReason };
  });
}

/** Whether a note is shown again with its file: omitted files were announced, files left behind since were not. */
export function isNoteResent({ reason }: FileNote): boolean {
  return reason === null || reason === ('left_behind' satisfies FileReason);
}

/** Links to the files that are not uploaded, as Markdown for the agent; '' if there are none. */
export function fileLinkLines(notes: readonly FileNote[]): string {
  const lines = notes.flatMap(({ name, link }) =>
    link === undefined ? [] : [`- [${name.replace(/[[\]\\\s]+/g, ' ').trim()}](<${link}>)`],
  );
  return lines.length === 0 ? '' : `${strings.linkedFiles(lines.length)}\n${lines.join('\n')}`;
}

/** Throws FileOmitted for a file that has the most files of one message before it (`index`) already. */
export function throwIfTooMany(
  index: number,
  { maxMessageFiles }: Pick<FileLimits, 'maxMessageFiles'>,
): void {
  if (index >= maxMessageFiles) throw new FileOmitted('too_many');
}

/** Throws FileOmitted for a file of a type that is not sent, or that makes its message's files (`otherBytes` so far) too large. */
export function throwIfNotAllowed(
  file: { name: string; mime: string; sizeBytes: number },
  otherBytes: number,
  limits: FileLimits,
): void {
  if (!isTypeAllowed(file, limits)) throw new FileOmitted('type_refused');
  if (otherBytes + file.sizeBytes > limits.maxMessageBytes) throw new FileOmitted('message_full');
}

/** Whether files of this name and MIME type are sent to the service. */
export function isTypeAllowed(
  file: { name: string; mime: string },
  { allowedTypes, refusedTypes }: Pick<FileLimits, 'allowedTypes' | 'refusedTypes'>,
): boolean {
  const matches = (pattern: string) => matchesType(file, pattern.toLowerCase());
  return !refusedTypes.some(matches) && (allowedTypes.length === 0 || allowedTypes.some(matches));
}

function matchesType(file: { name: string; mime: string }, pattern: string): boolean {
  if (pattern.startsWith('.')) return file.name.toLowerCase().endsWith(pattern);
  const mime = file.mime.toLowerCase().split(';')[0]?.trim() ?? '';
  return pattern.endsWith('/*') ? mime.startsWith(pattern.slice(0, -1)) : mime === pattern;
}

/** A file of a message that is not sent, and why. */
export class FileOmitted extends Error {
  readonly reason: FileReason;

  constructor(reason: FileReason) {
    super(reason);
    this.reason = reason;
  }
}

/** Why a file is not sent, if the error says so; undefined for one that is not about the file, or may pass. */
export function refusalIn(error: unknown): { reason: FileReason; detail?: string } | undefined {
  if (error instanceof FileOmitted || error instanceof FileRefusedError) return { reason: error.reason };
  if (error instanceof AgentRejectedError) return { reason: 'service_refused', detail: error.reason };
  if (!(error instanceof AgentError)) return undefined;
  if (error.code === 'wrong_size') return { reason: 'changed' };
  return error.cause instanceof FileRefusedError ? { reason: error.cause.reason } : undefined;
}

/** Why a file is left out after this error; undefined if it is tried again, or the error is not about the file. */
export type FilePatience = ReturnType<typeof filePatience>;

/**
 * How long one file may fail before its message goes without it: `badThingMs` where Slack does not deliver it although
 * other calls succeed; half as long as the message itself where the service fails at it, or denies to know it although it
 * knows the project.
 */
export function filePatience({ refusalMs, badThingMs }: RelayLimits, workspace: WorkspaceClient) {
  const failing = new FailingTime();
  const doubt = new RefusalDoubt({ refusalMs: refusalMs / 2, badThingMs: badThingMs / 2 });
  return async (error: unknown, agent: AgentClient, projectId: string): Promise<FileReason | undefined> => {
    if (error instanceof FileUnavailableError) {
      const failedMs = await failing.count((at) => workspace.wasThereAfter(at));
      return failedMs < badThingMs ? undefined : 'broken_off';
    }
    if (!(error instanceof AgentError) || !DOUBTED.has(error.code)) return undefined;
    const mayBeOfProject = error.code !== 'not_understood';
    if (mayBeOfProject && !(await projectExists(agent, projectId))) return undefined;
    const wait = await doubt.waitAfter(error, () => agent, undefined);
    return wait === undefined ? 'service_failed' : undefined;
  };
}
