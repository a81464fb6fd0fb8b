import { formatSize, quotedName, shorten } from '../text-format.ts';
import { withReason } from './turn-errors.ts';

/** Which files the app sends to the agent. */
export interface FileLimits {
  /** Largest file, in bytes. */
  readonly maxFileBytes: number;
  /** All files of a message together, in bytes. */
  readonly maxMessageBytes: number;
  readonly maxMessageFiles: number;
  /** File extensions (`.csv`) and MIME types (`text/csv`, `image/*`) that are accepted; all if empty. */
  readonly allowedTypes: readonly string[];
  /** File extensions and MIME types that are refused. */
  readonly refusedTypes: readonly string[];
}

export type FileReason = keyof typeof FILE_REASONS;

const FILE_REASONS = {
  missing_scope:
    "I'm not allowed to read files here. Ask your app admin to add the files:read scope and reinstall the app.",
  external:
    "it's stored outside Slack, where I can't open it. The agent gets the link; if it needs the contents, share the file itself.",
  deleted: 'it was deleted. If the agent needs it, share it again.',
  hidden_by_plan: "this workspace's plan hides it. Share it again.",
  too_large: "it's too large.",
  empty: "it's empty (0 bytes). Check it and share it again.",
  canvas:
    "it's a canvas, which Slack doesn't let me download. Export it (menu ⋯, for example as PDF) and share the export.",
  list: "it's a list, which Slack doesn't let me download. Export it as CSV and share the export.",
  post: "it's a post, which Slack doesn't let me download. Copy its text into a message or a text file.",
  not_a_file: "it can't be downloaded. Export it and share the export.",
  unseen:
    "Slack doesn't show it to me: it was deleted, or I'm not where it was shared. Share it in this thread.",
  access_denied: "Slack doesn't let me open it. Share a copy of it in this thread.",
  processing: 'Slack is still processing it. Share it again in a moment.',
  broken_off: 'the download was interrupted. Share it again.',
  changed: 'it changed while I was reading it. Share it again.',
  other_host: "it isn't stored at Slack. Share the file itself.",
  type_refused: "I don't send files of this type here.",
  too_many:
    'there are too many files in one message, quoted ones included. Share it again in another message.',
  earlier: "it isn't among the five newest files from before your question. Share it again.",
  message_full:
    'the files in this message, quoted ones included, are too large together. Share it again in another message.',
  download_failed: "I couldn't download it. Share it again.",
  service_refused: 'the agent service rejected it. Share it in another format.',
  service_failed: "the agent service couldn't take it in. Share it again.",
  skipped: "the agent service couldn't read it. Share it in another format.",
  too_many_cells: 'it has more than 50,000 cells. Share it as a file.',
  too_long:
    "what's pasted, forwarded or linked in one message is too long together. Copy it into a file and share that.",
  unreadable: "I can't read anything in it. Copy its text into your message.",
  cut: "it's too long, so I sent only its beginning. Share it as a file to send all of it.",
  not_visible: "I couldn't confirm that you may see it. Share it in this thread.",
  left_behind:
    'it was shared before this workspace or channel changed its account or project. Share it again.',
  link_preview: "I don't send Slack's previews of messages. Put the message's own link into your question.",
  link_workflow: 'a workflow asked, and people elsewhere may read the answer. Ask me about it yourself.',
  thread_hidden: "Slack doesn't let me read it. Ask your app admin to check my scopes.",
  link_hidden: "I can't see that conversation. Add me there, or forward the message.",
  link_elsewhere: "as far as Slack tells me, it's in another workspace. Forward the message.",
  link_outsider: "as far as Slack tells me, you're not in that conversation. Forward the message.",
  link_private:
    "it's in a private conversation, and others can read my answer here. Forward it, or ask me in a direct message.",
  link_shared:
    "I can't rule out that guests or people from another organisation read along. Forward it, or ask me in a direct message.",
  link_closed: "I don't answer in that conversation, so I don't read it either.",
  link_gone: 'the message no longer exists.',
  link_incomplete:
    "the message no longer exists, or it's a reply whose link was shortened. Use “Copy link” in its menu.",
  link_late: "Slack didn't let me read it in time. Forward it, or ask again with its link in a minute.",
  link_too_many: 'I follow at most three links in one message.',
} as const;

