import { randomUUID } from 'node:crypto';
import type { SupportedTaskOptions } from '../../agent/service-options.ts';
import { within } from '../../calls/retries-and-waits.ts';
import { showButtonUse } from '../../relay/controls/continue-and-retry.ts';
import { refreshPausedNotice } from '../../relay/controls/paused-messages.ts';
import { filesOf } from '../../relay/reading/message-parser.ts';
import { toSingleLine } from '../../relay/reading/message-to-markdown.ts';
import { parseTable } from '../../relay/reading/pasted-tables.ts';
import { misspeltFlag, parseFlags } from '../../relay/reading/typed-choices.ts';
import type {
  ChannelActor,
  FormHandlers,
  FormSubmission,
  WorkspaceActor,
} from '../../relay/runtime/control-request.ts';
import type { RelayDeps, WorkspaceClient } from '../../relay/runtime/deps.ts';
import { inBackground } from '../../relay/runtime/poller.ts';
import { isEmptyMessage } from '../../relay/sending/empty-message.ts';
import { inviteMe } from '../../relay/tasks/task-list-and-access.ts';
import type { Modal } from '../../render/blocks/modal.ts';
import { mrkdwnContextBlock, type RenderedMessage, sectionBlock } from '../../render/blocks/slack-blocks.ts';
import * as strings from '../../render/strings/index.ts';
import { shorten } from '../../render/text-format.ts';
import type { MessageContent, TaskChoices, TaskStart } from '../../store/schema.ts';
import { type PostOutcome, type QuestionPoster, verbatimContent } from './question-post.ts';
import {
  parseStartFormMetadata,
  START_CALLBACK,
  type StartFormMetadata,
  startNoticeView,
} from './start-form-view.ts';
import { startRefusal } from './start-permission.ts';

/** Longest work before the response (ms), which Slack wants within 3 s; the rest continues after it. */
const ANSWER_TIMEOUT_MS = 1_800;
/** Most characters of a question that is given back (https://docs.slack.dev/reference/block-kit/blocks/section-block). */
const MAX_RETURNED = 3_000;

export interface StartFormSubmission extends WorkspaceActor, StartFormMetadata {
  /** Undefined for a question that was asked by a command. */
  viewId: string | undefined;
  values: StartFormValues;
}

/** What the form shows next: an error message, or another view. It closes without one. */
export type StartFormAnswer = string | Modal | undefined;

export type StartSubmissions = ReturnType<typeof startSubmissions>;

/** Handles submitted start forms: each starts one task, however often it is submitted. */
export function startSubmissions(deps: RelayDeps, sendQuestion: QuestionPoster['send']) {
  const forms: FormHandlers = {
    [START_CALLBACK]: async (form) => {
      const metadata = parseStartFormMetadata(form.metadata);
      if (metadata === undefined) return undefined;
      const { workspace, person, viewId, firstInput } = form;
      const answer = await submit({ ...metadata, workspace, person, viewId, values: formValues(form) });
      return typeof answer === 'string' ? { errors: { [firstInput]: answer } } : answer && { view: answer };
    },
  };

  /** Handles a submitted form. Returns in time for Slack, however slow Slack or the database is. */
  async function submit(submission: StartFormSubmission): Promise<StartFormAnswer> {
    const { store, settings } = deps;
    const workspace = deps.workspace(submission.workspace);
    const start = await store.taskStarts.get(submission);
    const channel = submission.values.channel ?? start?.channel ?? submission.channel;
    if (workspace === undefined || channel === undefined) return startNoticeView(strings.startForm.gone);
    // The draft of a form that stayed open for hours has been deleted.
    if (start === undefined && submission.drafted === true) return strings.startForm.contentForgotten;
    const startedAt = performance.now();
    const { person } = submission;
    const openedThere = channel === submission.channel || channel === submission.from;
    const target = { channel, person, openedThere, source: start };
    const refusal = await startRefusal(deps, workspace, target);
    if (refusal !== undefined) return refusal;
    const source = start?.source_content ?? null;
    const content = messageOfForm(submission.values, source, settings.supportedTaskOptions);
    if (isEmptyMessage(content, workspace.bot.userId)) return strings.startForm.empty;
    const typed = submission.values.question === undefined ? '' : content.text;
    const misspelt = misspeltFlag(typed, settings.supportedTaskOptions);
    if (misspelt !== undefined) return strings.unknownFlag(misspelt);
    const leftMs = ANSWER_TIMEOUT_MS - (performance.now() - startedAt);
    if (start?.thread_ts != null) return addToThread(workspace, start, content, leftMs, submission.reply);
    return postToChannel(workspace, submission, channel, content, leftMs);
  }

  async function postToChannel(
    workspace: WorkspaceClient,
    submission: StartFormSubmission,
    channel: string,
    content: MessageContent,
    leftMs: number,
  ): Promise<StartFormAnswer> {
    const { id, person, viewId } = submission;
    const question = { workspace: workspace.id, id, user_id: person, channel, content };
    const form: { outcome?: PostOutcome | 'later'; isOpen: boolean } = { isOpen: true };
    const sending = sendQuestion(question, (outcome) => {
      form.outcome = outcome;
      return form.isOpen;
    });
    await within(leftMs, sending, undefined);
    form.isOpen = false;
    const { outcome } = form;
    if (outcome === 'posted') return undefined;
    if (outcome !== undefined && outcome !== 'later') {
      await sending;
      return postRefusalText(workspace, outcome);
    }
    const showOutcome = async (view: string) => {
      await sending;
      if (form.outcome === 'later') return;
      const sentence = form.outcome === 'posted' ? strings.startForm.posted : strings.startForm.returned;
      await workspace.views.update(view, startNoticeView(sentence));
    };
    if (viewId !== undefined) inBackground(showOutcome(viewId), deps.log, 'could not update a start form');
    return startNoticeView(strings.startForm.slow);
  }

  async function addToThread(
    workspace: WorkspaceClient,
    start: TaskStart,
    content: MessageContent,
    leftMs: number,
    reply: string | undefined,
  ): Promise<StartFormAnswer> {
    const { channel, thread_ts, message_ts, user_id, source_turn_id, id } = start;
    if (start.state === 'done') return undefined;
    if (thread_ts === null || message_ts === null) return startNoticeView(strings.startForm.gone);
    if (source_turn_id === null) {
      // If Slack does not answer in time, the turn itself will find out.
      const known = workspace.people.isBotIn(channel).catch(() => true);
      const isBotThere = await within(leftMs, known, true);
      if (!isBotThere) return postRefusalText(workspace, 'invite');
    }
    const thread = { workspace: workspace.id, channel, thread_ts };
    const result = await deps.store.transaction(async (store, trx): Promise<StartFormAnswer> => {
      await store.threads.lock(thread);
      if (!(await store.taskStarts.finish({ workspace: workspace.id, id }))) return undefined;
      if (
        source_turn_id !== null &&
        !(await store.turns.claimButton({ workspace: workspace.id, id: source_turn_id }, message_ts))
      )
        return startNoticeView(strings.startForm.alreadyAskedAgain);
      const account_id = deps.accountOf(workspace.id);
      await store.threads.adopt(thread, { account_id, user_id, ts: message_ts });
      const again = source_turn_id === null ? {} : { revises_turn_id: source_turn_id };
      const row = { thread_ts, user_id, state: 'waiting', content, edited_ts: null, ...again } as const;
      await store.messages.add({ workspace: workspace.id, channel, ts: message_ts }, row);
      await deps.enqueue(trx, thread);
      return undefined;
    });
    refreshPausedNotice(deps, { workspace: workspace.id, channel, ts: message_ts });
    const { store, log } = deps;
    const source = source_turn_id === null ? undefined : await store.turns.get(workspace.id, source_turn_id);
    if (source !== undefined && reply !== undefined)
      inBackground(showButtonUse(deps, source, reply), log, 'could not take away a used button');
    return result;
  }

  /** Asks by `/agent <question>` as the form does, in the channel. Throws a StoreError. */
  async function ask({ workspace, channel, person }: ChannelActor, question: string) {
    const values = { channel, question, choices: {}, files: [] };
    const form = { id: randomUUID(), channel, from: channel, viewId: undefined };
    return commandAnswer(await submit({ workspace, person, ...form, values }), question);
  }

  return { forms, ask };
}

