import { setTimeout as sleep } from 'node:timers/promises';
import type { Person } from '../slack/slack-workspace.ts';
import { waitUntil } from '../wait-until.ts';
import type { SaidMessage } from './damage.ts';
import { postedQuestion, postsWith, SideActivity } from './side-activity.ts';

/** How long a form has to open and to fill (ms), and how often one is pressed or sent: until after the last kill. */
const FORM_WAIT_MS = 4_000;
const MAX_TRIES = 40;
/** As a person does, who looks at the message first: by then a process that was killed is back (ms). */
const RETRY_MS = 1_000;
const AGAIN_BUTTON = /"(ask_again\/[^"]+)"/;

/** The outcome for the report. */
export interface AgainCounts {
  /** Forms that were shown, taken or not: they are sent until after the last kill. */
  askedAgain: number;
  /** Those whose question was posted once, with a link to the first thread, which has one link to it. */
  linkedOnce: number;
}

interface Run {
  first: { channel: string; root: string };
  /** In the question and nowhere else. */
  mark: string;
  text: string;
  files: SaidMessage['files'];
}

/** People ask finished questions again in new threads: they press "Ask again" and send the form. */
export class AskingAgain extends SideActivity<AgainCounts> {
  protected readonly chance = 0.6;
  /** Each try costs look-ups: more people would wait for Slack's limit of those alone. */
  protected override readonly maxAtOnce = 1;
  readonly #runs: Run[] = [];

  protected placesIn(channel: string, root: string): string[] {
    return this.#menusIn(channel, root).map(({ value }) => `${channel}/${root}/${value}`);
  }

  #menusIn(channel: string, root: string): { ts: string; value: string }[] {
    return this.slack.thread(channel, root).flatMap(({ ts, blocks }) => {
      const value = AGAIN_BUTTON.exec(JSON.stringify(blocks ?? []))?.[1];
      return value === undefined ? [] : [{ ts, value }];
    });
  }

  protected async act(place: string): Promise<void> {
    const [channel = '', root = '', ...rest] = place.split('/');
    const value = rest.join('/');
    const person = this.newcomer('asker', channel);
    let question: string | undefined;
    for (let tries = 0; question === undefined && tries < MAX_TRIES; tries += 1) {
      // A reply that is read again may move its end to another message.
      const menu = this.#menusIn(channel, root).find((one) => one.value === value);
      if (menu === undefined) return;
      await this.slack.click({ person, channel, ts: menu.ts, actionId: 'menu', value });
      question = await this.#filledQuestion(person);
    }
    if (question === undefined) return;
    const mark = `(again by ${person.name})`;
    const text = `${question} ${mark}`;
    const shown = JSON.stringify(this.slack.modal(person)?.blocks);
    const all = this.said.flatMap(({ files }) => files);
    const files = all.filter((file) => shown.includes(file.split(' ')[0] ?? ''));
    this.#runs.push({ first: { channel, root }, mark, text, files });
    let isTaken = false;
    for (let tries = 0; !isTaken && tries < MAX_TRIES; tries += 1) {
      const sent = await this.slack.submitView(person, { question: text });
      isTaken = sent.acked && !JSON.stringify(sent).includes('"errors"');
      if (!isTaken) await sleep(RETRY_MS);
    }
  }

  /** What the person's form asks, once it is filled; undefined if that takes too long, or Slack no longer has the question. */
  async #filledQuestion(person: Person): Promise<string | undefined> {
    const question = () => {
      const view = this.slack.modal(person);
      const input = view?.blocks.find(({ block_id: id }) => id === 'question');
      const { initial_value: initial } = Object(Object(input).element);
      return view?.callbackId === 'start' && typeof initial === 'string' ? initial : undefined;
    };
    if (await waitUntil(() => question() !== undefined, FORM_WAIT_MS)) return question();
    if (this.slack.modal(person) !== undefined) await this.slack.closeView(person);
    return undefined;
  }

  /** The questions that were posted, as messages whose threads are compared with their tasks. */
  questions(): SaidMessage[] {
    return this.#runs.flatMap(({ first, mark, text, files }) =>
      postsWith(this.slack, first.channel, mark).map((post) => postedQuestion(post, text, files)),
    );
  }

  async counts(): Promise<AgainCounts> {
    const linked = this.#runs.filter((run) => this.#isLinkedOnce(run));
    return { askedAgain: this.#runs.length, linkedOnce: linked.length };
  }

  protected isDone({ askedAgain, linkedOnce }: AgainCounts): boolean {
    return askedAgain === linkedOnce;
  }

  #isLinkedOnce({ first: { channel, root }, mark }: Run): boolean {
    const [post, ...others] = postsWith(this.slack, channel, mark);
    if (post === undefined || others.length > 0) return false;
    const link = `<${this.slack.permalink(post)}>`;
    const back = this.slack.thread(channel, root).filter(({ text }) => text.includes(link));
    return back.length === 1 && JSON.stringify(post.blocks).includes('|an earlier thread>');
  }
}
