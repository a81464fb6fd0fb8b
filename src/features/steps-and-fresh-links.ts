import { z } from 'zod';
import type { AgentClient } from '../agent/agent-client.ts';
import { AgentError, AgentNotFoundError } from '../agent/errors.ts';
import { controlRefusal, useOnTurn } from '../relay/access/control-permission.ts';
import { toReplyBlock } from '../relay/replies/reply-blocks.ts';
import { toListedResult } from '../relay/replies/result-posts.ts';
import {
  type ButtonHandlers,
  type ControlRequest,
  turnOf,
  type ViewPress,
} from '../relay/runtime/control-request.ts';
import type { RelayDeps } from '../relay/runtime/deps.ts';
import { sendEphemeral } from '../relay/runtime/private-notices.ts';
import { createModal, type ViewBlock } from '../render/blocks/modal.ts';
import { contextLineBlock, sectionBlock } from '../render/blocks/slack-blocks.ts';
import { neutralizePings } from '../render/markdown/pings.ts';
import { resultModalBlocks, resultPages } from '../render/messages/result-list.ts';
import { furtherSourceBlocks } from '../render/messages/sources.ts';
import { type ToolStep, toolSteps } from '../render/messages/tool-steps.ts';
import * as strings from '../render/strings/index.ts';
import { shorten } from '../render/text/shorten.ts';
import type { Turn } from '../store/schema.ts';
import { taskIdOf } from '../store/threads/turns.ts';
import {
  type ModalContent,
  type ModalOutcome,
  openAndFillModal,
  pagerBlocks,
  parsePage,
  updateModal,
} from './modals.ts';

/** Handles the buttons of steps and fresh links. */
export function stepsAndLinksButtons(
  deps: RelayDeps,
): ButtonHandlers<'steps' | 'steps_page' | 'steps_next_page' | 'fresh_links'> {
  const showPage = async (press: ViewPress) => {
    const { list, page = 0 } = parsePage(press.value) ?? {};
    const turnId = z.uuid().safeParse(list).data;
    if (turnId === undefined) return undefined;
    return showSteps(deps, { ...press, turnId, page, modal: { viewId: press.view.id } });
  };
  return {
    steps: (press) => showSteps(deps, { ...press, page: 0, modal: press }),
    steps_page: showPage,
    steps_next_page: showPage,
    fresh_links: (press) => showFreshLinks(deps, press),
  };
}

interface StepsPress extends ControlRequest {
  /** From 0. */
  page: number;
  /** Opens a modal, or updates the one that is open. */
  modal: { triggerId: string } | { viewId: string };
}

/** Opens the modal with a turn's steps, or a refusal, or shows another page in it. Throws a SlackError. */
async function showSteps(deps: RelayDeps, press: StepsPress): Promise<ModalOutcome> {
  const { modal, workspace } = press;
  const render = () => renderView(deps, press);
  if ('triggerId' in modal) {
    const trigger = { workspace, triggerId: modal.triggerId };
    return openAndFillModal(deps, trigger, strings.buttons.steps.label, render);
  }
  const slack = deps.workspace(workspace);
  if (slack === undefined) return 'unknown';
  await updateModal(slack, modal.viewId, strings.buttons.steps.label, await render());
  return 'done';
}

async function renderView(deps: RelayDeps, press: StepsPress): Promise<ModalContent> {
  const about = { control: 'steps', notFound: strings.stepsNotFound };
  return turnModalContent(deps, press, about, async ({ turn, taskId, agent }) => {
    if (turn.assistant_message_id === null) return strings.stepsNotFound;
    const { content } = await agent.getMessage(taskId, turn.assistant_message_id);
    const blocks = content.map(toReplyBlock);
    const { show_sources, show_steps } = await deps.store.settings.get(turn.workspace, turn.channel);
    const find = () =>
      show_sources && (turn.outcome ?? 'completed') === 'completed' ? furtherSourceBlocks(blocks) : [];
    const further = await deps.rendering.run(turn.workspace, find, AbortSignal.timeout(FIND_WAIT_MS));
    // Where steps are hidden, the button stands there for the sources alone.
    const steps = show_steps || further.length === 0 ? toolSteps(blocks) : [];
    return stepsView(steps, further, { turnId: turn.id, page: press.page });
  });
}

/** Steps per page: at most five blocks each, so that a modal's 100 are never reached. */
const STEPS_PER_PAGE = 10;

/** How long a workspace that uses much of the render queue waits for a modal (ms). */
const FIND_WAIT_MS = 2_000;