/** What `/agent <question>` answers; a refused question is given back. */
export function commandAnswer(answer: StartFormAnswer, question: string): RenderedMessage {
  if (typeof answer === 'string')
    return { text: answer, blocks: [sectionBlock(answer), sectionBlock(shorten(question, MAX_RETURNED))] };
  const text = answer === undefined ? strings.command.asked : strings.startForm.slow;
  return { text, blocks: [sectionBlock(text), mrkdwnContextBlock(strings.command.otherWords)] };
}

async function postRefusalText(
  workspace: WorkspaceClient,
  reason: Exclude<PostOutcome, 'posted'>,
): Promise<string> {
  if (reason === 'unreachable') return strings.startForm.cannotPost;
  if (reason === 'refused') return strings.startForm.refused;
  return inviteMe(workspace);
}

/** What a form holds; undefined for fields that it did not have. */
export interface StartFormValues {
  channel: string | undefined;
  question: string | undefined;
  choices: TaskChoices;
  /** Slack's file objects. */
  files: readonly unknown[];
}

function formValues({ input }: FormSubmission): StartFormValues {
  const chosen = (id: string) => input(id)?.selected_option?.value;
  const typed = (id: string) => toSingleLine(input(id)?.value ?? '');
  const [model, mode, title] = [chosen('model'), chosen('mode'), typed('title')];
  const skill = chosen('used_skill') ?? typed('skill');
  const noFallback = (input('fallback')?.selected_options ?? []).length > 0;
  const question = input('question');
  return {
    channel: input('channel')?.selected_conversation ?? undefined,
    question: question && (question.value ?? ''),
    choices: {
      ...(title !== '' && { title }),
      ...(model !== undefined && model !== 'usual' && { model }),
      ...(skill !== '' && { skill }),
      ...(noFallback && { noFallback }),
      ...((mode === 'auto' || mode === 'plan') && { mode }),
    },
    files: input('files')?.files ?? [],
  };
}

/**
 * The message of a form: its question with the tables and attachments of the one that it asks again, or that one itself where
 * it was too long to edit. Its fields win over flags.
 */
export function messageOfForm(
  values: StartFormValues,
  source: MessageContent | null,
  supportedFlags: SupportedTaskOptions,
): MessageContent {
  const typed = parseFlags(values.question ?? '', supportedFlags);
  const isQuestionShown = values.question !== undefined || source === null || source.about !== undefined;
  const files = filesOf({ files: [...(source?.files ?? []), ...values.files] });
  const { text, blocks } = isQuestionShown ? verbatimContent(typed.text) : (source ?? { text: '' });
  const tables = source?.blocks?.filter((block) => parseTable(block) !== undefined) ?? [];
  const allBlocks = isQuestionShown ? [...(blocks ?? []), ...tables] : (blocks ?? []);
  const { about, attachments } = source ?? {};
  return {
    text,
    ...(allBlocks.length > 0 && { blocks: allBlocks }),
    ...(attachments && { attachments }),
    ...(files.length > 0 && { files }),
    ...(about && { about }),
    choices: { ...typed.choices, ...values.choices },
  };
}
