import { v5 as uuidOf } from 'uuid';
import type { SupportedTaskOptions } from '../../agent/service-options.ts';
import { timeLimit, within } from '../../calls/retries-and-waits.ts';
import { certainClosingAt, openPlaces, recordRefusal } from '../../relay/access/access-policy.ts';
import { controlRefusal, useOnTurn } from '../../relay/access/control-permission.ts';
import { exceededQuota } from '../../relay/access/quotas.ts';
import { type Refusal, refusalAuditDetails, refusalTold } from '../../relay/access/refusals.ts';
import { useDenial } from '../../relay/access/rights.ts';
import { filesOf } from '../../relay/reading/message-parser.ts';
import { parseTable } from '../../relay/reading/pasted-tables.ts';
import { flagsOf, misspeltFlag, parseFlags } from '../../relay/reading/typed-choices.ts';
import type {
  ChannelActor,
  FormHandlers,
  FormSubmission,
  WorkspaceActor,
} from '../../relay/runtime/control-request.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import { isDirectChannel } from '../../relay/runtime/incoming-message.ts';
import { isEmptyMessage } from '../../relay/sending/empty-message.ts';
import { inviteMe } from '../../relay/tasks/task-summaries.ts';
import { type Modal, noticeModal } from '../../render/blocks/modal.ts';
import {
  MAX_SECTION_CHARACTERS,
  messageOfBlocks,
  mrkdwnContextBlock,
  type RenderedMessage,
  sectionBlock,
} from '../../render/blocks/slack-blocks.ts';
import * as strings from '../../render/strings/index.ts';
import { shorten, toSpacedLine } from '../../render/text-format.ts';
import type { MessageContent, SlackTs, TaskChoices, TaskStart, Turn } from '../../store/schema.ts';
import type { TaskStartQuestion } from '../../store/tasks/task-starts.ts';
import { WHOLE_WORKSPACE } from '../../store/workspaces/settings-store.ts';
import type { ModalTrigger } from '../modals.ts';
import { refusedTurn } from './asked-again.ts';
import { offeredPrompts } from './offered-prompts.ts';
import { quotation, verbatimContent } from './question-post.ts';
import { parseStartFormMetadata, START_CALLBACK, type StartFormMetadata } from './start-form-view.ts';

/** Longest work before the response (ms), which Slack wants within 3 s; the rest continues after it. */
const ANSWER_TIMEOUT_MS = 1_800;
/** Longest lookup of the person and their membership in the channel (ms). */
const LOOKUP_TIMEOUT_MS = 900;
/** Longest lookup of whether the person may still use the agent where the form opened (ms). */
const PROMPT_TIMEOUT_MS = 700;
/** The namespace of the ids of questions that commands ask. */
const COMMANDS = '5c1f6b1e-3c0e-4f0a-9d0c-6f2b7a4e8d31';

export interface StartFormSubmission extends WorkspaceActor, StartFormMetadata {
  values: StartFormValues;
}

/** What the form shows next: an error message, perhaps below a field of its own, or another view. It closes without one. */
export type StartFormAnswer = string | { field: 'prompt' | 'question'; sentence: string } | Modal | undefined;

export type StartSubmissions = ReturnType<typeof startSubmissions>;

