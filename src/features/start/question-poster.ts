import { setTimeout as sleep } from 'node:timers/promises';
import { idsToResolve } from '../../relay/reading/display-names.ts';
import { fileNamesOf, parseMessage } from '../../relay/reading/message-parser.ts';
import { lookUpNames } from '../../relay/reading/name-lookup.ts';
import { readableText } from '../../relay/reading/readable-text.ts';
import type { RelayDeps, WorkspaceClient } from '../../relay/runtime/deps.ts';
import { Poller } from '../../relay/runtime/poller.ts';
import { isOverdue } from '../../relay/runtime/retry.ts';
import { TakenOverElsewhere } from '../../relay/runtime/turn-errors.ts';
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

/** How often questions whose process ended before they were posted are looked for (ms), and how many at once. */
const POLL_INTERVAL_MS = 15_000;
const MAX_CONCURRENT_QUESTIONS = 20;
/** A question that Slack does not take for so long (ms) is given back to who asked. */
const GIVE_UP_AFTER_MS = 60 * 60_000;

/** What became of a question that is to be posted. */
export type PostOutcome =
  | 'posted'
  /** The bot is not in the channel. */
  | 'invite'
  /** The channel takes no posts. */
  | 'no_place'
  /** Slack does not take the post. */
  | 'refused';

/** What posting needs beside the relay's parts. */
export interface QuestionPosterDeps extends RelayDeps {
  /** The service account that a workspace's new threads go to. */
  accountOf(workspace: string): string;
}

/**
 * Posts questions from forms into their channels, each once, as messages of ours; the work goes on in the thread below.
 * What a process leaves behind is taken up by another.
 */
export class QuestionPoster {
  readonly #deps: QuestionPosterDeps;
  readonly #poller: Poller;
  /** What is at work, each by itself: one workspace's Slack may be slow. */
  readonly #inProgress = new Map<TaskStart, Promise<void>>();

