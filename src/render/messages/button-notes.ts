import type { ContextActionsBlock } from '@slack/types';
import {
  actionsBlock,
  type ButtonId,
  buttonElement,
  contextLineBlock,
  messageOfBlocks,
  mrkdwnContextBlock,
  plainText,
  type RenderedMessage,
  sectionBlock,
  withLinesOf,
} from '../blocks/slack-blocks.ts';
import * as strings from '../strings/index.ts';

/** How work that goes on after a turn's answer stands. */
export type BackgroundState = keyof typeof strings.backgroundNotices;

/** Says how the work after a turn's answer stands, and offers to stop it (`stop`; the value is the turn's id). */
export function backgroundNotice(turnId: string, state: BackgroundState): RenderedMessage {
  const text = strings.backgroundNotices[state];
  if (state === 'working') return noteWithButtons(text, ['stop'], turnId);
  const stopNow = () => actionsBlock([buttonElement('stop', turnId, strings.labels.stopNow)]);
  return messageOfBlocks([sectionBlock(text), ...(state === 'stopping' ? [stopNow()] : [])]);
}

/** A notice that no longer has its buttons. */
export function endedNotice(sentence: string): RenderedMessage {
  return messageOfBlocks([contextLineBlock(sentence)]);
}

/** A sentence with buttons below it; `value` is the same for all: the id of the turn, or the ts of the message, that they are about. */
export function noteWithButtons(text: string, buttons: readonly ButtonId[], value: string): RenderedMessage {
  const elements = buttons.map((id) => buttonElement(id, value));
  return messageOfBlocks([sectionBlock(text), actionsBlock(elements)]);
}

/** A message of ours as Slack gives it back, its text escaped: its blocks may be of other types than those that were sent. */
export interface ShownMessage {
  text: string;
  blocks: readonly { type: string; elements?: readonly object[] | undefined }[];
}

/**
 * The same message with a sentence about who used the button in place of those buttons; undefined if it has none. Of what was
 * refused and is asked again, nothing is left but the sentence.
 */
export function withButtonUsed({ text, blocks }: ShownMessage, sentence: string): ShownMessage | undefined {
  const at = blocks.findIndex((block) => block.type === 'actions' && block.elements?.some(isUsedOnce));
  const block = blocks[at];
  if (block === undefined) return undefined;
  const isRefusal = block.elements?.some(
    (element) => 'action_id' in element && element.action_id === 'choose_again',
  );
  if (isRefusal === true) return endedNotice(sentence);
  const left = block.elements?.filter((element) => !isUsedOnce(element)) ?? [];
  const replacements = [
    contextLineBlock(sentence),
    ...(left.length === 0 ? [] : [{ ...block, elements: left }]),
  ];
  // Slack makes links of addresses in it, so it may be longer than what was sent.
  const whole = messageOfBlocks([mrkdwnContextBlock(text)]);
  return {
    text: withLinesOf(whole.text, [contextLineBlock(sentence)]),
    blocks: blocks.toSpliced(at, 1, ...replacements),
  };
}

function isUsedOnce(element: object): boolean {
  return 'action_id' in element && Object.hasOwn(strings.buttonUses, String(element.action_id));
}

/** Thumbs below an answer (`feedback`); the value says which, and names the turn. */
export function feedbackButtons(turnId: string): ContextActionsBlock {
  const thumb = (good: boolean) => ({
    text: plainText(good ? strings.buttons.feedback.label : strings.labels.thumbsDown),
    accessibility_label: good ? strings.thumbsUpLabel : strings.thumbsDownLabel,
    value: `${good ? 'good' : 'bad'}/${turnId}`,
  });
  const element = {
    type: 'feedback_buttons' as const,
    action_id: 'feedback',
    positive_button: thumb(true),
    negative_button: thumb(false),
  };
  return { type: 'context_actions', elements: [element] };
}
