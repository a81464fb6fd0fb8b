import { setTimeout as sleep } from 'node:timers/promises';
import { startRefusal } from '../../relay/access/start-permission.ts';
import { fileNamesOf, parseMessage } from '../../relay/reading/message-parser.ts';
import type { WorkspaceClient } from '../../relay/runtime/deps.ts';
import { isDirectChannel } from '../../relay/runtime/incoming-message.ts';
import type { FormView } from '../../render/blocks/form-inputs.ts';
import * as strings from '../../render/strings/index.ts';
import type { MessageKey } from '../../store/keys.ts';
import type { MessageContent, TaskStart } from '../../store/schema.ts';
import { type PostOutcome, QuestionPoster, type QuestionPosterDeps } from './question-poster.ts';
import { type PlaceRefusal, placeRefusal } from './start-channel.ts';
import { contentOfForm, type StartFormValues } from './start-form-content.ts';
import { emptyStartForm, StartModal } from './start-modal.ts';
import { startNoticeView, startView } from './start-view.ts';

/** A form must be answered within 3 s; what takes longer (ms) goes on behind it. */
const ANSWER_TIMEOUT_MS = 1_800;
/** How much of that (ms) may pass until it is known who sends the form, and once more until they are known to be there. */
const PERSON_LOOKUP_TIMEOUT_MS = 900;
/** How long the bot's own name is waited for (ms). */
const BOT_NAME_TIMEOUT_MS = 500;

/** A form that was sent. */
export interface StartFormSubmission {
  workspace: string;
  person: string;
  viewId: string;
  id: string;
  /** The channel, where the form did not ask for it. */
  channel: string | undefined;
  /** The channel that the form was opened in, where it may ask for another. */
  from: string | undefined;
  /** Whether more than the form itself is kept of what it is about. */
  drafted: boolean;
  values: StartFormValues;
}

/** What the form does next. */
export type StartFormAnswer =
  | { do: 'close' }
  /** Stays open with what was typed, and says what is wrong. */
  | { do: 'complain'; sentence: string }
  | { do: 'show'; view: FormView };

/** Carries out the forms by which tasks are begun: each once, however often it is sent. */
export class StartFormHandler {
  readonly forms: StartModal;
  readonly questionPoster: QuestionPoster;
  readonly #deps: QuestionPosterDeps;
  readonly #onMessageAdded: (message: MessageKey) => void;

  /** `onAdded` hears of every message that a form puts into a thread that is there already. */
  constructor(deps: QuestionPosterDeps, onMessageAdded: (message: MessageKey) => void) {
    this.#deps = deps;
    this.#onMessageAdded = onMessageAdded;
    this.forms = new StartModal(deps);
    this.questionPoster = new QuestionPoster(deps);
  }

