import { setTimeout as sleep } from 'node:timers/promises';
import { fileNamesOf, parseMessage } from '../../relay/reading/message-parser.ts';
import type { WorkspaceActor } from '../../relay/runtime/actors.ts';
import type { RelayDeps, WorkspaceClient } from '../../relay/runtime/deps.ts';
import { isDirectChannel } from '../../relay/runtime/incoming-message.ts';
import type { Modal } from '../../render/blocks/modal.ts';
import * as strings from '../../render/strings/index.ts';
import type { MessageKey } from '../../store/keys.ts';
import type { MessageContent, TaskStart } from '../../store/schema.ts';
import type { PostOutcome, QuestionPoster } from './question-poster.ts';
import { messageOfForm, type StartFormValues } from './start-form-message.ts';
import { emptyStartForm, type StartFormMetadata, startFormView, startNoticeView } from './start-form-view.ts';
import { type StartChannelRefusal, startChannelRefusal, startRefusal } from './start-permission.ts';

/** Longest work before the response (ms), which Slack wants within 3 s; the rest continues after it. */
const ANSWER_TIMEOUT_MS = 1_800;
/** Longest lookup of the sender, and of their membership in the channel (ms each, part of the above). */
const PERSON_LOOKUP_TIMEOUT_MS = 900;
/** Longest lookup of the bot's own name (ms). */
const BOT_NAME_TIMEOUT_MS = 500;

export interface StartFormSubmission extends WorkspaceActor, StartFormMetadata {
  viewId: string;
  values: StartFormValues;
}

/** What the form shows next: an error message, or another view. It closes without one. */
export type StartFormAnswer = string | Modal | undefined;

export interface StartFormSubmissionsDeps extends RelayDeps {
  questionPoster: Pick<QuestionPoster, 'post'>;
  /** Called for each message that a form adds to an existing thread. */
  onMessageAdded: (message: MessageKey) => void;
}

/** Handles submitted start forms: each starts one task, however often it is submitted. */
export class StartFormSubmissions {
  readonly #deps: StartFormSubmissionsDeps;

  constructor(deps: StartFormSubmissionsDeps) {
    this.#deps = deps;
  }

  /** Handles a submitted form. Returns in time for Slack, however slow Slack or the database is. */
  async submit(submission: StartFormSubmission): Promise<StartFormAnswer> {
    const { store, settings } = this.#deps;
    const workspace = this.#deps.workspace(submission.workspace);
    const start = await store.taskStarts.get(submission);
    const channel = submission.values.channel ?? start?.channel ?? submission.channel;
    if (workspace === undefined || channel === undefined) return startNoticeView(strings.startForm.gone);
    if (start === undefined && submission.drafted === true) return this.#reopenExpired(submission, channel);
    const startedAt = performance.now();
    const { person } = submission;
    const actor = { workspace: workspace.id, channel, person };
    const refusal = await startRefusal(this.#deps, workspace, actor, PERSON_LOOKUP_TIMEOUT_MS);
    if (refusal !== undefined) return refusal;
    const content = messageOfForm(
      submission.values,
      start?.source_content ?? null,
      settings.supportedTaskOptions,
    );
    const openedThere = channel === submission.channel || channel === submission.from;
    const target = { channel, person, openedThere };
    const why = await startChannelRefusal(this.#deps, workspace, target, PERSON_LOOKUP_TIMEOUT_MS);
    if (why !== undefined) return this.#refuseChannel(submission, start, why, content);
    const leftMs = ANSWER_TIMEOUT_MS - (performance.now() - startedAt);
    if (start?.thread_ts != null) return this.#addToThread(workspace, submission, start, content, leftMs);
    return this.#postToChannel(workspace, submission, channel, content, leftMs);
  }

  /** Shows the error at the form's channel; a form without that field is shown again with one. */
  async #refuseChannel(
    submission: StartFormSubmission,
    start: TaskStart | undefined,
    why: StartChannelRefusal,
    content: MessageContent,
  ): Promise<StartFormAnswer> {
    const sentence = strings.startForm[why];
    const { taskStarts } = this.#deps.store;
    const { channel, values } = submission;
    if (why !== 'foreign' || channel === undefined || values.channel !== undefined) return sentence;
    if (start !== undefined) await taskStarts.detachFromThread(start);
    else await this.#saveFilesAsDraft(submission, channel, content);
    return this.#refilledView(submission, sentence, content);
  }

  async #postToChannel(
    workspace: WorkspaceClient,
    submission: StartFormSubmission,
    channel: string,
    content: MessageContent,
    leftMs: number,
  ): Promise<StartFormAnswer> {
    const { id, person } = submission;
    const question = { workspace: workspace.id, id, user_id: person, channel, content };
    const start = await this.#deps.store.taskStarts.claimForPosting(question);
    // The form was submitted before.
    if (start === undefined) return undefined;
    const posting: Promise<PostOutcome | 'later'> = this.#deps.questionPoster
      .post(start)
      .catch((error: unknown) => {
        this.#deps.log.warn({ err: error, start: id }, 'could not post a question from a form; will retry');
        return 'later';
      });
    const posted = await Promise.race([posting, sleep(leftMs, 'slow' as const, { ref: false })]);
    if (posted === 'posted') return undefined;
    if (posted === 'slow') this.#updateModalLater(workspace, submission, start, posting, content);
    if (posted === 'slow' || posted === 'later') return startNoticeView(strings.startForm.slow);
    const sentence = await postRefusalText(workspace, channel, posted);
    const isElsewhere = sentence === strings.startForm.elsewhere;
    await this.#deps.store.taskStarts.returnToDraft(start, isElsewhere ? 'anew' : 'open');
    return isElsewhere ? this.#refilledView(submission, sentence, content) : sentence;
  }

