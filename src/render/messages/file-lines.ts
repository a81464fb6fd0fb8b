import type { FileLimits } from '../strings/file-transfer.ts';
import * as strings from '../strings/index.ts';
import { formatSize, quotedName } from '../text-format.ts';

export interface FileOutcome {
  /** Untrusted; any characters. */
  readonly name: string;
  readonly sizeBytes?: number | undefined;
  /** Why the file was left out (a `FileReason`); null if it was sent. */
  readonly reason: string | null;
  /** What the service said. */
  readonly detail?: string | undefined;
  /** A sentence about what is in it. */
  readonly remark?: string | undefined;
}

/** Where a file is on its way to the agent. */
export type FileProgress =
  | {
      readonly state: 'waiting' | 'processing' | 'elsewhere';
      readonly name: string;
      readonly sizeBytes?: number;
    }
  | {
      readonly state: 'moving';
      readonly name: string;
      readonly sizeBytes: number;
      readonly sentBytes: number;
    }
  | { readonly state: 'over'; readonly outcome: FileOutcome };

/** Smallest file (bytes) that shows a percentage. */
const MIN_BYTES_FOR_PERCENT = 8_000_000;
/** Steps of the percentage, so that it takes few edits. */
const PERCENT_STEP = 5;

/** One line for each file while files are sent. */
export function fileProgressLines(files: readonly FileProgress[], limits: FileLimits): string[] {
  return files.map((file) => {
    if (file.state !== 'over') return `${fileTitle(file)}: ${stateOf(file)}`;
    const { outcome } = file;
    return outcome.reason === null
      ? `${fileTitle(outcome)}: ${strings.fileStates.passedOn}`
      : missingFileLine(outcome, limits);
  });
}

/** The sentence above those lines: how many files are done. */
export function fileProgressSentence(files: readonly FileProgress[]): string {
  const done = files.filter(({ state }) => state === 'over').length;
  return strings.passingFiles(done, files.length);
}

/** One line for each file with a remark, and for each that the agent does not have. */
export function fileNoteLines(outcomes: readonly FileOutcome[], limits: FileLimits): string[] {
  return outcomes.flatMap((outcome) => {
    if (outcome.reason !== null) return [missingFileLine(outcome, limits)];
    return outcome.remark === undefined ? [] : [`${quotedName(outcome.name, 80)}: ${outcome.remark}`];
  });
}

function stateOf(file: Exclude<FileProgress, { state: 'over' }>): string {
  if (file.state !== 'moving') return strings.fileStates[file.state];
  if (file.sizeBytes < MIN_BYTES_FOR_PERCENT) return strings.fileStates.moving;
  const percent = Math.min(100, (file.sentBytes / file.sizeBytes) * 100);
  return `${Math.floor(percent / PERCENT_STEP) * PERCENT_STEP} %`;
}

function fileTitle({ name, sizeBytes }: { name: string; sizeBytes?: number | undefined }): string {
  const shown = quotedName(name, 80);
  return sizeBytes === undefined ? shown : `${shown} (${formatSize(sizeBytes)})`;
}

function missingFileLine(outcome: FileOutcome, limits: FileLimits): string {
  return strings.fileMissing({ ...outcome, reason: outcome.reason ?? '', limits });
}