  constructor(deps: QuestionPosterDeps) {
    this.#deps = deps;
    this.#poller = new Poller({
      intervalMs: POLL_INTERVAL_MS,
      poll: () => this.#resumeLeftovers(),
      onError: (error) =>
        deps.log.warn({ err: error }, 'questions from forms could not be taken up; tried again soon'),
    });
  }

  start(): void {
    this.#poller.start();
    this.#poller.pollNow();
  }

  /** Gives up what only waits, and leaves it to another process. */
  async stop(): Promise<void> {
    await this.#poller.stop();
    await Promise.all(this.#inProgress.values());
  }

  /** Takes up what was left behind. */
  async #resumeLeftovers(): Promise<void> {
    const { taskStarts: starts } = this.#deps.store;
    await starts.renewClaims([...this.#inProgress.keys()]);
    const room = MAX_CONCURRENT_QUESTIONS - this.#inProgress.size;
    if (room <= 0) return;
    for (const start of await starts.claimAbandoned(room)) {
      const work = this.#resumeStart(start).finally(() => this.#inProgress.delete(start));
      this.#inProgress.set(start, work);
    }
  }

  async #resumeStart(start: TaskStart): Promise<void> {
    try {
      if ((await this.#postOrGiveUp(start)) !== 'posted') await this.#returnToAsker(start);
    } catch (error) {
      this.#deps.log.warn({ err: error, start: start.id }, 'a question from a form is still on its way');
    }
  }

  async #postOrGiveUp(start: TaskStart): Promise<PostOutcome> {
    try {
      return await this.post(start);
    } catch (error) {
      if (!isOverdue(start.made_at, GIVE_UP_AFTER_MS) || this.#poller.signal.aborted) throw error;
      this.#deps.log.warn({ err: error, start: start.id }, 'a question from a form is given up');
      return 'no_place';
    }
  }

  /**
   * Posts a question that this process holds, and keeps its words in hand where Slack surely took nothing: the answer
   * says why. Throws what may pass by itself; another look goes on then.
   */
  async post(start: TaskStart): Promise<PostOutcome> {
    const { store } = this.#deps;
    const workspace = this.#deps.workspace(start.workspace);
    if (workspace === undefined || start.words === null) return 'no_place';
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
        signal: this.#poller.signal,
        // Waiting for the lane may have taken so long that another process is at it.
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
      this.#deps.log.info({ err: error, start: start.id }, 'a question from a form has no place');
      return reason;
    }
  }

  /** Our post, where an earlier try got it to Slack. */
  async #findPost(workspace: WorkspaceClient, start: TaskStart): Promise<string | undefined> {
    if (start.intended_at === null) return undefined;
    const left = msUntilCallEnded(start.intended_at, SLACK_CALL_LIFETIME_MS);
    const { signal } = this.#poller;
    if (left > 0) await sleep(left, undefined, { signal });
    const { channel, intended_at: intendedAt } = start;
    return (await workspace.readBack.findOwnPost({ channel, key: postKeyOf(start), intendedAt, signal }))?.ts;
  }

  async #renderPost(workspace: WorkspaceClient, { person, words: said }: TaskStart) {
    const { choices, about, ...own } = said ?? { text: '' };
    const botUser = workspace.bot.userId;
    const question = parseMessage(own);
    const quoted = about === undefined ? undefined : parseMessage(about);
    const names = await lookUpNames(workspace, idsToResolve(question, ...(quoted ? [quoted] : [])));
    return questionPost({
      person,
      question: readableText(question, names, botUser),
      quote: quoted === undefined ? undefined : readableText(quoted, names, botUser),
      choices: choices ?? {},
      files: fileNamesOf(question),
    });
  }

  /** The post is a thread of ours, with the question waiting in it. */
  async #openThread(start: TaskStart, ts: string): Promise<void> {
    const { workspace, channel, person, words: said } = start;
    if (said === null) return;
    const thread = { workspace, channel, root: ts };
    await this.#deps.store.transaction(async (store, trx) => {
      await store.threads.lock(thread);
      if (!(await store.taskStarts.finish(start))) return;
      await store.threads.adopt(thread, { account: this.#deps.accountOf(workspace), person, ts });
      const row = { root: ts, person, state: 'waiting', words: said, editedTs: null } as const;
      if (await store.messages.add({ workspace, channel, ts }, row)) await this.#deps.enqueue(trx, thread);
    });
    this.#deps.log.info(
      { workspace, channel, root: ts, start: start.id },
      'a question from a form was posted',
    );
  }

  /**
   * Nobody's form is open any more: who asked gets the question back directly. Its words are kept until that was done,
   * or Slack refused it for good. Throws what may pass by itself; another look tries again then.
   */
  async #returnToAsker(start: TaskStart): Promise<void> {
    const workspace = this.#deps.workspace(start.workspace);
    if (workspace !== undefined && start.words !== null) {
      const { posting, readBack } = workspace;
      const message = { text: strings.questionNotPosted(start.channel, start.words.text) };
      const { signal } = this.#poller;
      const key = `${postKeyOf(start)}/lost`;
      try {
        const channel = await posting.openDm(start.person);
        // An earlier look may have done it without hearing so.
        if ((await readBack.findOwnPost({ channel, key, intendedAt: start.made_at, signal })) === undefined)
          await posting.post({ channel, message, key, kind: 'notice', signal });
      } catch (error) {
        if (postRefusalReason(error) === undefined) throw error;
        this.#deps.log.warn({ err: error, start: start.id }, 'a lost question could not be given back');
      }
    }
    await this.#deps.store.taskStarts.finish(start);
  }
}

function postKeyOf({ id }: TaskStart): string {
  return `start/${id}`;
}

/** Why Slack surely takes no such post there; undefined for what may pass. */
function postRefusalReason(error: unknown): Exclude<PostOutcome, 'posted'> | undefined {
  if (error instanceof ChannelGoneError)
    return /not_in_channel|channel_not_found/.test(error.slackCode) ? 'invite' : 'no_place';
  if (error instanceof PayloadRefusedError || error instanceof SlackRefusedError) return 'refused';
  return error instanceof SlackAuthError && !error.isInstallationDead ? 'no_place' : undefined;
}
