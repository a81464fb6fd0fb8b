import type { AgentClient } from '../../agent/agent-client.ts';
import { AgentError, AgentRejectedError, isBusy } from '../../agent/errors.ts';
import type { RelayLimits } from '../../limits.ts';
import { fileType } from '../../render/file-types.ts';
import { headedList } from '../../render/prompt-frame.ts';
import type { FileLimits, FileReason } from '../../render/strings/index.ts';
import * as strings from '../../render/strings/index.ts';
import { quotedName } from '../../render/text-format.ts';
import { FileRefusedError, FileUnavailableError, type SlackFile } from '../../slack/downloadable-files.ts';
import type { FileNote, Turn } from '../../store/schema.ts';
import type { WorkspaceClient } from '../runtime/deps.ts';
import { FailingTime, RefusalDoubt } from '../runtime/retry-and-giving-up.ts';
import { projectExists } from './channel-project.ts';
import type { Witnesses } from './linked-messages.ts';

/** A turn's notes, with this reason for each sent file that is not among `keptIds`, unless these are unknown (null). */
export function withLeftOut(
  turn: Pick<Turn, 'attached_file_ids' | 'file_notes'>,
  keptIds: readonly string[] | null,
  reason: FileReason,
): FileNote[] {
  const notes = turn.file_notes ?? [];
  if (keptIds === null) return notes;
  const sentIds = (turn.attached_file_ids ?? []).values();
  return notes.map((note) => {
    // The notes without a reason are those of the sent files, in the same order.
    const id = note.reason === null ? sentIds.next().value : undefined;
    return id === undefined || keptIds.includes(id) ? note : { ...note, reason };
  });
}

/** Whether a file's note goes with a message that is sent again: the file goes along, or stays in a former project. */
export function isNoteResent({ reason }: FileNote): boolean {
  return reason === null || reason === ('left_behind' satisfies FileReason);
}

/** Reasons that the message's text itself gives, at the place where something is missing. */
const NAMED_IN_TEXT = new Set<string>(['cut', 'too_long'] satisfies FileReason[]);

/**
 * Lists for the agent, each in Markdown or '': `links` to a message's files that are not uploaded, what spreadsheets seem
 * to have `altered` in its tables, and which files and linked messages are `leftOut`, with the reasons.
 */
export function noteLists(notes: readonly FileNote[]) {
  const links: string[] = [];
  const altered: string[] = [];
  const leftOut: string[] = [];
  for (const { name, link, remark, reason } of notes) {
    if (reason !== null && link === undefined && !NAMED_IN_TEXT.has(reason))
      leftOut.push(strings.fileMissing({ name, reason }));
    if (link !== undefined) links.push(`[${name.replace(/[[\]\\\s]+/g, ' ').trim()}](<${link}>)`);
    if (remark !== undefined) altered.push(`${quotedName(name, 80)}: ${remark}`);
  }
  return {
    links: headedList(strings.linkedFiles(links.length), links),
    altered: headedList(strings.alteredTables, altered),
    leftOut: headedList(strings.leftOut, leftOut),
  };
}

/** Why a file may not be sent: its type, or its size beside the `otherBytes` of the same message. Undefined if it may. */
export function reasonNotAllowed(
  file: { name: string; mime: string; sizeBytes: number },
  otherBytes: number,
  limits: FileLimits,
): FileReason | undefined {
  if (!isTypeAllowed(file, limits)) return 'type_refused';
  return otherBytes + file.sizeBytes > limits.maxMessageBytes ? 'message_full' : undefined;
}

/** Whether files of this name and MIME type are sent to the service. */
export function isTypeAllowed(
  file: { name: string; mime: string },
  { allowedTypes, refusedTypes }: Pick<FileLimits, 'allowedTypes' | 'refusedTypes'>,
): boolean {
  // The service gets the type that the ending of the file's name says, rather than Slack's.
  const asSent = { ...file, mime: fileType(file.name, file.mime) };
  const matches = (patterns: readonly string[], one: typeof file) =>
    patterns.some((pattern) => matchesPattern(one, pattern.toLowerCase()));
  if (matches(refusedTypes, file) || matches(refusedTypes, asSent)) return false;
  return allowedTypes.length === 0 || matches(allowedTypes, asSent);
}

