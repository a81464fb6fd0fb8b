import { setTimeout as sleep } from 'node:timers/promises';
import { lookUpNames } from '../../relay/reading/display-names.ts';
import { fileNamesOf, parseMessage } from '../../relay/reading/message-parser.ts';
import { readableText } from '../../relay/reading/readable-text.ts';
import type { RelayDeps, WorkspaceClient } from '../../relay/runtime/deps.ts';
import { isBotId } from '../../relay/runtime/incoming-message.ts';
import { Poller } from '../../relay/runtime/poller.ts';
import { isOverdue } from '../../relay/runtime/retry.ts';
import { TakenOverElsewhere } from '../../relay/runtime/turn-interruptions.ts';
import { msUntilCallEnded, SLACK_CALL_LIFETIME_MS } from '../../relay/runtime/unknown-outcome.ts';
import * as strings from '../../render/strings/index.ts';
import {
  ChannelGoneError,
  PayloadRefusedError,
  SlackAuthError,
  SlackError,
  SlackRefusedError,
} from '../../slack/errors.ts';
import type { TaskStart } from '../../store/schema.ts';
import { questionPost } from './question-post.ts';

/** How often questions left behind by a process are looked for (ms), and the most that are posted at a time. */
const POLL_INTERVAL_MS = 15_000;
const MAX_CONCURRENT_QUESTIONS = 20;
/** A question that cannot be posted for this long (ms) goes back to its asker. */
const GIVE_UP_AFTER_MS = 60 * 60_000;

export type PostOutcome =
  | 'posted'
  /** The bot is not in the channel. */
  | 'invite'
  /** Nobody can post in the channel. */
  | 'unreachable'
  /** Slack rejects the post itself. */
  | 'refused';

/** Posts each question from a form once; its task runs in the thread. Resumes what a crashed process left behind. */
export class QuestionPoster extends Poller {
  readonly #deps: RelayDeps;
  /** Questions being posted, each on its own: one workspace's Slack may be slow. */
  readonly #inProgress = new Map<TaskStart, Promise<void>>();

  constructor(deps: RelayDeps) {
    super({
      intervalMs: POLL_INTERVAL_MS,
      startsAtOnce: true,
      poll: () => this.#resumeLeftovers(),
      onError: (error) => deps.log.warn({ err: error }, 'could not resume questions from forms; will retry'),
    });
    this.#deps = deps;
  }

  /** Cancels waits, and leaves those questions to another process. */
  override async stop(): Promise<void> {
    await super.stop();
    await Promise.all(this.#inProgress.values());
  }

  async #resumeLeftovers(): Promise<void> {
    const { taskStarts } = this.#deps.store;
    await taskStarts.renewClaims([...this.#inProgress.keys()]);
    const room = MAX_CONCURRENT_QUESTIONS - this.#inProgress.size;
    if (room <= 0) return;
    for (const start of await taskStarts.claimAbandoned(room)) this.postSoon(start);
  }

  /** Posts a question that this process has claimed, or returns it to its asker. */
  postSoon(start: TaskStart): void {
    const work = this.#resumeStart(start).finally(() => this.#inProgress.delete(start));
    this.#inProgress.set(start, work);
  }

  async #resumeStart(start: TaskStart): Promise<void> {
    try {
      if ((await this.#postOrGiveUp(start)) !== 'posted') await this.returnToAsker(start);
    } catch (error) {
      this.#deps.log.warn(
        { err: error, start: start.id },
        'could not post a question from a form; will retry',
      );
    }
  }

  async #postOrGiveUp(start: TaskStart): Promise<PostOutcome> {
    try {
      return await this.post(start);
    } catch (error) {
      if (!isOverdue(start.created_at, GIVE_UP_AFTER_MS) || this.signal.aborted) throw error;
      this.#deps.log.warn({ err: error, start: start.id }, 'gave up posting a question from a form');
      return 'unreachable';
    }
  }

  /** Posts a claimed question. Unless 'posted', nothing was posted and the text is kept. Throws temporary failures. */
  async post(start: TaskStart): Promise<PostOutcome> {
    const { store } = this.#deps;
    const workspace = this.#deps.workspace(start.workspace);
    if (workspace === undefined || start.content === null) return 'unreachable';
    const existingTs = await this.#findPost(workspace, start);
    if (existingTs !== undefined) {
      await this.#openThread(start, existingTs);
      return 'posted';
    }
    try {
      const { ts } = await workspace.posting.post({
        channel: start.channel,
        message: await this.#renderPost(workspace, start),
        key: postKeyOf(start),
        kind: 'first',
        signal: this.signal,
        // The rate limit may have held this up so long that another process has taken over.
        beforeSend: async () => {
          if (!(await store.taskStarts.intend(start))) throw new TakenOverElsewhere();
        },
      });
      await this.#openThread(start, ts);
      return 'posted';
    } catch (error) {
      const reason = postRefusalReason(error);
      if (error instanceof SlackError && error.outcome === 'none') await store.taskStarts.forgetIntent(start);
      if (reason === undefined) throw error;
      this.#deps.log.info({ err: error, start: start.id }, 'a question from a form cannot be posted');
      return reason;
    }
  }

  /** The ts of the post, if an earlier attempt got through. */
  async #findPost(workspace: WorkspaceClient, start: TaskStart): Promise<string | undefined> {
    if (start.post_intended_at === null) return undefined;
    const waitMs = msUntilCallEnded(start.post_intended_at, SLACK_CALL_LIFETIME_MS);
    const { signal } = this;
    if (waitMs > 0) await sleep(waitMs, undefined, { signal });
    const { channel, post_intended_at: intendedAt } = start;
    return (await workspace.readBack.findOwnPost({ channel, key: postKeyOf(start), intendedAt, signal }))?.ts;
  }

