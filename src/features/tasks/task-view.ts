import { createModal, type Modal, noticeModal } from '../../render/blocks/modal.ts';
import {
  type ActionsBlock,
  type ButtonElement,
  plainText,
  sectionBlock,
} from '../../render/blocks/slack-blocks.ts';
import {
  formatChannel,
  formatModel,
  formatPerson,
  formatState,
  formatTitle,
  type TaskSummary,
} from '../../render/blocks/task-lines.ts';
import type { ViewBlock } from '../../render/blocks/view-blocks.ts';
import { displayedFileName, MAX_BUTTON_URL_LENGTH, safeWebUrl } from '../../render/messages/result-list.ts';
import * as strings from '../../render/strings/index.ts';
import { formatAge } from '../../render/text/duration.ts';
import { formatSize } from '../../render/text/file-size.ts';
import { shortenMiddle } from '../../render/text/graphemes.ts';
import type { HomeTabState } from '../home/home-view.ts';

/** Files that one page shows. */
export const FILES_PER_PAGE = 15;

/** A file of a task. */
export type TaskFile =
  /** One that went along with a message: it can be sent back. */
  | { kind: 'input'; id: string; name: string; sizeBytes: number }
  /** One that the agent made, with a link that soon stops working. */
  | { kind: 'output'; name: string; sizeBytes: number; url: string | null }
  /** The service no longer has it. */
  | { kind: 'gone' };

/** What the details of a task show. */
export interface TaskDetails {
  task: TaskSummary;
  /** The service's id of the task. */
  id: string;
  /** This page's files; undefined where they cannot be read now. */
  files: readonly TaskFile[] | undefined;
  /** From 0. */
  page: number;
  home: HomeTabState;
  /** How many files there are on all pages. */
  count: number;
  /** A sentence about what was just done. */
  note?: string | undefined;
  now: number;
}

/** A modal about a task. */
export interface TaskView extends Modal<ViewBlock> {
  private_metadata?: string;
}

/** Where a press in the modal belongs; kept in the modal itself. */
export interface TaskModalState {
  channel: string;
  root: string;
  /** The service's id: the thread may have another task by now. */
  task: string;
  page: number;
  /** What the Home tab showed from which it was opened. */
  home: HomeTabState;
}

/** The modal with a sentence and nothing else. */
export function taskNoticeView(sentence: string): TaskView {
  return noticeModal(strings.tasks.title, sentence);
}

/** The details of a task, with a page of its files. */
export function taskView(details: TaskDetails): TaskView {
  const { task, files, note, now } = details;
  const facts = [
    formatState(task.state),
    formatModel(task.model),
    formatAge(now - task.begunAt.getTime()),
    formatChannel(task.channel),
    formatPerson(task.starter),
  ];
  const place: TaskModalState = {
    channel: task.channel,
    root: task.root,
    task: details.id,
    page: details.page,
    home: details.home,
  };
  const blocks: ViewBlock[] = [
    ...(note === undefined ? [] : [plainSection(note)]),
    { type: 'section', text: { type: 'mrkdwn', text: formatTitle(task) } },
    {
      type: 'context',
      elements: [{ type: 'mrkdwn', text: facts.filter((fact) => fact !== '').join(' · ') }],
    },
    { type: 'actions', elements: [...openButton(task.url), deleteButton(details.id)] },
    { type: 'divider' },
    ...(files === undefined ? [plainSection(strings.tasks.filesUnavailable)] : fileBlocks(details, files)),
  ];
  return { ...createModal(strings.tasks.title, blocks), private_metadata: JSON.stringify(place) };
}

/** The page that a button of the modal turns to. */
export function parseFilesPage(value: string): number | undefined {
  return /^\d{1,4}$/.test(value) ? Number(value) : undefined;
}

function fileBlocks({ page, count }: TaskDetails, files: readonly TaskFile[]): ViewBlock[] {
  if (files.length === 0 && page === 0) return [plainSection(strings.tasks.noFiles)];
  const from = page * FILES_PER_PAGE;
  const blocks = files.slice(0, FILES_PER_PAGE).map(fileBlock);
  if (files.some(({ kind }) => kind === 'output')) blocks.push(contextBlock(strings.tasks.linkHint));
  if (count <= FILES_PER_PAGE) return blocks;
  if (files.length > 0) blocks.push(contextBlock(strings.pageShown(from + 1, from + files.length, count)));
  const turning: ButtonElement[] = [];
  if (page > 0) turning.push(button('task_files_back', strings.buttons.back, String(page - 1)));
  if (from + FILES_PER_PAGE < count)
    turning.push(button('task_files_more', strings.buttons.more, String(page + 1)));
  return turning.length === 0 ? blocks : [...blocks, actionsBlock(turning)];
}

function fileBlock(file: TaskFile): ViewBlock {
  if (file.kind === 'gone') return plainSection(strings.tasks.fileNotFound);
  const about = [displayedFileName(file.name), `${formatSize(file.sizeBytes)} · ${strings.tasks[file.kind]}`];
  if (file.kind === 'input') {
    const sent = button('task_file', strings.buttons.sendToMe, file.id);
    return { type: 'section', text: plainText(about.join('\n')), accessory: sent };
  }
  const url = safeWebUrl(file.url);
  if (url === undefined || url.length > MAX_BUTTON_URL_LENGTH) {
    return plainSection(`${about.join('\n')} · ${strings.noLink}`);
  }
  const link: ButtonElement = {
    type: 'button',
    action_id: 'open_result',
    text: plainText(strings.buttons.download),
    url,
  };
  return { type: 'section', text: plainText(about.join('\n')), accessory: link };
}

function openButton(url: string | null): ButtonElement[] {
  if (url === null) return [];
  return [{ type: 'button', action_id: 'open_thread', text: plainText(strings.buttons.openThread), url }];
}

function deleteButton(id: string): ButtonElement {
  return {
    ...button('task_delete', strings.buttons.deleteTask, id),
    style: 'danger',
    confirm: {
      title: plainText(strings.tasks.deleteTitle),
      text: plainText(strings.tasks.deleteText),
      confirm: plainText(strings.buttons.deleteTask),
      deny: plainText(strings.buttons.keepTask),
      style: 'danger',
    },
  };
}

function button(id: string, text: string, value: string): ButtonElement {
  return { type: 'button', action_id: id, text: plainText(text), value };
}

function actionsBlock(elements: ButtonElement[]): ActionsBlock {
  return { type: 'actions', elements };
}

function plainSection(text: string): ViewBlock {
  return sectionBlock(shortenMiddle(text, 2_900));
}

function contextBlock(text: string): ViewBlock {
  return { type: 'context', elements: [plainText(text)] };
}
