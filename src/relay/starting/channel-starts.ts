import { setTimeout as sleep } from 'node:timers/promises';
import { startPost } from '../../reply/start-post.ts';
import * as words from '../../reply/words.ts';
import { ChannelGone, PayloadRefused, Refused, SlackError, Unauthorized } from '../../slack/errors.ts';
import type { Start } from '../../store/tables.ts';
import { namesFor } from '../asking/question.ts';
import type { RelayParts, Workspace } from '../context.ts';
import { TakenOver } from '../interruption.ts';
import { isOverdue } from '../patience.ts';
import { fileNames, readMessage } from '../reading/message.ts';
import { idsIn } from '../reading/names.ts';
import { readable } from '../reading/readable.ts';
import { Rounds } from '../rounds.ts';
import { leftMs, slackOverMs } from '../settling.ts';

/** How often questions whose process ended before they were posted are looked for (ms), and how many at once. */
const lookEveryMs = 15_000;
const mostAtOnce = 20;
/** A question that Slack does not take for so long (ms) is given back to who asked. */
const giveUpAfterMs = 60 * 60_000;

/** What became of a question that is to be posted. */
export type Posted =
  | 'posted'
  /** The bot is not in the channel. */
  | 'invite'
  /** The channel takes no posts. */
  | 'no_place'
  /** Slack does not take the post. */
  | 'refused';

/** What posting needs beside the relay's parts. */
export interface ChannelStartsParts extends RelayParts {
  /** The service account that a workspace's new threads go to. */
  accountOf(workspace: string): string;
}

/**
 * Posts questions from forms into their channels, each once, as messages of ours; the work goes on in the thread below.
 * What a process leaves behind is taken up by another.
 */
export class ChannelStarts {
  readonly #parts: ChannelStartsParts;
  readonly #rounds: Rounds;
  /** What is at work, each by itself: one workspace's Slack may be slow. */
  readonly #works = new Map<Start, Promise<void>>();