/** Handles submitted start forms: each starts one task, however often it is submitted. `runDue`: begins the jobs that are due. */
export function startSubmissions(deps: RelayDeps, runDue: () => void) {
  const forms: FormHandlers = {
    [START_CALLBACK]: async (form) => {
      const metadata = parseStartFormMetadata(form.metadata);
      const { workspace, person, firstInput } = form;
      const answer = await submit({ ...metadata, workspace, person, values: formValues(form) });
      if (typeof answer === 'string') return { errors: { [firstInput]: answer } };
      if (answer === undefined || 'type' in answer) return answer && { view: answer };
      const { field, sentence } = answer;
      return { errors: { [form.input(field) === undefined ? firstInput : field]: sentence } };
    },
  };

  /** Handles a submitted form. Returns in time, however slow Slack is. Throws a StoreError. */
  async function submit(submission: StartFormSubmission): Promise<StartFormAnswer> {
    const { store, settings } = deps;
    const workspace = deps.workspace(submission.workspace);
    const start = await store.taskStarts.get(submission);
    const { person } = submission;
    const chosen = submission.values.channel ?? start?.channel ?? submission.channel;
    const channel = start?.thread_ts == null ? chosen : start.channel;
    if (workspace === undefined || channel === undefined) return strings.startForm.gone;
    if (start !== undefined && start.user_id !== person) return strings.startForm.gone;
    // The draft of a form that stayed open for hours has been deleted.
    if (start === undefined && submission.drafted === true) return strings.startForm.contentForgotten;
    const startedAt = performance.now();
    const asker = { workspace: workspace.id, channel, person };
    const openedThere = channel === submission.channel || channel === submission.from;
    const refused = start && (await refusedTurn(store, start));
    // Whoever opened the form could control the thread then.
    const use = refused && { ...useOnTurn(refused, person, 'choose_again'), isInView: true };
    const refusal =
      (await startRefusal(asker, openedThere, start)) ?? (use && (await controlRefusal(deps, use)));
    if (refusal !== undefined) return refusal;
    const values = await withPrompt(submission, channel);
    const { promptGone, choicesFixed, empty, archived } = strings.startForm;
    if (values === undefined) return { field: 'prompt', sentence: promptGone };
    const source = start?.source_content ?? null;
    const written = messageOfForm(values, source, settings.supportedTaskOptions);
    const asked = source && flagsOf(source, workspace.bot.userId, settings.supportedTaskOptions);
    const content =
      values.isTaskStarted === true ? withChoicesOfTask(written, asked?.choices ?? {}) : written;
    if (content === undefined) return { field: 'question', sentence: choicesFixed };
    if (isEmptyMessage(content, workspace.bot.userId)) return { field: 'question', sentence: empty };
    const typed = values.question === undefined ? '' : content.text;
    const misspelt = misspeltFlag(typed, settings.supportedTaskOptions);
    if (misspelt !== undefined) return { field: 'question', sentence: strings.unknownFlag(misspelt) };
    const leftMs = ANSWER_TIMEOUT_MS - (performance.now() - startedAt);
    // If Slack does not say in time whether the bot can post there, the post itself will find out.
    const known = workspace.people.botPlaceIn(channel, leftMs).catch(() => undefined);
    const place = await within(leftMs, known, undefined);
    if (place === 'archived') return archived;
    if (place === 'outside') return inviteMe(workspace);
    const { id } = submission;
    const question = { workspace: workspace.id, id, user_id: person, channel, content };
    const answer = await send(question, refused, start?.message_ts);
    runDue();
    return answer;
  }

  /**
   * The sentence for a person who may not start a task in a channel; undefined if they may. A form may name any channel.
   * A person whom Slack has not identified in time is refused, and a channel of which it does not say who is in it, unless it
   * told us that they opened the form there: hours ago, maybe. The message that the question is about was written at `source`.
   */
  async function startRefusal(
    asker: ChannelActor,
    openedThere: boolean,
    source: TaskStart | undefined,
  ): Promise<string | undefined> {
    const { workspace, channel, person } = asker;
    const { store, settings } = deps;
    const closing = source && (await certainClosingAt(deps, source));
    const place = openedThere ? 'reading' : 'listed';
    const late = timeLimit(LOOKUP_TIMEOUT_MS);
    const why = closing ?? (await useDenial(deps, asker, place, late));
    const exceeded =
      why === undefined
        ? await exceededQuota(store.turnUsage, workspace, person, settings.quotas)
        : undefined;
    const refusal: Refusal | undefined = why === undefined ? exceeded && { why: 'limit', exceeded } : { why };
    if (refusal === undefined) return undefined;
    const isForeign = why === 'outsider' && isDirectChannel(channel);
    const details = { ...refusalAuditDetails(refusal), ...(isForeign && { why: 'foreign' }) };
    await recordRefusal(deps, asker, { ...details, control: 'start' });
    if (isForeign) return strings.startForm.foreign;
    return refusalTold(deps, asker, refusal, 'form');
  }

  /** The values with the words of the chosen prompt before those that were typed; undefined if it is no longer offered. */
  async function withPrompt(
    { values, workspace, person, ...form }: StartFormSubmission,
    channel: string,
  ): Promise<StartFormValues | undefined> {
    if (values.prompt === undefined) return values;
    const opened = { workspace, channel: form.channel ?? form.from ?? WHOLE_WORKSPACE, person };
    // A channel's own prompts are for people who may still use the agent there.
    const late = timeLimit(PROMPT_TIMEOUT_MS);
    const isReader =
      opened.channel === channel || (await useDenial(deps, opened, 'acting', late)) === undefined;
    const offered = await offeredPrompts(deps, isReader ? opened : { workspace, channel: WHOLE_WORKSPACE });
    const prompt = offered.find(({ title }) => title === values.prompt)?.prompt;
    if (prompt === undefined) return undefined;
    return { ...values, question: `${prompt}\n\n${values.question ?? ''}`.trim() };
  }

  /** Saves a question to be shown in its thread; one that was refused is asked again once, by a form requested at `askedAt`. */
  async function send(question: TaskStartQuestion, refused: Turn | undefined, askedAt?: SlackTs | null) {
    return deps.store.transaction(async ({ taskStarts, turns }) => {
      if (!(await taskStarts.send(question))) return undefined;
      if (refused === undefined || askedAt == null) return undefined;
      if (await turns.claimButton(refused, 'button_message_ts', askedAt)) return undefined;
      await taskStarts.finish(question);
      return noticeModal(strings.startForm.heading, strings.startForm.alreadyAskedAgain);
    });
  }

  /** Asks by `/agent <question>` as the form does, in the channel: once, however often Slack delivers it. Throws a StoreError. */
  async function ask(
    { workspace, channel, person, triggerId }: ChannelActor & ModalTrigger,
    question: string,
  ) {
    const values = { channel, question, choices: {}, files: [] };
    const form = { id: uuidOf(triggerId, COMMANDS), channel, from: channel };
    const submitted = await submit({ workspace, person, ...form, values });
    const isAboutField = typeof submitted === 'object' && 'field' in submitted;
    const answer = isAboutField ? submitted.sentence : submitted;
    const isClosed = typeof answer === 'string' && (await certainClosingAt(deps, { workspace, channel }));
    return commandAnswer(answer, question, isClosed ? await openPlaces(deps, workspace) : '');
  }

  return { forms, ask };
}

