import type { ContextActionsBlock } from '@slack/types';
import {
  actionsBlock,
  type ButtonId,
  buttonElement,
  contextLineBlock,
  plainText,
  type RenderedMessage,
  sectionBlock,
} from '../blocks/slack-blocks.ts';
import { truncateBytes } from '../markdown/fallback-text.ts';
import * as strings from '../strings/index.ts';

/** UTF-8 bytes of a text that Slack gave back: chat.update refuses 4,000. */
const MAX_TEXT_BYTES = 3_900;

/** Offers to send the new text of a message that the agent already has (`correct`; the value is the turn's id). */
export function lateEditNote(turnId: string, isAnswered: boolean): RenderedMessage {
  const text = isAnswered ? strings.editedAfterAnswer : strings.editedAfterSending;
  return noteWithButtons(text, ['correct'], turnId);
}

/** Offers to stop the turn of a message that was deleted after it was sent. */
export function lateDeletionNote(turnId: string): RenderedMessage {
  return noteWithButtons(strings.deletedAfterSending, ['stop'], turnId);
}

/** Says that a task keeps its model or options, and offers a new thread (`new_thread`). */
export function fixedChoicesNote(turnId: string, isModel: boolean): RenderedMessage {
  const text = isModel ? strings.modelFixed : strings.optionsFixed;
  return noteWithButtons(text, ['new_thread'], turnId);
}

/**
 * Says that messages are paused since the agent was stopped, with buttons to send (`send_paused`) or discard (`discard_paused`) them;
 * their value is the id of the stopped turn. `who` is a name, or ''.
 */
export function pausedNotice(turnId: string, count: number, who: string): RenderedMessage {
  return noteWithButtons(strings.messagesPaused(count, who), ['send_paused', 'discard_paused'], turnId);
}

/** How work that goes on after a turn's answer stands. */
export type BackgroundState = keyof typeof strings.backgroundNotices;

/** Says how the work after a turn's answer stands, and offers to stop it (`stop`; the value is the turn's id). */
export function backgroundNotice(turnId: string, state: BackgroundState): RenderedMessage {
  const text = strings.backgroundNotices[state];
  if (state === 'working') return noteWithButtons(text, ['stop'], turnId);
  const stopNow = () => actionsBlock([buttonElement('stop', turnId, strings.labels.stopNow)]);
  return { text, blocks: [sectionBlock(text), ...(state === 'stopping' ? [stopNow()] : [])] };
}

/** Offers to pass a waiting message on to the run at work (`send_now`; the value is the message's ts). */
export function sendNowNote(ts: string): RenderedMessage {
  return noteWithButtons(strings.messageQueued, ['send_now'], ts);
}

/** Says to its writer that a reply was not sent (`send_reply`, `keep_listening`; the value is the message's ts). */
export function unsentReplyNote(ts: string): RenderedMessage {
  return noteWithButtons(strings.replyNotSent, ['send_reply', 'keep_listening'], ts);
}

/** Says in a thread that every reply goes to the agent, and how to undo it (`stop_listening`). */
export function listeningNotice({ thread_ts }: { thread_ts: string }, who: string): RenderedMessage {
  return noteWithButtons(strings.listening(who), ['stop_listening'], thread_ts);
}

/** The same post once no messages are paused. */
export function pauseEndedNotice(sentence: string): RenderedMessage {
  return { text: sentence, blocks: [{ type: 'context', elements: [plainText(sentence)] }] };
}

/** A sentence with buttons below it; `value` is the same for all. */
export function noteWithButtons(text: string, buttons: readonly ButtonId[], value: string): RenderedMessage {
  const elements = buttons.map((id) => buttonElement(id, value));
  return { text, blocks: [sectionBlock(text), actionsBlock(elements)] };
}

/** A message of ours as Slack gives it back: its blocks may be of other types than those that were sent. */
export interface ShownMessage {
  text: string;
  blocks: readonly { type: string; elements?: readonly object[] | undefined }[];
}

/** The buttons of a reply of which one can be used, once. */
const USED_ONCE: ReadonlySet<unknown> = new Set([
  'go_ahead',
  'stop_here',
  'continue',
  'retry',
  'choose_again',
]);

/** The same message with a sentence about who used the button in place of those buttons; undefined if it has none. */
export function withButtonUsed({ text, blocks }: ShownMessage, sentence: string): ShownMessage | undefined {
  const at = blocks.findIndex((block) => block.type === 'actions' && block.elements?.some(isUsedOnce));
  const block = blocks[at];
  if (block === undefined) return undefined;
  const left = block.elements?.filter((element) => !isUsedOnce(element)) ?? [];
  const replacements = [
    contextLineBlock(sentence),
    ...(left.length === 0 ? [] : [{ ...block, elements: left }]),
  ];
  return { text: truncateBytes(text, MAX_TEXT_BYTES), blocks: blocks.toSpliced(at, 1, ...replacements) };
}

function isUsedOnce(element: object): boolean {
  return 'action_id' in element && USED_ONCE.has(element.action_id);
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

/** Thanks, with a button to comment (`feedback_comment`; the value is the turn's id). */
export function feedbackThanksMessage(turnId: string): RenderedMessage {
  return noteWithButtons(strings.feedback.thanks, ['feedback_comment'], turnId);
}
