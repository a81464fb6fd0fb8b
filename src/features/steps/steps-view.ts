import { createModal, type Modal, noticeModal } from '../../render/blocks/modal.ts';
import {
  type ActionsBlock,
  type ButtonElement,
  type ContextBlock,
  plainText,
  type SectionBlock,
  sectionBlock,
} from '../../render/blocks/slack-blocks.ts';
import { neutralizePings } from '../../render/markdown/pings.ts';
import type { ToolStep } from '../../render/messages/tool-steps.ts';
import * as strings from '../../render/strings/index.ts';
import { shorten } from '../../render/text/graphemes.ts';

/** Text that is shown letter by letter (https://docs.slack.dev/reference/block-kit/blocks/rich-text-block). */
interface VerbatimBlock {
  type: 'rich_text';
  elements: { type: 'rich_text_preformatted'; elements: { type: 'text'; text: string }[] }[];
}

/** A modal with steps. */
export type StepsView = Modal<SectionBlock | ContextBlock | ActionsBlock | VerbatimBlock>;

/** Steps of one page: five blocks each at most, and those for turning pages. */
const STEPS_PER_PAGE = 10;

/** The modal until the steps are there, or where they cannot be shown. */
export function stepsNoticeView(sentence: string): StepsView {
  return noticeModal(strings.buttons.steps, sentence);
}

/** A page of a turn's steps, from 0; `steps_page` buttons, with turn and page as their value, lead to the others. */
export function stepsView(steps: readonly ToolStep[], options: { turnId: string; page: number }): StepsView {
  if (steps.length === 0) return stepsNoticeView(strings.noSteps);
  const pages = Math.ceil(steps.length / STEPS_PER_PAGE);
  const page = Math.min(Math.max(0, options.page), pages - 1);
  const from = page * STEPS_PER_PAGE;
  const shown = steps.slice(from, from + STEPS_PER_PAGE);
  const blocks = shown.flatMap((step, index) => stepBlocks(step, from + index + 1));
  if (pages > 1) {
    blocks.push(contextBlock(strings.stepsShown(from + 1, from + shown.length, steps.length)));
    blocks.push(pageButtons(options.turnId, page, pages));
  }
  return createModal(strings.buttons.steps, blocks);
}

/** The turn and the page that a `steps_page` button stands for. */
export function parseStepsPage(value: string): { turnId: string; page: number } | undefined {
  const match = /^([\da-f-]{36})\/(\d{1,4})$/.exec(value);
  return match?.[1] === undefined ? undefined : { turnId: match[1], page: Number(match[2]) };
}

function stepBlocks(step: ToolStep, number: number): StepsView['blocks'] {
  const about = step.summary === '' ? '' : `: ${step.summary}`;
  const blocks: StepsView['blocks'] = [
    sectionBlock(shorten(neutralizePings(`${number}. ${step.name}${about}`), 300)),
  ];
  if (/\S/.test(step.input)) blocks.push(contextBlock(strings.stepInput), verbatimBlock(step.input));
  if (step.output === undefined) blocks.push(contextBlock(strings.stepWithoutOutput));
  else if (/\S/.test(step.output)) blocks.push(contextBlock(strings.stepOutput), verbatimBlock(step.output));
  return blocks;
}

function pageButtons(turnId: string, page: number, pages: number): ActionsBlock {
  // Slack wants action ids that are unique within a block.
  const button = (text: string, to: number, id: string): ButtonElement => ({
    type: 'button',
    action_id: id,
    text: plainText(text),
    value: `${turnId}/${to}`,
  });
  const elements = [];
  if (page > 0) elements.push(button(strings.buttons.earlierSteps, page - 1, 'steps_page'));
  if (page < pages - 1) elements.push(button(strings.buttons.laterSteps, page + 1, 'steps_next_page'));
  return { type: 'actions', elements };
}

function contextBlock(text: string): ContextBlock {
  return { type: 'context', elements: [plainText(text)] };
}

function verbatimBlock(text: string): VerbatimBlock {
  return {
    type: 'rich_text',
    elements: [{ type: 'rich_text_preformatted', elements: [{ type: 'text', text }] }],
  };
}