/** What `/agent <question>` answers; a refused question is given back. `where` says in mrkdwn where else to ask, or ''. */
export function commandAnswer(
  answer: string | Modal | undefined,
  question: string,
  where = '',
): RenderedMessage {
  if (typeof answer === 'string') {
    const said = [sectionBlock(answer), ...(where === '' ? [] : [mrkdwnContextBlock(where)])];
    const given = [quotation(shorten(question, MAX_SECTION_CHARACTERS))];
    return messageOfBlocks([...said, { type: 'rich_text', elements: given }]);
  }
  const { asked, otherWords } = strings.command;
  return messageOfBlocks([sectionBlock(asked), mrkdwnContextBlock(otherWords)]);
}

/** What a form holds; undefined for fields that it did not have. */
export interface StartFormValues {
  channel: string | undefined;
  /** The title of the chosen prompt. */
  prompt?: string | undefined;
  question: string | undefined;
  choices: TaskChoices;
  /** Slack's file objects. */
  files: readonly unknown[];
  /** Its task keeps the choices that it began with: the form asks for no others. */
  isTaskStarted?: boolean;
}

function formValues({ input }: FormSubmission): StartFormValues {
  const chosen = (id: string) => input(id)?.selected_option?.value;
  const typed = (id: string) => toSpacedLine(input(id)?.value ?? '');
  const [model, mode, title] = [chosen('model'), chosen('mode'), typed('title')];
  const skill = chosen('used_skill') ?? typed('skill');
  const noFallback = (input('fallback')?.selected_options ?? []).length > 0;
  const question = input('question');
  return {
    channel: input('channel')?.selected_conversation ?? undefined,
    prompt: chosen('prompt'),
    question: question && (question.value ?? ''),
    choices: {
      ...(title !== '' && { title }),
      ...(model !== undefined && model !== 'usual' && { model }),
      ...(skill !== '' && { skill }),
      ...(noFallback && { noFallback }),
      ...((mode === 'auto' || mode === 'plan') && { mode }),
    },
    files: input('files')?.files ?? [],
    isTaskStarted: input('title') === undefined,
  };
}

/** A message to a task that began with these choices; undefined if it makes others than that of a skill. */
function withChoicesOfTask(message: MessageContent, begun: TaskChoices) {
  const { skill: _, ...kept } = begun;
  const { skill, ...others } = message.choices ?? {};
  if (Object.keys(others).length > 0) return undefined;
  return { ...message, choices: { ...kept, ...(skill !== undefined && { skill }) } };
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