  /** Carries a sent form out. The answer comes in time for Slack, whatever is slow. */
  async submit(submission: StartFormSubmission): Promise<StartFormAnswer> {
    const { store, settings } = this.#deps;
    const workspace = this.#deps.workspace(submission.workspace);
    const start = await store.taskStarts.get(submission);
    const channel = submission.values.channel ?? start?.channel ?? submission.channel;
    if (workspace === undefined || channel === undefined)
      return { do: 'show', view: startNoticeView(strings.startForm.gone) };
    if (start === undefined && submission.drafted) return this.#reopenExpired(workspace, submission, channel);
    const startedAt = performance.now();
    const writer = { workspace: workspace.id, channel, person: submission.person };
    const refusal = await startRefusal(this.#deps, workspace, writer, PERSON_LOOKUP_TIMEOUT_MS);
    if (refusal !== undefined) return { do: 'complain', sentence: refusal };
    const content = contentOfForm(submission.values, start?.source ?? null, settings.supportedTaskOptions);
    const openedThere = channel === submission.channel || channel === submission.from;
    const place = { channel, person: submission.person, openedThere };
    const why = await placeRefusal(this.#deps, workspace, place, PERSON_LOOKUP_TIMEOUT_MS);
    if (why !== undefined) return this.#noSuchPlace(workspace, submission, start, why, content);
    const leftMs = ANSWER_TIMEOUT_MS - (performance.now() - startedAt);
    if (start?.root != null) return this.#addToThread(workspace, submission, start, content, leftMs);
    return this.#postToChannel(workspace, submission, channel, content, leftMs);
  }

  /** The form says it at its channel; where it asks for none, it comes back so that one can be chosen. */
  async #noSuchPlace(
    workspace: WorkspaceClient,
    sent: StartFormSubmission,
    start: TaskStart | undefined,
    why: PlaceRefusal,
    said: MessageContent,
  ): Promise<StartFormAnswer> {
    const sentence = strings.startForm[why];
    const { taskStarts: starts } = this.#deps.store;
    const { id, person, channel, values } = sent;
    if (why !== 'foreign' || channel === undefined || values.channel !== undefined)
      return { do: 'complain', sentence };
    if (start !== undefined) await starts.detachFromThread(start);
    else {
      const source = { text: '', ...(said.files === undefined ? {} : { files: said.files }) };
      const place = { channel, root: null, ts: null, turn: null };
      await starts.saveDraft({ workspace: workspace.id, id, person, ...place, source });
    }
    return { do: 'show', view: this.#refilledView(sent, sentence, said) };
  }

  async #postToChannel(
    workspace: WorkspaceClient,
    submission: StartFormSubmission,
    channel: string,
    content: MessageContent,
    leftMs: number,
  ): Promise<StartFormAnswer> {
    const { id, person } = submission;
    const start = await this.#deps.store.taskStarts.claimForPosting({
      workspace: workspace.id,
      id,
      person,
      channel,
      words: content,
    });
    // The same form was sent before.
    if (start === undefined) return { do: 'close' };
    const posting: Promise<PostOutcome | 'later'> = this.questionPoster
      .post(start)
      .catch((error: unknown) => {
        this.#deps.log.warn({ err: error, start: id }, 'a question from a form is posted later');
        return 'later';
      });
    const posted = await Promise.race([posting, sleep(leftMs, 'slow' as const, { ref: false })]);
    if (posted === 'posted') return { do: 'close' };
    if (posted === 'slow') this.#updateModalLater(workspace, submission, start, posting, content);
    if (posted === 'slow' || posted === 'later')
      return { do: 'show', view: startNoticeView(strings.startForm.slow) };
    const sentence = await postRefusalText(workspace, channel, posted);
    const isElsewhere = sentence === strings.startForm.elsewhere;
    await this.#deps.store.taskStarts.returnToDraft(start, isElsewhere ? 'anew' : 'open');
    return isElsewhere
      ? { do: 'show', view: this.#refilledView(submission, sentence, content) }
      : { do: 'complain', sentence };
  }

