import type { FileLimits, FileReason } from '../../render/strings/index.ts';
import * as strings from '../../render/strings/index.ts';
import type { FileNote, Turn } from '../../store/schema.ts';

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

/** The notes on the files of a turn that kept them for the next message. Their names may have been erased. */
export function keptFileNotes({
  attached_file_ids,
  file_notes: notes,
}: Pick<Turn, 'attached_file_ids' | 'file_notes'>): FileNote[] {
  if (notes === null) return (attached_file_ids ?? []).map(() => ({ name: UNNAMED_FILE, reason: null }));
  return notes.map((note) => ({ ...note, name: note.name || UNNAMED_FILE }));
}

/** Whether a note is shown again with its file: omitted files were announced, files left behind since were not. */
export function isNoteResent({ reason }: FileNote): boolean {
  return reason === null || reason === ('left_behind' satisfies FileReason);
}

/** What is not in the prompt although the message points to it, for the agent; '' if there is nothing. */
export function unreadLinkLines(notes: readonly FileNote[]): string {
  const unread = notes.filter(({ reason }) => reason?.startsWith('link_') === true);
  return unread.length === 0
    ? ''
    : [
        strings.unreadLinks,
        ...unread.map((note) => `- ${strings.fileMissing({ ...note, reason: note.reason ?? '' })}`),
      ].join('\n');
}

/** Links to the files that are not uploaded, as Markdown for the agent; '' if there are none. */
export function fileLinkLines(notes: readonly FileNote[]): string {
  const lines = notes.flatMap(({ name, link }) =>
    link === undefined ? [] : [`- [${name.replace(/[[\]\\\s]+/g, ' ').trim()}](<${link}>)`],
  );
  return lines.length === 0 ? '' : `${strings.linkedFiles(lines.length)}\n${lines.join('\n')}`;
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