/** One line about a file that the agent does not have. An unknown reason reads as a failed download. */
export function fileMissing(file: {
  name: string;
  reason: string;
  /** What the service said. */
  detail?: string | undefined;
  sizeBytes?: number | undefined;
  /** For the reasons that are a limit. */
  limits?: FileLimits | undefined;
}): string {
  const name = quotedName(file.name, 120);
  const size = file.sizeBytes === undefined ? '' : ` (${formatSize(file.sizeBytes)})`;
  if (file.reason === 'external' || file.reason === 'cut') return `${name}: ${FILE_REASONS[file.reason]}`;
  if (file.reason === 'too_large') {
    const most = file.limits && ` at most ${formatSize(file.limits.maxFileBytes)}`;
    return `${name} was left out: it's too large${size}. Share a part of${most ?? ' it'}.`;
  }
  if (file.reason === 'service_refused' && file.detail) {
    return `${name} was left out: the agent service rejected it${withReason(file.detail)}`;
  }
  const why = isFileReason(file.reason) ? FILE_REASONS[file.reason] : FILE_REASONS.download_failed;
  return `${name} was left out: ${why}${limitSentence(file.reason, file.limits)}`;
}

function limitSentence(reason: string, limits: FileLimits | undefined): string {
  if (reason === 'type_refused') return ` Share it as ${allowedTypes(limits)}.`;
  if (limits === undefined) return '';
  if (reason === 'too_many') return ` The limit is ${limits.maxMessageFiles}.`;
  return reason === 'message_full' ? ` The limit is ${formatSize(limits.maxMessageBytes)}.` : '';
}

function allowedTypes(limits: FileLimits | undefined): string {
  if (limits === undefined || limits.allowedTypes.length === 0) return 'another type';
  return `one of these: ${shorten(limits.allowedTypes.join(', '), 200)}`;
}

function isFileReason(reason: string): reason is FileReason {
  return Object.hasOwn(FILE_REASONS, reason);
}

/** Where a file is on its way to the agent. */
export const fileStates = {
  waiting: 'waiting',
  processing: 'Slack is still processing it',
  elsewhere: 'being sent for another thread',
  moving: 'sending',
  passedOn: 'sent',
} as const;

/** How many of a message's files are done. */
export function passingFiles(done: number, count: number): string {
  return count === 1
    ? 'Sending your file to the agent…'
    : `Sending your files to the agent: ${done} of ${count}`;
}

/** Files without text were uploaded and wait for the next message. */
export function filesReceived(names: readonly string[]): string {
  const list = shorten(names.map((name) => quotedName(name, 80)).join(', '), 600);
  return `I have ${list}. Write what the agent should do, and I'll send ${names.length === 1 ? 'it' : 'them'} along with the next message in this thread.`;
}

/** None of the files that were shared without text can be sent. */
export const noUsableFiles = "There's nothing here that I can send to the agent.";

/** Cells of a table's column that a spreadsheet seems to have altered. */
export interface AlteredCells {
  /** The column's heading, untrusted; '' without one. */
  column: string;
  /** The column's number, from 1. */
  number: number;
  kind: 'dates' | 'numbers' | 'dates or numbers' | 'zeros';
  count: number;
  /** Some of them. */
  cells: string[];
  /** The genes that one of them may have been. */
  meaning?: { cell: string; genes: string[] } | undefined;
}

/** Follows the name of a table whose cells a spreadsheet seems to have altered; the agent reads it, too. */
export function alteredCells({ column, number, kind, count, cells, meaning }: AlteredCells): string {
  const where = column === '' ? `column ${number}` : quotedName(column, 40);
  const some = new Intl.ListFormat('en-GB', { type: 'conjunction' }).format(cells);
  const list = count > cells.length ? `, such as ${some}` : `: ${some}`;
  const cellsOf = count === 1 ? `1 cell of ${where}` : `${count} cells of ${where}`;
  if (kind === 'zeros') return `${cellsOf} may have lost leading zeros${list}.`;
  const what =
    kind === 'dates or numbers' || count > 1 ? kind : { dates: 'a date', numbers: 'a number' }[kind];
  const may = meaning === undefined ? '' : ` ${meaning.cell} may be ${meaning.genes.join(' or ')}.`;
  return `${cellsOf} ${count === 1 ? 'looks' : 'look'} like ${what} that a spreadsheet made${list}.${may}`;
}

/** A person has asked for files, or links to them, this often in an hour. */
export const filesTooOften = (most: number) =>
  `You've asked me for files ${most} times in the past hour, which is the limit for one person. Please try again later.`;

/** A file that a person asked for could not be delivered; `name` is untrusted. */
export const fileNotSent = (name: string) =>
  `I couldn't send you ${quotedName(name, 120)}. Open the task in App Home and try again.`;

/** A file is too large to be delivered through Slack. */
export const fileTooLarge = (sizeBytes: number, mostBytes: number) =>
  `This file is too large for me (${formatSize(sizeBytes)}; the limit is ${formatSize(mostBytes)}).`;
