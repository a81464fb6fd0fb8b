import type { Message, Person, SlackWorkspace } from '../slack/slack-workspace.ts';
import { waitUntil } from '../wait-until.ts';
import type { SaidMessage } from './damage.ts';
import { oneOf } from './random-streams.ts';

/** How long what was begun may take once everything works again (ms). */
export const SETTLE_TIMEOUT_MS = 180_000;

/** What some people do beside those who write, in threads of channels; each time by somebody else. */
export abstract class SideActivity<Counts> {
  /** The names of those who do. */
  readonly names: string[] = [];
  protected readonly slack: SlackWorkspace;
  protected readonly said: readonly SaidMessage[];
  readonly #random: () => number;
  readonly #open = new Set<Promise<void>>();

  constructor(slack: SlackWorkspace, said: readonly SaidMessage[], random: () => number) {
    this.slack = slack;
    this.said = said;
    this.#random = random;
  }

  /** Of a message that somebody writes. */
  protected abstract readonly chance: number;
  /** How many do it at a time. */
  protected readonly maxAtOnce: number = Number.POSITIVE_INFINITY;
  /** Where it can be done in this thread, if it can. */
  protected abstract placesIn(channel: string, root: string): string[];
  protected abstract act(place: string): Promise<void>;
  abstract counts(): Promise<Counts>;
  protected abstract isDone(counts: Counts): boolean;

  /** Now and then, somebody does it. */
  runOne(): void {
    if (this.#random() >= this.chance || this.#open.size >= this.maxAtOnce) return;
    const places = [...new Set(this.said.map(({ thread }) => thread))].flatMap((thread) => {
      const [channel = '', root = ''] = thread.split('/');
      return channel.startsWith('C') ? this.placesIn(channel, root) : [];
    });
    if (places.length === 0) return;
    const done = this.act(oneOf(this.#random, places)).finally(() => this.#open.delete(done));
    this.#open.add(done);
  }

  /** Waits until everything came of it that must, or has had its time. */
  async settled(): Promise<void> {
    await Promise.all(this.#open);
    await waitUntil(async () => this.isDone(await this.counts()), SETTLE_TIMEOUT_MS);
  }

  /** Somebody new in a channel. */
  protected newcomer(kind: string, channel: string): Person {
    const name = `${kind}${this.names.length + 1}`;
    this.names.push(name);
    const person = this.slack.createPerson({ name, realName: name });
    this.slack.invite(channel, person);
    return person;
  }
}

/** The messages at the top of a channel that show this text. */
export function postsWith(slack: SlackWorkspace, channel: string, text: string | RegExp): Message[] {
  const posts = slack.messages(channel).filter(({ threadTs }) => threadTs === undefined);
  const has = (shown: string) => (typeof text === 'string' ? shown.includes(text) : text.test(shown));
  return posts.filter((message) => has(slack.visibleText(message)));
}

/** A question that the bot posted, as a message whose thread is compared with its task. */
export function postedQuestion(
  { channel, ts }: Message,
  text: string,
  files: SaidMessage['files'] = [],
): SaidMessage {
  return { thread: `${channel}/${ts}`, channel, ts, text, files, wasDelivered: true };
}