/** Whether a pattern in lower case is the ending (`.csv`), the MIME type (`text/csv`) or its kind (`image/*`) of a file. */
function matchesPattern(file: { name: string; mime: string }, pattern: string): boolean {
  if (pattern.startsWith('.')) return file.name.toLowerCase().endsWith(pattern);
  const mime = file.mime.toLowerCase().split(';')[0]?.trim() ?? '';
  return pattern.endsWith('/*') ? mime.startsWith(pattern.slice(0, -1)) : mime === pattern;
}

/** Why a file of a message is not sent. `detail` says it in the service's words. */
export interface FileRefusal {
  reason: FileReason;
  detail?: string;
}

/** Why a file is not sent, if an error says so. Undefined if the error is not about the file, or may pass. */
export function refusalIn(error: unknown): FileRefusal | undefined {
  if (error instanceof FileRefusedError) return { reason: error.reason };
  if (error instanceof AgentRejectedError) return { reason: 'service_refused', detail: error.reason };
  if (!(error instanceof AgentError)) return undefined;
  if (error.code === 'wrong_size') return { reason: 'changed' }; // Slack had announced another size.
  return error.cause instanceof FileRefusedError ? { reason: error.cause.reason } : undefined;
}

/** The service's errors that may be about a file, or about all that it is asked. */
const DOUBTED = new Set(['not_found', 'not_understood', 'unavailable']);

/** Returns why a file is left out after an error; undefined if it is tried again, or the error is not about it. */
export type FilePatience = ReturnType<typeof filePatience>;

/**
 * Judges how long one file may fail before its message goes without it: for `badThingMs` if Slack withholds it while other
 * calls succeed; if the service fails at it or calls itself busy, for half as long as the `RefusalDoubt` of the turn waits,
 * which would end the turn. What a lost project causes does not count.
 */
export function filePatience({ refusalMs, badThingMs }: RelayLimits, workspace: WorkspaceClient) {
  let withheldBySlack = new FailingTime();
  /** Of failures in a row: any other failure resets it. */
  let busyAtService = new FailingTime();
  const doubt = new RefusalDoubt({ refusalMs: refusalMs / 2, badThingMs: badThingMs / 2 });
  let mostSentBytes = 0;
  return async (
    error: unknown,
    { agent, projectId, sentBytes }: { agent: AgentClient; projectId: string; sentBytes: number },
  ): Promise<FileReason | undefined> => {
    // Since the last failure more was sent than ever: this is another outage, with a time of its own.
    if (sentBytes > mostSentBytes) {
      mostSentBytes = sentBytes;
      withheldBySlack = new FailingTime();
      busyAtService = new FailingTime();
      doubt.clear();
    }
    if (isBusy(error)) {
      // A busy service has answered: it is there all the time.
      const busyMs = await busyAtService.count(() => true);
      return busyMs < badThingMs / 2 ? undefined : 'service_failed';
    }
    busyAtService = new FailingTime();
    if (error instanceof FileUnavailableError) {
      const withheldMs = await withheldBySlack.count((at) => workspace.wasThereAfter(at));
      return withheldMs < badThingMs ? undefined : 'broken_off';
    }
    if (!(error instanceof AgentError) || !DOUBTED.has(error.code)) return undefined;
    const isAboutFile = error.code === 'not_understood' || (await projectExists(agent, projectId));
    if (!isAboutFile) return undefined;
    const sentTo = undefined; // Whether the task answers tells nothing about the file.
    const wait = await doubt.waitAfter(error, () => agent, sentTo);
    return wait === undefined ? 'service_failed' : undefined;
  };
}

/** How many of a file's conversations Slack is asked about, each time. */
const MAX_CONVERSATIONS = 5;

/**
 * Whether a person may see a file, as `files.info` describes it: it is theirs, it is in a public channel and
 * they are a full member of its workspace, or they are in a conversation that it is shared in. Unknown means
 * no. Throws a SlackError if Slack is unavailable.
 */
export async function maySeeFile(
  { people, membership }: Witnesses,
  person: string,
  { user, channels = [], groups = [], ims = [] }: SlackFile,
): Promise<boolean> {
  if (user === person) return true;
  if (channels.length > 0 && (await people.personNow(person)).kind === 'member')
    for (const channel of channels.slice(0, MAX_CONVERSATIONS))
      if ((await people.channelNow(channel)).kind === 'public') return true;
  for (const conversation of [...ims, ...groups, ...channels].slice(0, MAX_CONVERSATIONS))
    if ((await membership.statusOf(conversation, person)) === 'member') return true;
  return false;
}
