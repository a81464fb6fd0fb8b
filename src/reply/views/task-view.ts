import { shortenMiddle } from '../graphemes.ts';
import { BUTTON_URL_MOST, safeName, webAddress } from '../results.ts';
import { humanSize } from '../size.ts';
import { type ActionsBlock, type ButtonElement, plainText, section } from '../slack-blocks.ts';
import * as words from '../words.ts';
import type { HomePlace } from './home-view.ts';
import { type Modal, modal, notice } from './modal.ts';
import { modelOf, personOf, placeOf, type ShownTask, stateOf, titleOf } from './task-lines.ts';
import type { ViewBlock } from './view-blocks.ts';

/** Files that one page shows. */
export const taskFilesPage = 15;

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
  task: ShownTask;
  /** The service's id of the task. */
  id: string;
  /** This page's files; undefined where they cannot be read now. */
  files: readonly TaskFile[] | undefined;
  /** From 0. */
  page: number;
  home: HomePlace;
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
export interface TaskPlace {
  channel: string;
  root: string;
  /** The service's id: the thread may have another task by now. */
  task: string;
  page: number;
  /** What the Home tab showed from which it was opened. */
  home: HomePlace;
}

/** The modal with a sentence and nothing else. */
export function taskNotice(sentence: string): TaskView {
  return notice(words.tasks.title, sentence);
}

/** The details of a task, with a page of its files. */
export function taskView(details: TaskDetails): TaskView {
  const { task, files, note, now } = details;
  const facts = [
    stateOf(task.state),
    modelOf(task.model),
    words.ago(now - task.begunAt.getTime()),
    placeOf(task.channel),
    personOf(task.starter),
  ];
  const place: TaskPlace = {
    channel: task.channel,
    root: task.root,
    task: details.id,
    page: details.page,
    home: details.home,
  };
  const blocks: ViewBlock[] = [
    ...(note === undefined ? [] : [plain(note)]),
    { type: 'section', text: { type: 'mrkdwn', text: titleOf(task) } },
    {
      type: 'context',
      elements: [{ type: 'mrkdwn', text: facts.filter((fact) => fact !== '').join(' · ') }],
    },
    { type: 'actions', elements: [...openButton(task.url), deleteButton(details.id)] },
    { type: 'divider' },
    ...(files === undefined ? [plain(words.tasks.filesAway)] : fileBlocks(details, files)),
  ];
  return { ...modal(words.tasks.title, blocks), private_metadata: JSON.stringify(place) };
}

/** The page that a button of the modal turns to. */
export function readFilesPage(value: string): number | undefined {
  return /^\d{1,4}$/.test(value) ? Number(value) : undefined;
}

function fileBlocks({ page, count }: TaskDetails, files: readonly TaskFile[]): ViewBlock[] {
  if (files.length === 0 && page === 0) return [plain(words.tasks.noFiles)];
  const from = page * taskFilesPage;
  const blocks = files.slice(0, taskFilesPage).map(fileBlock);
  if (files.some(({ kind }) => kind === 'output')) blocks.push(small(words.tasks.linkHint));
  if (count <= taskFilesPage) return blocks;
  if (files.length > 0) blocks.push(small(words.pageShown(from + 1, from + files.length, count)));
  const turning: ButtonElement[] = [];
  if (page > 0) turning.push(button('task_files_back', words.buttons.back, String(page - 1)));
  if (from + taskFilesPage < count)
    turning.push(button('task_files_more', words.buttons.more, String(page + 1)));
  return turning.length === 0 ? blocks : [...blocks, actions(turning)];
}

function fileBlock(file: TaskFile): ViewBlock {
  if (file.kind === 'gone') return plain(words.tasks.fileGone);
  const about = [safeName(file.name), `${humanSize(file.sizeBytes)} · ${words.tasks[file.kind]}`];
  if (file.kind === 'input') {
    const sent = button('task_file', words.buttons.sendToMe, file.id);
    return { type: 'section', text: plainText(about.join('\n')), accessory: sent };
  }
  const url = webAddress(file.url);
  if (url === undefined || url.length > BUTTON_URL_MOST) {
    return plain(`${about.join('\n')} · ${words.noLink}`);
  }
  const link: ButtonElement = {
    type: 'button',
    action_id: 'open_result',
    text: plainText(words.buttons.open),
    url,
  };
  return { type: 'section', text: plainText(about.join('\n')), accessory: link };
}

function openButton(url: string | null): ButtonElement[] {
  if (url === null) return [];
  return [{ type: 'button', action_id: 'open_thread', text: plainText(words.buttons.openThread), url }];
}

function deleteButton(id: string): ButtonElement {
  return {
    ...button('task_delete', words.buttons.deleteTask, id),
    style: 'danger',
    confirm: {
      title: plainText(words.tasks.deleteTitle),
      text: plainText(words.tasks.deleteText),
      confirm: plainText(words.buttons.deleteTask),
      deny: plainText(words.buttons.keepTask),
      style: 'danger',
    },
  };
}

function button(id: string, text: string, value: string): ButtonElement {
  return { type: 'button', action_id: id, text: plainText(text), value };
}

function actions(elements: ButtonElement[]): ActionsBlock {
  return { type: 'actions', elements };
}

function plain(text: string): ViewBlock {
  return section(shortenMiddle(text, 2_900));
}

function small(text: string): ViewBlock {
  return { type: 'context', elements: [plainText(text)] };
}