  constructor(parts: ChannelStartsParts) {
    this.#parts = parts;
    this.#rounds = new Rounds({
      everyMs: lookEveryMs,
      round: () => this.#look(),
      onError: (error) =>
        parts.log.warn({ err: error }, 'questions from forms could not be taken up; tried again soon'),
    });
  }

  start(): void {
    this.#rounds.start();
    this.#rounds.look();
  }

  /** Gives up what only waits, and leaves it to another process. */
  async stop(): Promise<void> {
    await this.#rounds.stop();
    await Promise.all(this.#works.values());
  }

  /** Takes up what was left behind. */
  async #look(): Promise<void> {
    const { starts } = this.#parts.store;
    await starts.hold([...this.#works.keys()]);
    const room = mostAtOnce - this.#works.size;
    if (room <= 0) return;
    for (const start of await starts.leftOver(room)) {
      const work = this.#takeUp(start).finally(() => this.#works.delete(start));
      this.#works.set(start, work);
    }
  }

  async #takeUp(start: Start): Promise<void> {
    try {
      if ((await this.#postOrGiveUp(start)) !== 'posted') await this.#giveBack(start);
    } catch (error) {
      this.#parts.log.warn({ err: error, start: start.id }, 'a question from a form is still on its way');
    }
  }

  async #postOrGiveUp(start: Start): Promise<Posted> {
    try {
      return await this.post(start);
    } catch (error) {
      if (!isOverdue(start.made_at, giveUpAfterMs) || this.#rounds.signal.aborted) throw error;
      this.#parts.log.warn({ err: error, start: start.id }, 'a question from a form is given up');
      return 'no_place';
    }
  }

  /**
   * Posts a question that this process holds, and keeps its words in hand where Slack surely took nothing: the answer
   * says why. Throws what may pass by itself; another look goes on then.
   */
  async post(start: Start): Promise<Posted> {
    const { store } = this.#parts;
    const workspace = this.#parts.workspace(start.workspace);
    if (workspace === undefined || start.words === null) return 'no_place';
    const known = await this.#find(workspace, start);
    if (known !== undefined) {
      await this.#begin(start, known);
      return 'posted';
    }
    try {
      const { ts } = await workspace.posting.post({
        channel: start.channel,
        message: await this.#message(workspace, start),
        key: keyOf(start),
        kind: 'first',
        signal: this.#rounds.signal,
        // Waiting for the lane may have taken so long that another process is at it.
        beforeSend: async () => {
          if (!(await store.starts.intend(start))) throw new TakenOver();
        },
      });
      await this.#begin(start, ts);
      return 'posted';
    } catch (error) {
      const why = refusalOf(error);
      if (error instanceof SlackError && error.outcome === 'none') await store.starts.forgetIntent(start);
      if (why === undefined) throw error;
      this.#parts.log.info({ err: error, start: start.id }, 'a question from a form has no place');
      return why;
    }
  }

  /** Our post, where an earlier try got it to Slack. */
  async #find(workspace: Workspace, start: Start): Promise<string | undefined> {
    if (start.intended_at === null) return undefined;
    const left = leftMs(start.intended_at, slackOverMs);
    const { signal } = this.#rounds;
    if (left > 0) await sleep(left, undefined, { signal });
    const { channel, intended_at: intendedAt } = start;
    return (await workspace.readBack.find({ channel, key: keyOf(start), intendedAt, signal }))?.ts;
  }

  async #message(workspace: Workspace, { person, words: said }: Start) {
    const { choices, about, ...own } = said ?? { text: '' };
    const botUser = workspace.bot.userId;
    const question = readMessage(own);
    const quoted = about === undefined ? undefined : readMessage(about);
    const names = await namesFor(workspace, idsIn(question, ...(quoted ? [quoted] : [])));
    return startPost({
      person,
      question: readable(question, names, botUser),
      quote: quoted === undefined ? undefined : readable(quoted, names, botUser),
      choices: choices ?? {},
      files: fileNames(question),
    });
  }

  /** The post is a thread of ours, with the question waiting in it. */
  async #begin(start: Start, ts: string): Promise<void> {
    const { workspace, channel, person, words: said } = start;
    if (said === null) return;
    const thread = { workspace, channel, root: ts };
    await this.#parts.store.transaction(async (store, trx) => {
      await store.threads.lock(thread);
      if (!(await store.starts.finish(start))) return;
      await store.threads.adopt(thread, { account: this.#parts.accountOf(workspace), person, ts });
      const row = { root: ts, person, state: 'waiting', words: said, editedTs: null } as const;
      if (await store.messages.add({ workspace, channel, ts }, row)) await this.#parts.enqueue(trx, thread);
    });
    this.#parts.log.info(
      { workspace, channel, root: ts, start: start.id },
      'a question from a form was posted',
    );
  }

  /**
   * Nobody's form is open any more: who asked gets the question back directly. Its words are kept until that was done,
   * or Slack refused it for good. Throws what may pass by itself; another look tries again then.
   */
  async #giveBack(start: Start): Promise<void> {
    const workspace = this.#parts.workspace(start.workspace);
    if (workspace !== undefined && start.words !== null) {
      const { posting, readBack } = workspace;
      const message = { text: words.startLost(start.channel, start.words.text) };
      const { signal } = this.#rounds;
      const key = `${keyOf(start)}/lost`;
      try {
        const channel = await posting.openDm(start.person);
        // An earlier look may have done it without hearing so.
        if ((await readBack.find({ channel, key, intendedAt: start.made_at, signal })) === undefined)
          await posting.post({ channel, message, key, kind: 'notice', signal });
      } catch (error) {
        if (refusalOf(error) === undefined) throw error;
        this.#parts.log.warn({ err: error, start: start.id }, 'a lost question could not be given back');
      }
    }
    await this.#parts.store.starts.finish(start);
  }
}

function keyOf({ id }: Start): string {
  return `start/${id}`;
}

/** Why Slack surely takes no such post there; undefined for what may pass. */
function refusalOf(error: unknown): Exclude<Posted, 'posted'> | undefined {
  if (error instanceof ChannelGone)
    return /not_in_channel|channel_not_found/.test(error.slackCode) ? 'invite' : 'no_place';
  if (error instanceof PayloadRefused || error instanceof Refused) return 'refused';
  return error instanceof Unauthorized && !error.dead ? 'no_place' : undefined;
}
