import { z } from 'zod';
import type { AgentClient } from '../agent/agent-client.ts';
import { AgentError, AgentNotFoundError } from '../agent/errors.ts';
import { controlRefusal, useOnTurn } from '../relay/access/control-permission.ts';
import { filesRefusal } from '../relay/access/quotas.ts';
import { readIfAllowed } from '../relay/access/rights.ts';
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
import { shorten } from '../render/text-format.ts';
import { isPostedBy } from '../store/files/posted-results.ts';
import type { Turn } from '../store/schema.ts';
import { taskIdOf } from '../store/threads/turns.ts';
import { type ModalContent, openAndFillModal, pagerBlocks, parsePage, updateModal } from './modals.ts';

/** Handles the buttons of steps and fresh links. */
export function stepsAndLinksButtons(
  deps: RelayDeps,
): ButtonHandlers<'steps' | 'steps_page' | 'steps_next_page' | 'fresh_links'> {
  const title = strings.buttons.steps.label;
  const showPage = async (press: ViewPress) => {
    const { list, page = 0 } = parsePage(press.value) ?? {};
    const turnId = z.uuid().safeParse(list).data;
    const workspace = deps.workspace(press.workspace);
    if (turnId === undefined || workspace === undefined) return;
    await updateModal(workspace, press.view.id, title, await stepsContent(deps, { ...press, turnId }, page));
  };
  return {
    steps: (press) => openAndFillModal(deps, press, title, () => stepsContent(deps, press, 0)),
    steps_page: showPage,
    steps_next_page: showPage,
    fresh_links: (press) =>
      openAndFillModal(deps, press, strings.freshLinksTitle, () => freshLinksContent(deps, press)),
  };
}

async function stepsContent(deps: RelayDeps, press: ControlRequest, page: number): Promise<ModalContent> {
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
    return stepsView(steps, further, { turnId: turn.id, page });
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

/** New links to a turn's results for the person who asks; at the end of the thread, if they do not fit in the modal. */
async function freshLinksContent(deps: RelayDeps, press: ControlRequest): Promise<ModalContent> {
  const about = { control: 'fresh_links', notFound: strings.filesNotFound };
  return turnModalContent(deps, press, about, async ({ turn, taskId, agent }) => {
    const tooOften = await filesRefusal(deps.store, { ...turn, person: press.person }, about.control);
    if (tooOften !== undefined) return tooOften;
    const claimed = await deps.store.results.ofThread(turn);
    const { results } = await agent.allResults(taskId);
    const own = results.filter(({ id }) => isPostedBy(turn.id, claimed.get(id)));
    // Where the list could not be read at the turn's end, nobody has claimed its results yet.
    const asked = own.length > 0 ? own : results.filter(({ id }) => !claimed.has(id));
    const listed = asked.map((result) => toListedResult(deps, result, turn));
    if (listed.length === 0) return strings.filesNotFound;
    const blocks = resultModalBlocks(listed);
    if (blocks !== undefined) return createModal(strings.freshLinksTitle, blocks);
    const { workspace, channel, thread_ts: threadTs } = turn;
    for (const message of resultPages(listed))
      await sendEphemeral(deps, { workspace, channel, person: press.person, threadTs }, message);
    return strings.freshLinksBelow;
  });
}

/**
 * What a modal about a turn shows: what `read` returns or, where the person may not see it or the service does not have
 * it, a sentence. `control` is the action id, for the audit trail.
 */
async function turnModalContent(
  deps: RelayDeps,
  request: ControlRequest,
  { control, notFound }: { control: string; notFound: string },
  read: (at: { turn: Turn; taskId: string; agent: AgentClient }) => Promise<ModalContent>,
): Promise<ModalContent> {
  const turn = await turnOf(deps.store, request);
  if (turn === undefined) return notFound;
  const isInView = request.channel === undefined;
  const use = { ...useOnTurn(turn, request.person, control), isReadOnly: true, isInView };
  const readTurn = async () => {
    const thread = await deps.store.threads.getOrThrow(turn);
    const taskId = taskIdOf(turn, thread);
    return taskId === null ? notFound : read({ turn, taskId, agent: deps.agent(thread.account_id) });
  };
  try {
    return await readIfAllowed(() => controlRefusal(deps, use), readTurn);
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    if (error instanceof AgentNotFoundError) return notFound;
    deps.log.warn({ err: error, turn: turn.id, control }, 'could not read a turn at the service for a modal');
    return strings.modalUnavailable;
  }
}
