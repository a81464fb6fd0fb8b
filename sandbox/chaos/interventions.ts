import type { Message, SlackWorkspace } from '../slack/slack-workspace.ts';
import type { Conversation } from './conversation.ts';
import type { SaidMessage } from './damage.ts';
import { oneOf } from './random-streams.ts';

/** People change their mind about one of this many newest messages. */
const RECENT_MESSAGES = 12;
/** A notice shows for a moment what was pressed. */
const SEND_PAUSED_INTERVAL_MS = 3_000;

/** What people do besides writing: they edit, delete, stop, and press buttons. */
export class Interventions {
  /** How often each kind was done. */
  readonly counts = { edits: 0, deletions: 0, stops: 0, presses: 0 };
  readonly #slack: SlackWorkspace;
  readonly #conversation: Pick<Conversation, 'said'>;
  readonly #random: () => number;
  #sentPausedAt = Number.NEGATIVE_INFINITY;

  constructor(slack: SlackWorkspace, conversation: Pick<Conversation, 'said'>, random: () => number) {
    this.#slack = slack;
    this.#conversation = conversation;
    this.#random = random;
  }

  /** Somebody does one random thing, if there is something to do it to. */
  async actOne(): Promise<void> {
    const recent = this.#conversation.said
      .slice(-RECENT_MESSAGES)
      .filter(({ wasDeleted }) => wasDeleted !== true);
    if (recent.length === 0) return;
    const message = oneOf(this.#random, recent);
    const kind = this.#random();
    if (kind < 0.4) this.#edit(message);
    else if (kind < 0.55) this.#delete(message);
    else if (kind < 0.7) await this.#stop(message);
    else await this.#press(message, this.#random() < 0.2 ? 'discard_paused' : 'send_paused');
  }

  /**
   * Presses the button that sends the paused messages in each thread that has one, every few seconds. Resolves to
   * whether there was one.
   */
  async sendPaused(): Promise<boolean> {
    const paused = this.#oneOfEachThread().filter(
      (message) => this.#postWith('send_paused', message) !== undefined,
    );
    const now = performance.now();
    if (now - this.#sentPausedAt > SEND_PAUSED_INTERVAL_MS) {
      this.#sentPausedAt = now;
      for (const message of paused) await this.#press(message, 'send_paused');
    }
    return paused.length > 0;
  }

  #oneOfEachThread(): SaidMessage[] {
    return [...new Map(this.#conversation.said.map((message) => [message.thread, message])).values()];
  }

  #edit(message: SaidMessage): void {
    if (message.editedText !== undefined) return;
    this.counts.edits += 1;
    message.editedText = `${message.text} (edit ${this.counts.edits})`;
    const { text } = this.#slack.message(message.channel, message.ts);
    this.#slack.edit(message.channel, message.ts, text.replace(message.text, message.editedText));
  }

  /** Deletes a reply. Without its root a thread would be another case: its replies land in the channel. */
  #delete(message: SaidMessage): void {
    if (message.thread === `${message.channel}/${message.ts}`) return;
    this.counts.deletions += 1;
    message.wasDeleted = true;
    this.#slack.remove(message.channel, message.ts);
  }

  /** Stops the thread's turn by its button or by the word; what the turn had not sent by then may stay unsent. */
  async #stop(message: SaidMessage): Promise<void> {
    this.counts.stops += 1;
    for (const said of this.#conversation.said) if (said.thread === message.thread) said.wasStopped = true;
    if (this.#random() < 0.5 && (await this.#press(message, 'stop'))) return;
    const { user } = this.#slack.message(message.channel, message.ts);
    const [, thread = ''] = message.thread.split('/');
    this.#slack.say({ person: user, channel: message.channel, text: 'stop', thread });
  }

  /** Presses a button in a message's thread; false if no post has it. */
  async #press(message: SaidMessage, actionId: string): Promise<boolean> {
    const post = this.#postWith(actionId, message);
    if (post === undefined) return false;
    this.counts.presses += 1;
    const { channel, ts } = message;
    const person = this.#slack.message(channel, ts).user;
    await this.#slack.click({ person, channel, ts: post.ts, actionId });
    return true;
  }

  #postWith(actionId: string, { channel, thread }: SaidMessage): Message | undefined {
    const has = ({ blocks }: Message) => JSON.stringify(blocks ?? []).includes(`"action_id":"${actionId}"`);
    return this.#slack.thread(channel, thread.split('/')[1] ?? '').findLast(has);
  }
}