  /**
   * Shows the outcome of a slow post in the modal. If the question cannot be posted, the filled-in form comes back; if
   * the modal may not have shown it, the next poll posts the question or sends it back to its asker.
   */
  #updateModalLater(
    workspace: WorkspaceClient,
    submission: StartFormSubmission,
    start: TaskStart,
    posting: Promise<PostOutcome | 'later'>,
    content: MessageContent,
  ): void {
    const update = async () => {
      const posted = await posting;
      if (posted === 'later') return;
      if (posted === 'posted') {
        await workspace.views.update(submission.viewId, startNoticeView(strings.startForm.posted));
        return;
      }
      await this.#deps.store.taskStarts.returnToDraft(start, 'later');
      const view = this.#refilledView(
        submission,
        await postRefusalText(workspace, start.channel, posted),
        content,
      );
      if (await workspace.views.update(submission.viewId, view))
        await this.#deps.store.taskStarts.markFormReturned(start);
    };
    update().catch((error: unknown) => this.#deps.log.debug({ err: error }, 'could not update a start form'));
  }

  /** The draft of a form that stayed open for hours has been deleted: it becomes a form with a question of its own. */
  async #reopenExpired(submission: StartFormSubmission, channel: string): Promise<StartFormAnswer> {
    const { values } = submission;
    const content = messageOfForm(values, null, this.#deps.settings.supportedTaskOptions);
    await this.#saveFilesAsDraft(submission, channel, content);
    const asked = { ...submission, values: { ...values, channel, question: values.question ?? '' } };
    // The form's list cannot offer direct conversations: this one stays.
    const fixed = isDirectChannel(channel) ? channel : undefined;
    return this.#refilledView(asked, strings.startForm.contentForgotten, content, fixed);
  }

  /** Keeps the form's files, so that the next submission of the form sends them too. */
  async #saveFilesAsDraft(
    { workspace, id, person }: StartFormSubmission,
    channel: string,
    { files }: MessageContent,
  ): Promise<void> {
    const source_content = { text: '', ...(files === undefined ? {} : { files }) };
    const nowhere = { thread_ts: null, message_ts: null, source_turn_id: null };
    const draft = { workspace, id, user_id: person, channel, ...nowhere, source_content };
    await this.#deps.store.taskStarts.saveDraft(draft);
  }

  /** The form again with its values, for any channel or the `fixed` one. */
  #refilledView(
    { id, values }: StartFormSubmission,
    note: string,
    content: MessageContent,
    fixed?: string,
  ): Modal {
    const { title, model, skill, noFallback, mode, question } = values;
    return startFormView({
      ...emptyStartForm({ id, channel: fixed, drafted: true }, this.#deps.settings.supportedTaskOptions),
      ...(fixed === undefined ? { channel: { chosen: values.channel } } : {}),
      note,
      question: question === undefined ? 'long' : { text: question, optional: content.about !== undefined },
      files: fileNamesOf(parseMessage(content)),
      chosen: { title, model, skill, mode, noFallback },
    });
  }

  async #addToThread(
    workspace: WorkspaceClient,
    submission: StartFormSubmission,
    start: TaskStart,
    content: MessageContent,
    leftMs: number,
  ): Promise<StartFormAnswer> {
    const { channel, thread_ts, message_ts, user_id, source_turn_id, id } = start;
    if (start.state === 'done') return undefined;
    if (thread_ts === null || message_ts === null) return startNoticeView(strings.startForm.gone);
    const isBotThere = source_turn_id !== null || (await isBotInChannel(workspace, channel, leftMs));
    if (isBotThere === undefined) return strings.startForm.botMembershipUnknown;
    if (!isBotThere) {
      const sentence = await postRefusalText(workspace, channel, 'invite');
      if (sentence !== strings.startForm.elsewhere) return sentence;
      await this.#deps.store.taskStarts.detachFromThread(start);
      return this.#refilledView(submission, sentence, content);
    }
    const thread = { workspace: workspace.id, channel, thread_ts };
    const result = await this.#deps.store.transaction(async (store, trx): Promise<StartFormAnswer> => {
      await store.threads.lock(thread);
      if (!(await store.taskStarts.finish({ workspace: workspace.id, id }))) return undefined;
      if (
        source_turn_id !== null &&
        (await store.turns.claimButton(workspace.id, source_turn_id, message_ts)) === undefined
      )
        return startNoticeView(strings.startForm.alreadyAskedAgain);
      const account_id = this.#deps.accountOf(workspace.id);
      await store.threads.adopt(thread, { account_id, user_id, ts: message_ts });
      const again = source_turn_id === null ? {} : { revises_turn_id: source_turn_id };
      const row = { thread_ts, user_id, state: 'waiting', content, edited_ts: null, ...again } as const;
      await store.messages.add({ workspace: workspace.id, channel, ts: message_ts }, row);
      await this.#deps.enqueue(trx, thread);
      return undefined;
    });
    this.#deps.onMessageAdded({ workspace: workspace.id, channel, ts: message_ts });
    return result;
  }
}

