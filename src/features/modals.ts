import { AgentError } from '../agent/errors.ts';
import { adminRefusal, readIfAllowed } from '../relay/access/rights.ts';
import type { WorkspaceActor } from '../relay/runtime/control-request.ts';
import type { RelayDeps, WorkspaceClient } from '../relay/runtime/deps.ts';
import { type Modal, noticeModal, type ViewBlock } from '../render/blocks/modal.ts';
import {
  actionsBlock,
  type ButtonId,
  buttonElement,
  contextLineBlock,
} from '../render/blocks/slack-blocks.ts';
import * as strings from '../render/strings/index.ts';

export interface ModalTrigger {
  workspace: string;
  /** Slack's; expires after 3 s. */
  triggerId: string;
}

/** `late`: the trigger has expired; `unknown`: the app is not installed there. */
export type ModalOutcome = 'done' | 'late' | 'unknown';

/** Error messages of a form by the ids of their inputs; empty if it was saved. */
export type FormErrors = Readonly<Record<string, string>>;

/** What a modal shows: a view, or a sentence below the modal's title. */
export type ModalContent = Modal | string;

/** Opens a modal before the trigger expires, then shows what `fill` returns, or that it failed. Throws a SlackError. */
export async function openAndFillModal(
  deps: Pick<RelayDeps, 'workspace' | 'log'>,
  { workspace: id, triggerId }: ModalTrigger,
  title: string,
  fill: (workspace: WorkspaceClient, viewId: string) => Promise<ModalContent>,
): Promise<ModalOutcome> {
  const workspace = deps.workspace(id);
  if (workspace === undefined) return 'unknown';
  const viewId = await workspace.views.open(triggerId, noticeModal(title, strings.loading));
  if (viewId === undefined) return 'late';
  try {
    await updateModal(workspace, viewId, title, await fill(workspace, viewId));
  } catch (error) {
    deps.log.warn({ workspace: id, err: error }, 'could not fill a modal');
    const isAgents = error instanceof AgentError;
    const sentence = isAgents ? strings.modalUnavailable : strings.command.unavailable;
    await updateModal(workspace, viewId, title, sentence);
  }
  return 'done';
}

/** Like `openAndFillModal`, for a workspace's admins: anybody else reads `refusal`. */
export async function openForAdmins(
  deps: Pick<RelayDeps, 'workspace' | 'store' | 'settings' | 'log'>,
  actor: WorkspaceActor & ModalTrigger,
  { title, ...use }: { title: string; refusal: string; control: string },
  fill: () => Promise<ModalContent>,
): Promise<ModalOutcome> {
  const refusal = () => adminRefusal(deps, actor, use);
  return openAndFillModal(deps, actor, title, () => readIfAllowed(refusal, fill));
}

/** Updates an open modal; false if it was closed, or the app is not installed there. Throws a SlackError. */
export async function updateModal(
  workspace: WorkspaceClient | undefined,
  viewId: string,
  title: string,
  content: ModalContent,
): Promise<boolean> {
  const view = typeof content === 'string' ? noticeModal(title, content) : content;
  return (await workspace?.views.update(viewId, view)) ?? false;
}

/** Below a page of a list, from 0: which rows of how many it shows, and buttons whose value is `list` and another page. */
export function pagerBlocks(
  { page, size, shown, count }: { page: number; size: number; shown: number; count: number },
  [before, after]: readonly [ButtonId, ButtonId],
  list = '',
): ViewBlock[] {
  const from = page * size;
  const to = (id: ButtonId, other: number) => buttonElement(id, `${list}/${other}`);
  const buttons = [
    ...(page > 0 ? [to(before, page - 1)] : []),
    ...(from + size < count ? [to(after, page + 1)] : []),
  ];
  if (buttons.length === 0) return [];
  const rows = shown === 0 ? [] : [contextLineBlock(strings.pageShown(from + 1, from + shown, count))];
  return [...rows, actionsBlock(buttons)];
}

/** The list and the page that a pager's button leads to; undefined for anything else. */
export function parsePage(value: string): { list: string; page: number } | undefined {
  const match = /^([\w-]*)\/(\d{1,4})$/.exec(value);
  return match === null ? undefined : { list: match[1] ?? '', page: Number(match[2]) };
}