  /**
   * The form's window says what became of a slow post. What was typed comes back where it found no place; where the
   * window does not surely show it, another look posts it after all, or gives it back directly.
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
    update().catch((error: unknown) =>
      this.#deps.log.debug({ err: error }, 'a form could not be brought up to date'),
    );
  }

  /** What the form was about is forgotten, because it was open for hours: it becomes one with a question of its own. */
  async #reopenExpired(
    { id: workspace }: WorkspaceClient,
    submission: StartFormSubmission,
    channel: string,
  ): Promise<StartFormAnswer> {
    const { id, person, values } = submission;
    const content = contentOfForm(values, null, this.#deps.settings.supportedTaskOptions);
    const source = { text: '', ...(content.files === undefined ? {} : { files: content.files }) };
    const location = { channel, root: null, ts: null, turn: null };
    await this.#deps.store.taskStarts.saveDraft({ workspace, id, person, ...location, source });
    const asked = { ...submission, values: { ...values, channel, question: values.question ?? '' } };
    // Direct conversations cannot be chosen: this one stays.
    const fixed = isDirectChannel(channel) ? channel : undefined;
    return {
      do: 'show',
      view: this.#refilledView(asked, strings.startForm.contentForgotten, content, fixed),
    };
  }

  /** The form again, with what was filled in, for any channel or the `fixed` one. */
  #refilledView(
    { id, values }: StartFormSubmission,
    note: string,
    content: MessageContent,
    fixed?: string,
  ): FormView {
    const { title, model, skill, noFallback, mode, question } = values;
    return startView({
      ...emptyStartForm(id, fixed, this.#deps.settings.supportedTaskOptions, { drafted: true }),
      ...(fixed === undefined ? { channel: { chosen: values.channel } } : {}),
      note,
      question: question === undefined ? 'long' : { text: question, optional: content.about !== undefined },
      files: fileNamesOf(parseMessage(content)),
      chosen: {
        ...(title === undefined ? {} : { title }),
        ...(model === undefined ? {} : { model }),
        ...(skill === undefined ? {} : { skill }),
        ...(mode === undefined ? {} : { mode }),
        noFallback,
      },
    });
  }

  async #addToThread(
    workspace: WorkspaceClient,
    submission: StartFormSubmission,
    start: TaskStart,
    content: MessageContent,
    leftMs: number,
  ): Promise<StartFormAnswer> {
    const { channel, root, ts, person, turn, id } = start;
    if (start.state === 'done') return { do: 'close' };
    if (root === null || ts === null) return { do: 'show', view: startNoticeView(strings.startForm.gone) };
    const isBotThere = turn !== null || (await isBotInChannel(workspace, channel, leftMs));
    if (isBotThere === undefined) return { do: 'complain', sentence: strings.startForm.botMembershipUnknown };
    if (!isBotThere) {
      const sentence = await postRefusalText(workspace, channel, 'invite');
      if (sentence !== strings.startForm.elsewhere) return { do: 'complain', sentence };
      await this.#deps.store.taskStarts.detachFromThread(start);
      return { do: 'show', view: this.#refilledView(submission, sentence, content) };
    }
    const thread = { workspace: workspace.id, channel, root };
    const answer = await this.#deps.store.transaction(async (store, trx): Promise<StartFormAnswer> => {
      await store.threads.lock(thread);
      if (!(await store.taskStarts.finish({ workspace: workspace.id, id }))) return { do: 'close' };
      if (turn !== null && (await store.turns.claimButton(workspace.id, turn, ts)) === undefined)
        return { do: 'show', view: startNoticeView(strings.startForm.alreadyAskedAgain) };
      const account = this.#deps.accountOf(workspace.id);
      await store.threads.adopt(thread, { account, person, ts });
      const again = turn === null ? {} : { asksAgain: turn };
      const row = { root, person, state: 'waiting', words: content, editedTs: null, ...again } as const;
      await store.messages.add({ workspace: workspace.id, channel, ts }, row);
      await this.#deps.enqueue(trx, thread);
      return { do: 'close' };
    });
    this.#onMessageAdded({ workspace: workspace.id, channel, ts });
    return answer;
  }
}

async function postRefusalText(
  workspace: WorkspaceClient,
  channel: string,
  reason: Exclude<PostOutcome, 'posted'>,
): Promise<string> {
  // Nobody can be invited into a direct conversation of others: the question needs another place.
  if (reason === 'invite' && isDirectChannel(channel)) return strings.startForm.elsewhere;
  if (reason === 'no_place') return strings.startForm.cannotPost;
  if (reason === 'refused') return strings.startForm.refused;
  const { people, bot } = workspace;
  const name = people.personName(bot.userId).catch(() => undefined);
  return strings.inviteMe(await Promise.race([name, sleep(BOT_NAME_TIMEOUT_MS, undefined, { ref: false })]));
}

/**
 * Where Slack takes too long to say it, the bot takes itself to be in a channel: the thread's own turn will see. Of a
 * direct conversation, which may be one of others, it is not known then: nobody would hear what that turn has to say.
 */
async function isBotInChannel(
  { people }: WorkspaceClient,
  channel: string,
  withinMs: number,
): Promise<boolean | undefined> {
  const unknown = isDirectChannel(channel) ? undefined : true;
  const known = people.isBotIn(channel).catch(() => unknown);
  return Promise.race([known, sleep(withinMs, unknown, { ref: false })]);
}
