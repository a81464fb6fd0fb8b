import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { controlRefusal, permittedTurn, useOnTurn } from '../relay/access/control-permission.ts';
import {
  type ButtonHandlers,
  type ControlOutcome,
  type ControlRequest,
  type FormHandlers,
  type FormSubmission,
  turnOf,
} from '../relay/runtime/control-request.ts';
import type { RelayDeps } from '../relay/runtime/deps.ts';
import { inBackground } from '../relay/runtime/poller.ts';
import { trySendEphemeral } from '../relay/runtime/private-notices.ts';
import {
  formModal,
  MAX_INPUT_CHARACTERS,
  type Modal,
  textInput,
  type ViewBlock,
} from '../render/blocks/modal.ts';
import {
  contextLineBlock,
  messageOfBlocks,
  mrkdwnSection,
  plainText,
  sectionBlock,
} from '../render/blocks/slack-blocks.ts';
import { formatChannel, formatPerson } from '../render/blocks/task-lines.ts';
import { noteWithButtons } from '../render/messages/button-notes.ts';
import * as strings from '../render/strings/index.ts';
import { formatAge, shorten } from '../render/text-format.ts';
import type { FeedbackKey } from '../store/feedback-ratings.ts';
import type { Turn } from '../store/schema.ts';
import type { Store } from '../store/store.ts';
import { type ModalContent, openAndFillModal } from './modals.ts';

const CONTROL = 'feedback';

/** Feedback on answers: one thumb per person and answer, and an optional comment. */
export function answerFeedback(deps: RelayDeps): {
  buttons: ButtonHandlers<'feedback' | 'feedback_comment'>;
  forms: FormHandlers;
} {
  const { title } = strings.feedback;
  return {
    buttons: {
      feedback: (press) => rate(deps, press, press.value.startsWith('good/')),
      feedback_comment: (press) => openAndFillModal(deps, press, title, () => commentForm(deps, press)),
    },
    forms: { feedback_comment: (form) => submitComment(deps, form) },
  };
}

/** Saves a thumb in place of the person's earlier one. */
async function rate(deps: RelayDeps, request: ControlRequest, good: boolean): Promise<ControlOutcome> {
  const { workspace, turnId, person } = request;
  const turn = await permittedTurn(deps, request, CONTROL, true);
  if (typeof turn === 'string') return turn;
  await deps.store.feedback.rate({ workspace, turn_id: turnId, user_id: person }, good);
  deps.log.info({ turn: turnId, good }, 'feedback received');
  const { channel, thread_ts: threadTs } = turn;
  const thanks = noteWithButtons(strings.feedback.thanks, ['feedback_comment'], turnId);
  trySendEphemeral(deps, { workspace, channel, person, threadTs }, thanks);
  return 'done';
}

async function commentForm(deps: RelayDeps, request: ControlRequest): Promise<ModalContent> {
  const { workspace, turnId, person } = request;
  const turn = await turnOf(deps.store, request);
  if (turn === undefined) return strings.controlFailed.unknown;
  const refusal = await controlRefusal(deps, { ...useOnTurn(turn, person, CONTROL), isReadOnly: true });
  if (refusal !== undefined) return refusal;
  const given = await deps.store.feedback.get({ workspace, turn_id: turnId, user_id: person });
  return commentView(turnId, given?.comment ?? null);
}

/** Saves a comment with the person's thumb, and tells its writer. */
async function submitComment(deps: RelayDeps, { workspace, person, metadata, input }: FormSubmission) {
  const turnId = z.uuid().safeParse(metadata).data;
  const comment = (input('comment')?.value ?? '').trim().slice(0, MAX_INPUT_CHARACTERS);
  if (turnId === undefined || comment === '') return undefined;
  const { store, log } = deps;
  const key = { workspace, turn_id: turnId, user_id: person };
  const turn = await store.turns.get(workspace, turnId);
  if (turn === undefined) return { errors: { comment: strings.controlFailed.unknown } };
  const use = { ...useOnTurn(turn, person, CONTROL), isReadOnly: true, isInView: true };
  const refusal = await controlRefusal(deps, use);
  if (refusal !== undefined) return { errors: { comment: refusal } };
  // The thumb may have been erased meanwhile.
  if (!(await store.feedback.addComment(key, comment)))
    return { errors: { comment: strings.feedback.tooLate } };
  const { channel, thread_ts: threadTs } = turn;
  trySendEphemeral(deps, { workspace, channel, person, threadTs }, strings.feedback.saved);
  inBackground(
    postComment(deps, key, turn, comment),
    log,
    'a comment was not posted in FEEDBACK_CHANNEL',
    'warn',
  );
  return undefined;
}

/** Posts a comment in the channel of the settings. Throws a SlackError. */
async function postComment(deps: RelayDeps, key: FeedbackKey, turn: Turn, text: string) {
  const { feedbackChannel: channel } = deps.settings;
  const workspace = deps.workspace(key.workspace);
  if (channel === undefined || workspace === undefined) return;
  const { posting, people } = workspace;
  const given = await deps.store.feedback.get(key);
  const thumb = given?.is_positive === true ? strings.buttons.feedback.label : strings.labels.thumbsDown;
  const heading = strings.feedback.received(thumb, await people.personName(key.user_id));
  const url = await posting.getPermalink({ channel: turn.channel, ts: turn.thread_ts });
  const message = messageOfBlocks([
    contextLineBlock(heading),
    sectionBlock(text),
    mrkdwnSection(`<${url}|${strings.buttons.open_thread.label}>`),
  ]);
  await posting.post({ channel, message, key: randomUUID(), kind: 'notice' });
}

/** The form for a comment on a turn's answer; `written` is the person's earlier comment. */
export function commentView(turnId: string, written: string | null): Modal {
  const { title, label, hint } = strings.feedback;
  const field = { initial: written, multiline: true };
  const form = { callback: 'feedback_comment', metadata: turnId, submit: strings.labels.send };
  return formModal(title, [textInput('comment', { label, hint }, field)], form);
}

const MAX_COMMENTS = 5;
/** How far back comments are looked for. */
const SHOWN_MS = 7 * 24 * 60 * 60_000;
const MAX_CHARACTERS = 500;

/** The newest comments on answers: a section of an admin's Home tab. */
export async function feedbackSection(
  { feedback }: Pick<Store, 'feedback'>,
  workspace: string,
): Promise<ViewBlock[]> {
  const given = await feedback.inRange({ since: new Date(Date.now() - SHOWN_MS), workspace });
  const rows = given.filter(({ comment }) => comment !== null).slice(-MAX_COMMENTS);
  const comments = rows
    .toReversed()
    .flatMap(({ comment, is_positive, user_id, channel, given_at }): ViewBlock[] => {
      const facts = [
        is_positive ? strings.buttons.feedback.label : strings.labels.thumbsDown,
        formatPerson(user_id),
        channel === null ? '' : formatChannel(channel),
        formatAge(Date.now() - given_at.getTime()),
      ];
      return [
        mrkdwnSection(facts.filter((fact) => fact !== '').join(' · ')),
        sectionBlock(shorten(comment ?? '', MAX_CHARACTERS)),
      ];
    });
  return [
    { type: 'divider' },
    { type: 'header', text: plainText(strings.feedback.heading) },
    ...(comments.length === 0 ? [contextLineBlock(strings.feedback.none)] : comments),
  ];
}
