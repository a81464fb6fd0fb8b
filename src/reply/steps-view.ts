import { shorten } from './graphemes.ts';
import { neutralise } from './pings.ts';
import type { Step } from './progress.ts';
import {
  type ActionsBlock,
  type ButtonElement,
  type ContextBlock,
  plainText,
  type SectionBlock,
  section,
} from './slack-blocks.ts';
import { type Modal, modal, notice } from './views/modal.ts';
import * as words from './words.ts';

/** Text that is shown letter by letter (https://docs.slack.dev/reference/block-kit/blocks/rich-text-block). */
interface VerbatimBlock {
  type: 'rich_text';
  elements: { type: 'rich_text_preformatted'; elements: { type: 'text'; text: string }[] }[];
}

/** A modal with steps. */
export type StepsView = Modal<SectionBlock | ContextBlock | ActionsBlock | VerbatimBlock>;

/** Steps of one page: five blocks each at most, and those for turning pages. */
const STEPS_A_PAGE = 10;

/** The modal until the steps are there, or where they cannot be shown. */
export function stepsNotice(sentence: string): StepsView {
  return notice(words.buttons.steps, sentence);
}

/** A page of a turn's steps, from 0; `steps_page` buttons, with turn and page as their value, lead to the others. */
export function stepsView(steps: readonly Step[], options: { turnId: string; page: number }): StepsView {
  if (steps.length === 0) return stepsNotice(words.noSteps);
  const pages = Math.ceil(steps.length / STEPS_A_PAGE);
  const page = Math.min(Math.max(0, options.page), pages - 1);
  const from = page * STEPS_A_PAGE;
  const shown = steps.slice(from, from + STEPS_A_PAGE);
  const blocks = shown.flatMap((step, index) => stepBlocks(step, from + index + 1));
  if (pages > 1) {
    blocks.push(small(words.stepsShown(from + 1, from + shown.length, steps.length)));
    blocks.push(turning(options.turnId, page, pages));
  }
  return modal(words.buttons.steps, blocks);
}

/** The turn and the page that a `steps_page` button stands for. */
export function readStepsPage(value: string): { turnId: string; page: number } | undefined {
  const match = /^([\da-f-]{36})\/(\d{1,4})$/.exec(value);
  return match?.[1] === undefined ? undefined : { turnId: match[1], page: Number(match[2]) };
}

function stepBlocks(step: Step, number: number): StepsView['blocks'] {
  const about = step.about === '' ? '' : `: ${step.about}`;
  const blocks: StepsView['blocks'] = [section(shorten(neutralise(`${number}. ${step.name}${about}`), 300))];
  if (/\S/.test(step.input)) blocks.push(small(words.stepInput), verbatim(step.input));
  if (step.output === undefined) blocks.push(small(words.stepWithoutOutput));
  else if (/\S/.test(step.output)) blocks.push(small(words.stepOutput), verbatim(step.output));
  return blocks;
}

function turning(turnId: string, page: number, pages: number): ActionsBlock {
  // Slack wants action ids that are unique within a block.
  const button = (text: string, to: number, id: string): ButtonElement => ({
    type: 'button',
    action_id: id,
    text: plainText(text),
    value: `${turnId}/${to}`,
  });
  const elements = [];
  if (page > 0) elements.push(button(words.buttons.earlierSteps, page - 1, 'steps_page'));
  if (page < pages - 1) elements.push(button(words.buttons.laterSteps, page + 1, 'steps_next_page'));
  return { type: 'actions', elements };
}

function small(text: string): ContextBlock {
  return { type: 'context', elements: [plainText(text)] };
}

function verbatim(text: string): VerbatimBlock {
  return {
    type: 'rich_text',
    elements: [{ type: 'rich_text_preformatted', elements: [{ type: 'text', text }] }],
  };
}