async function postRefusalText(
  workspace: WorkspaceClient,
  channel: string,
  reason: Exclude<PostOutcome, 'posted'>,
): Promise<string> {
  // The bot cannot join other people's direct conversations: the question needs another channel.
  if (reason === 'invite' && isDirectChannel(channel)) return strings.startForm.elsewhere;
  if (reason === 'unreachable') return strings.startForm.cannotPost;
  if (reason === 'refused') return strings.startForm.refused;
  const { people, bot } = workspace;
  const name = people.personName(bot.userId).catch(() => undefined);
  return strings.inviteMe(await Promise.race([name, sleep(BOT_NAME_TIMEOUT_MS, undefined, { ref: false })]));
}

/**
 * Whether the bot is in a channel; undefined if unknown. If Slack does not answer in time, a channel counts as yes: the
 * turn itself will find out. A direct conversation counts as unknown: it may be other people's, where the turn could
 * tell nobody.
 */
async function isBotInChannel(
  { people }: WorkspaceClient,
  channel: string,
  timeoutMs: number,
): Promise<boolean | undefined> {
  const unknown = isDirectChannel(channel) ? undefined : true;
  const known = people.isBotIn(channel).catch(() => unknown);
  return Promise.race([known, sleep(timeoutMs, unknown, { ref: false })]);
}