/** A page of a turn's steps, from 0, with a pager; on the last one, the sources that its answer does not list. */
export function stepsView(
  steps: readonly ToolStep[],
  furtherSources: readonly ViewBlock[],
  { turnId, page: wantedPage }: { turnId: string; page: number },
): ModalContent {
  if (steps.length === 0 && furtherSources.length === 0) return strings.noSteps;
  const pages = Math.max(1, Math.ceil(steps.length / STEPS_PER_PAGE));
  const page = Math.min(Math.max(0, wantedPage), pages - 1);
  const from = page * STEPS_PER_PAGE;
  const shown = steps.slice(from, from + STEPS_PER_PAGE);
  const blocks = shown.flatMap((step, index) => stepBlocks(step, from + index + 1));
  const rows = { page, size: STEPS_PER_PAGE, shown: shown.length, count: steps.length };
  const pager = pagerBlocks(rows, ['steps_page', 'steps_next_page'], turnId);
  const last = page === pages - 1 ? furtherSources : [];
  return createModal(strings.buttons.steps.label, [...blocks, ...last, ...pager]);
}

function stepBlocks(step: ToolStep, number: number): ViewBlock[] {
  const about = step.summary === '' ? '' : `: ${step.summary}`;
  const blocks: ViewBlock[] = [
    sectionBlock(shorten(neutralizePings(`${number}. ${step.name}${about}`), 300)),
  ];
  if (/\S/.test(step.input)) blocks.push(contextLineBlock(strings.stepInput), verbatimBlock(step.input));
  if (step.output === undefined) blocks.push(contextLineBlock(strings.stepWithoutOutput));
  else if (/\S/.test(step.output))
    blocks.push(contextLineBlock(strings.stepOutput), verbatimBlock(step.output));
  return blocks;
}

/** https://docs.slack.dev/reference/block-kit/blocks/rich-text-block */
function verbatimBlock(text: string): ViewBlock {
  return {
    type: 'rich_text',
    elements: [{ type: 'rich_text_preformatted', elements: [{ type: 'text', text }] }],
  };
}

interface FreshLinksPress extends ControlRequest {
  triggerId: string;
}

/**
 * Shows new links to a turn's results to the person who asks: in a modal or, if they do not fit there, at the end of the
 * thread. Throws a SlackError.
 */
async function showFreshLinks(deps: RelayDeps, press: FreshLinksPress): Promise<ModalOutcome> {
  const about = { control: 'fresh_links', notFound: strings.filesNotFound };
  return openAndFillModal(deps, press, strings.freshLinksTitle, () =>
    turnModalContent(deps, press, about, (at) => render(deps, press, at)),
  );
}

async function render(
  deps: RelayDeps,
  { person }: FreshLinksPress,
  { turn, taskId, agent }: TurnAtService,
): Promise<ModalContent> {
  const claimed = await deps.store.results.ofThread(turn);
  const { results } = await agent.allResults(taskId);
  const listed = results
    .filter(({ id }) => claimed.get(id)?.turn_id === turn.id)
    .map((result) => toListedResult(result));
  if (listed.length === 0) return strings.filesNotFound;
  const blocks = resultModalBlocks(listed);
  if (blocks !== undefined) return createModal(strings.freshLinksTitle, blocks);
  const { workspace, channel, thread_ts: threadTs } = turn;
  for (const message of resultPages(listed))
    await sendEphemeral(deps, { workspace, channel, person, threadTs }, message);
  return strings.freshLinksBelow;
}

/** A turn, and where to read what the service has of it. */
interface TurnAtService {
  turn: Turn;
  taskId: string;
  agent: AgentClient;
}

/**
 * What a modal about a turn shows: what `read` returns or, where the person may not see it or the service does not have
 * it, a sentence. `control` is the action id, for the audit trail.
 */
async function turnModalContent(
  deps: RelayDeps,
  request: ControlRequest,
  { control, notFound }: { control: string; notFound: string },
  read: (at: TurnAtService) => Promise<ModalContent>,
): Promise<ModalContent> {
  const turn = await turnOf(deps.store, request);
  if (turn === undefined) return notFound;
  const use = { ...useOnTurn(turn, request.person, control), isReadOnly: true };
  const refusal = await controlRefusal(deps, use);
  if (refusal !== undefined) return refusal;
  const thread = await deps.store.threads.getOrThrow(turn);
  const taskId = taskIdOf(turn, thread);
  if (taskId === null) return notFound;
  try {
    return await read({ turn, taskId, agent: deps.agent(thread.account_id) });
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    if (error instanceof AgentNotFoundError) return notFound;
    deps.log.warn({ err: error, turn: turn.id, control }, 'could not read a turn at the service for a modal');
    return strings.modalUnavailable;
  }
}
