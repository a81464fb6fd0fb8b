import { setTimeout as sleep } from 'node:timers/promises';
import type { Message, Person, SlackWorkspace } from '../slack/slack-workspace.ts';
import type { SaidMessage } from './damage.ts';
import { oneOf } from './random-streams.ts';

/** How long a form has to open and to fill (ms), and how often one is pressed or sent until it is taken. */
const FORM_WAIT_MS = 4_000;
const MAX_TRIES = 5;
/** How long questions and their links may take once everything works again (ms). */
const SETTLE_TIMEOUT_MS = 180_000;
const POLL_INTERVAL_MS = 200;
/** Of a message that somebody writes. */
const AGAIN_CHANCE = 0.6;

/** The outcome for the report. */
export interface AgainCounts {
  /** Forms that were taken, or whose question was posted. */
  askedAgain: number;
  /** Those whose question was posted once, with a link to the first thread, which has one link to it. */
  linkedOnce: number;
}

interface Menu {
  channel: string;
  root: string;
  ts: string;
  value: string;
}

interface Run {
  first: { channel: string; root: string };
  /** In the question and nowhere else. */
  mark: string;
  text: string;
  files: SaidMessage['files'];
  isTaken: boolean;
}

/** People ask finished questions again in new threads, beside those who write. */
export class AskingAgain {
  /** The names of those who do. */
  readonly names: string[] = [];
  readonly #slack: SlackWorkspace;
  readonly #said: readonly SaidMessage[];
  readonly #random: () => number;
  readonly #runs: Run[] = [];
  readonly #open = new Set<Promise<void>>();

  constructor(slack: SlackWorkspace, said: readonly SaidMessage[], random: () => number) {
    this.#slack = slack;
    this.#said = said;
    this.#random = random;
  }

  /** Now and then, somebody presses "Ask again" in a thread of a channel that has the menu, and sends the form. */
  runOne(): void {
    if (this.#random() >= AGAIN_CHANCE) return;
    const menus = [...new Set(this.#said.map(({ thread }) => thread))].flatMap((thread) => {
      const [channel = '', root = ''] = thread.split('/');
      return channel.startsWith('C') ? this.#menusIn(channel, root) : [];
    });
    if (menus.length === 0) return;
    const run = this.#askAgain(oneOf(this.#random, menus)).finally(() => this.#open.delete(run));
    this.#open.add(run);
  }

  #menusIn(channel: string, root: string): Menu[] {
    return this.#slack.thread(channel, root).flatMap(({ ts, blocks }) => {
      const value = /"(ask_again\/[^"]+)"/.exec(JSON.stringify(blocks ?? []))?.[1];
      return value === undefined ? [] : [{ channel, root, ts, value }];
    });
  }

  async #askAgain({ channel, root, value }: Menu): Promise<void> {
    const name = `asker${this.names.length + 1}`;
    const mark = `(again by ${name})`;
    const person = this.#slack.createPerson({ name, realName: name });
    this.names.push(name);
    this.#slack.invite(channel, person);
    let question: string | undefined;
    for (let tries = 0; question === undefined && tries < MAX_TRIES; tries += 1) {
      // A reply that is read again may move its end to another message.
      const menu = this.#menusIn(channel, root).find((one) => one.value === value);
      if (menu === undefined) return;
      await this.#slack.click({ person, channel, ts: menu.ts, actionId: 'menu', value });
      question = await this.#filledQuestion(person);
    }
    if (question === undefined) return;
    const text = `${question} ${mark}`;
    const shown = JSON.stringify(this.#slack.modal(person)?.blocks);
    const all = this.#said.flatMap(({ files }) => files);
    const files = all.filter((file) => shown.includes(file.split(' ')[0] ?? ''));
    const run: Run = { first: { channel, root }, mark, text, files, isTaken: false };
    this.#runs.push(run);
    for (let tries = 0; !run.isTaken && tries < MAX_TRIES; tries += 1) {
      const sent = await this.#slack.submitView(person, { question: text });
      run.isTaken = sent.acked && !JSON.stringify(sent).includes('"errors"');
      if (!run.isTaken) await sleep(POLL_INTERVAL_MS);
    }
  }

  /** What the person's form asks, once it is filled; undefined if that takes too long, or Slack no longer has the question. */
  async #filledQuestion(person: Person): Promise<string | undefined> {
    const deadline = performance.now() + FORM_WAIT_MS;
    while (performance.now() < deadline) {
      const view = this.#slack.modal(person);
      const input = view?.blocks.find(({ block_id: id }) => id === 'question');
      const { initial_value: question } = Object(Object(input).element);
      if (view?.callbackId === 'start' && typeof question === 'string') return question;
      await sleep(POLL_INTERVAL_MS);
    }
    if (this.#slack.modal(person) !== undefined) await this.#slack.closeView(person);
    return undefined;
  }

  /** Waits until every question is posted and linked, or has had its time. */
  async settled(): Promise<void> {
    const deadline = performance.now() + SETTLE_TIMEOUT_MS;
    await Promise.all(this.#open);
    const isDone = ({ askedAgain, linkedOnce }: AgainCounts) => askedAgain === linkedOnce;
    while (performance.now() < deadline && !isDone(this.counts())) await sleep(POLL_INTERVAL_MS);
  }

  /** The questions that were posted, as messages whose threads are compared with their tasks. */
  said(): SaidMessage[] {
    return this.#runs.flatMap(({ first: { channel }, mark, text, files }) =>
      this.#posts(channel, mark).map(({ ts }) => ({
        thread: `${channel}/${ts}`,
        channel,
        ts,
        text,
        files,
        wasDelivered: true,
      })),
    );
  }

  counts(): AgainCounts {
    const known = this.#runs.filter(
      ({ first, mark, isTaken }) => isTaken || this.#posts(first.channel, mark).length > 0,
    );
    return { askedAgain: known.length, linkedOnce: known.filter((run) => this.#isLinkedOnce(run)).length };
  }

  #isLinkedOnce({ first: { channel, root }, mark }: Run): boolean {
    const [post, ...others] = this.#posts(channel, mark);
    if (post === undefined || others.length > 0) return false;
    const link = `<${this.#slack.permalink(post)}|`;
    const back = this.#slack.thread(channel, root).filter(({ text }) => text.includes(link));
    return back.length === 1 && JSON.stringify(post.blocks).includes('|an earlier thread>');
  }

  #posts(channel: string, mark: string): Message[] {
    const posts = this.#slack.messages(channel).filter(({ threadTs }) => threadTs === undefined);
    return posts.filter((message) => this.#slack.visibleText(message).includes(mark));
  }
}