  async #renderPost(workspace: WorkspaceClient, { user_id, content }: TaskStart) {
    const { choices, about, step, ...own } = content ?? { text: '' };
    const botUser = workspace.bot.userId;
    const question = parseMessage(own);
    const quoted = about === undefined ? undefined : parseMessage(about);
    const names = await lookUpNames(workspace, question, ...(quoted ? [quoted] : []));
    return questionPost({
      person: step === undefined ? user_id : step.person,
      label: step && (step.label ?? strings.workflowStep.unnamed),
      question: readableText(question, names, botUser),
      quote: quoted === undefined ? undefined : readableText(quoted, names, botUser),
      choices: choices ?? {},
      files: fileNamesOf(question),
    });
  }

  /** Makes the post's thread ours, with the question waiting in it. */
  async #openThread(start: TaskStart, ts: string): Promise<void> {
    const { workspace, channel, user_id } = start;
    if (start.content === null) return;
    const { step: _, ...content } = start.content;
    const thread = { workspace, channel, thread_ts: ts };
    await this.#deps.store.transaction(async (store, trx) => {
      await store.threads.lock(thread);
      if (!(await store.taskStarts.finish(start, ts))) return;
      await store.threads.adopt(thread, { account_id: this.#deps.accountOf(workspace), user_id, ts });
      const row = { thread_ts: ts, user_id, state: 'waiting', content, edited_ts: null } as const;
      if (await store.messages.add({ workspace, channel, ts }, row)) await this.#deps.enqueue(trx, thread);
    });
    this.#deps.log.info(
      { workspace, channel, thread_ts: ts, start: start.id },
      'posted a question from a form',
    );
  }

  /** Sends a question back to its asker; keeps the text until that is done or impossible. Throws temporary failures. */
  async returnToAsker(start: TaskStart): Promise<void> {
    const workspace = this.#deps.workspace(start.workspace);
    // A step of a workflow says in Slack what became of it.
    if (workspace !== undefined && start.content !== null && !isBotId(start.user_id)) {
      const { posting, readBack } = workspace;
      const message = { text: strings.questionNotPosted(start.channel, start.content.text) };
      const { signal } = this;
      const key = `${postKeyOf(start)}/lost`;
      try {
        const channel = await posting.openDm(start.user_id);
        // An earlier attempt may have got through.
        if (
          (await readBack.findOwnPost({ channel, key, intendedAt: start.created_at, signal })) === undefined
        )
          await posting.post({ channel, message, key, kind: 'notice', signal });
      } catch (error) {
        if (postRefusalReason(error) === undefined) throw error;
        this.#deps.log.warn({ err: error, start: start.id }, 'could not return a question to its asker');
      }
    }
    await this.#deps.store.taskStarts.finish(start);
  }
}

function postKeyOf({ id }: TaskStart): string {
  return `start/${id}`;
}

/** Why Slack certainly rejects the post; undefined for a temporary failure. */
function postRefusalReason(error: unknown): Exclude<PostOutcome, 'posted'> | undefined {
  if (error instanceof ChannelGoneError)
    return /not_in_channel|channel_not_found/.test(error.slackCode) ? 'invite' : 'unreachable';
  if (error instanceof PayloadRefusedError || error instanceof SlackRefusedError) return 'refused';
  return error instanceof SlackAuthError && !error.isInstallationDead ? 'unreachable' : undefined;
}
