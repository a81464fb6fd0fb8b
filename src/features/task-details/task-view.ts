import { z } from 'zod';
import type { Review } from '../../agent/service-schema.ts';
import { parseJson } from '../../calls/json.ts';
import { hasFailed } from '../../relay/replies/review-posts.ts';
import { type HomeTabState, parseHomeTabState } from '../../relay/tasks/task-summaries.ts';
import { createModal, type Modal, type ViewBlock } from '../../render/blocks/modal.ts';
import {
  actionsBlock,
  buttonElement,
  contextLineBlock,
  dangerButton,
  linkButton,
  mrkdwnContextBlock,
  namedButton,
  sectionBlock,
} from '../../render/blocks/slack-blocks.ts';
import { formatState, plainTitle, type TaskSummary, taskFacts } from '../../render/blocks/task-lines.ts';
import {
  displayedFileName,
  type ListedResult,
  MAX_BUTTON_URL_LENGTH,
  safeWebUrl,
  worksUntil,
} from '../../render/messages/result-list.ts';
import * as strings from '../../render/strings/index.ts';
import { formatSize, shorten, toOneLine } from '../../render/text-format.ts';
import { pagerBlocks } from '../modals.ts';

export const FILES_PER_PAGE = 15;
const MAX_REVIEWS = 10;

export type TaskFile =
  /** Sent with a message: it can be sent back. */
  | { kind: 'input'; id: string; name: string; sizeBytes: number | null }
  /** Made by the agent, with a link that may expire. */
  | ({ kind: 'output' } & Pick<ListedResult, 'name' | 'sizeBytes' | 'url' | 'worksUntil'>)
  | { kind: 'gone' };

export interface TaskDetails {
  task: TaskSummary;
  /** The service's id of the task. */
  id: string;
  /** Why nothing is read at the service; undefined if it is. */
  closed?: string | undefined;
  /** The files of this page; undefined if they cannot be read now. */
  files: readonly TaskFile[] | undefined;
  /** Of the agent's work, oldest first. */
  reviews: readonly Review[];
  /** From 0. */
  page: number;
  home: HomeTabState;
  /** The number of files on all pages. */
  count: number;
  /** False: the service may have more files. */
  isComplete: boolean;
  /** The thread no longer learns of new files by itself. */
  offersLook: boolean;
  note?: string | undefined;
  now: number;
}

/** Which task the modal shows, and what the Home tab behind it shows; kept in its metadata. */
const stateSchema = z.object({
  channel: z.string().regex(/^[A-Z0-9]{1,30}$/),
  thread_ts: z.string().regex(/^\d{1,10}\.\d{6}$/),
  /** The service's id: the thread may have another task by now. */
  task: z.string().min(1),
  page: z.int().min(0).max(10_000),
  home: z.unknown().transform(parseHomeTabState),
});

/** Reads the metadata of a task's modal. Throws a ZodError for anything else. */
export function parseTaskMetadata(metadata: string): z.output<typeof stateSchema> {
  return stateSchema.parse(parseJson(metadata));
}

/** The details of a task, with a page of its files. */
export function taskView(details: TaskDetails): Modal {
  const { task, files, note, now } = details;
  const state: z.output<typeof stateSchema> = {
    channel: task.channel,
    thread_ts: task.thread_ts,
    task: details.id,
    page: details.page,
    home: details.home,
  };
  const { deleteTitle: title, deleteText: text } = strings.tasks;
  const [yes, no] = [strings.buttons.task_delete.label, strings.labels.keepTask];
  const blocks: ViewBlock[] = [
    ...(note === undefined ? [] : [sectionBlock(shorten(note, 2_900))]),
    sectionBlock(plainTitle(task.task_title)),
    mrkdwnContextBlock(taskFacts(task, now)),
    ...details.reviews.slice(-MAX_REVIEWS).map(reviewBlock),
    actionsBlock([
      ...(task.permalink === null ? [] : [linkButton('open_thread', task.permalink)]),
      ...(details.offersLook ? [buttonElement('task_files_look', '/0')] : []),
      ...(details.closed === undefined ? [buttonElement('task_record', details.id)] : []),
      dangerButton(buttonElement('task_delete', details.id), { title, text, yes, no }),
    ]),
    { type: 'divider' },
    ...(files === undefined
      ? [sectionBlock(details.closed ?? strings.tasks.filesUnavailable)]
      : fileBlocks(details, files)),
  ];
  return { ...createModal(strings.tasks.title, blocks), private_metadata: JSON.stringify(state) };
}

function fileBlocks({ page, count, isComplete }: TaskDetails, files: readonly TaskFile[]): ViewBlock[] {
  if (files.length === 0 && page === 0) return [sectionBlock(strings.tasks.noFiles)];
  const blocks = files.map(fileBlock);
  const made = files.flatMap((file) => (file.kind === 'output' ? [file] : []));
  if (made.length > 0) blocks.push(mrkdwnContextBlock(strings.linksHint(worksUntil(made), 'modal')));
  if (!isComplete) blocks.push(contextLineBlock(strings.resultsIncomplete));
  const rows = { page, size: FILES_PER_PAGE, shown: files.length, count };
  return [...blocks, ...pagerBlocks(rows, ['task_files_back', 'task_files_more'])];
}

function fileBlock(file: TaskFile): ViewBlock {
  if (file.kind === 'gone') return sectionBlock(strings.tasks.fileNotFound);
  const name = displayedFileName(file.name);
  const about = `${name}\n${formatSize(file.sizeBytes)} · ${strings.tasks[file.kind]}`;
  if (file.kind === 'input') {
    const sent = namedButton(buttonElement('task_file', file.id), name);
    return { ...sectionBlock(about), accessory: sent };
  }
  const url = safeWebUrl(file.url);
  if (url === undefined || url.length > MAX_BUTTON_URL_LENGTH)
    return sectionBlock(`${about} · ${strings.noLink}`);
  return { ...sectionBlock(about), accessory: namedButton(linkButton('open_result', url), name) };
}

function reviewBlock(review: Review): ViewBlock {
  const state = formatState(hasFailed(review) ? 'failed' : review.status);
  return sectionBlock(strings.tasks.review(state, shorten(toOneLine(review.errorMessage ?? ''), 500)));
}
