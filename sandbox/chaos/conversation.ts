import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Channel, Message, Person, SlackWorkspace, Team } from '../slack/slack-workspace.ts';
import { RESULT_REQUEST } from './chaos-agent.ts';
import type { FileFingerprint, SaidMessage } from './damage.ts';
import { between, oneOf } from './random-streams.ts';

interface OpenThread {
  name: string;
  channel: Channel;
  /** The only one who writes in a direct message. */
  owner: Person | undefined;
  root: string;
  said: number;
  maxMessages: number;
}

/** Gaps between the two events of a mention, in ms. */
const COPY_GAPS_MS = [0, 0, 30, 400, 2_500, 6_000];
const MAX_OPEN_THREADS = 14;
const FILE_CHANCE = 0.3;
/** Of a new thread. */
const DIRECT_MESSAGE_CHANCE = 0.12;

/** What people write in a run: several channels and threads, repeated texts, files. */
export class Conversation {
  readonly said: SaidMessage[] = [];
  /** Threads in direct messages. */
  directMessages = 0;
  readonly #slack: SlackWorkspace;
  readonly #random: () => number;
  readonly #people: Person[];
  readonly #channels: Channel[] = [];
  readonly #open: OpenThread[] = [];
  readonly #options: { maxChannels: number; directMessageChance: number; team: Team };
  #threads = 0;
  #files = 0;

  /** New threads may come with new channels, up to `maxChannels`. By default the people are those of the first workspace. */
  constructor(
    slack: SlackWorkspace,
    random: () => number,
    options: { maxChannels?: number; directMessageChance?: number; team?: Team } = {},
  ) {
    const usual = { maxChannels: Infinity, directMessageChance: DIRECT_MESSAGE_CHANCE, team: slack.team };
    this.#options = { ...usual, ...options };
    this.#slack = slack;
    this.#random = random;
    this.#people = ['ada', 'grace', 'linus'].map((name) =>
      slack.createPerson({ name, realName: name, teamId: this.#options.team.id }),
    );
    for (let i = 0; i < 3; i += 1) this.#newChannel();
  }

  /** The people's names, which precede their text in threads with several people. */
  get names(): string[] {
    return this.#people.map(({ name }) => name);
  }

  /** A random person writes one message in a random thread. */
  sayOne(): void {
    const random = this.#random;
    this.#slack.delivery.gapMs = oneOf(random, COPY_GAPS_MS);
    const thread = this.#open.length < 4 || random() < 0.35 ? undefined : oneOf(random, this.#open);
    if (thread === undefined || this.#open.length === 0) this.#startThread();
    else this.#reply(thread);
  }

  /** A random person writes in the oldest thread that is open, if there is one. */
  replyOne(): void {
    const [thread] = this.#open;
    if (thread !== undefined) this.#reply(thread);
  }

  #startThread(): void {
    const random = this.#random;
    if (this.#channels.length < this.#options.maxChannels && random() < 0.5) this.#newChannel();
    this.#threads += 1;
    const name = `${this.#options.team === this.#slack.team ? '' : this.#options.team.id}th${this.#threads}`;
    const owner = random() < this.#options.directMessageChance ? oneOf(random, this.#people) : undefined;
    if (owner !== undefined) this.directMessages += 1;
    const channel =
      owner === undefined ? oneOf(random, this.#channels.slice(-16)) : this.#slack.openDm(owner);
    const text = `what about ${name} today${this.#resultRequest()}`;
    const root = this.#say({ channel, owner, text, root: undefined });
    this.#open.push({ name, channel, owner, root: root.ts, said: 1, maxMessages: random() < 0.65 ? 2 : 3 });
    if (this.#open.length > MAX_OPEN_THREADS) this.#open.shift();
  }

  #reply(thread: OpenThread): void {
    const { name, channel, owner, root } = thread;
    const same = this.#random() < 0.4;
    const text = same
      ? `go on with ${name} please`
      : `step ${thread.said} of ${name}${this.#resultRequest()}`;
    this.#say({ channel, owner, text, root });
    thread.said += 1;
    if (thread.said >= thread.maxMessages) this.#open.splice(this.#open.indexOf(thread), 1);
  }

  #say(what: Pick<OpenThread, 'channel' | 'owner'> & { text: string; root: string | undefined }): Message {
    const random = this.#random;
    const { channel, owner, text, root } = what;
    const files = random() < FILE_CHANCE ? this.#newFiles() : [];
    const message = this.#slack.say({
      person: owner ?? (random() < 0.8 ? this.#people[0] : undefined) ?? oneOf(random, this.#people),
      channel,
      text: root === undefined && owner === undefined ? `<@${this.#options.team.bot.userId}> ${text}` : text,
      ...(root === undefined ? {} : { thread: root }),
      ...(files.length === 0 ? {} : { files }),
    });
    this.said.push({
      thread: `${channel.id}/${root ?? message.ts}`,
      channel: channel.id,
      ts: message.ts,
      text,
      files: files.map(({ name, bytes }): FileFingerprint => `${name} ${sha256(bytes)}`),
    });
    return message;
  }

  #resultRequest(): string {
    return this.#random() < 0.25 ? ` and ${RESULT_REQUEST}` : '';
  }

  #newFiles(): { name: string; mime: string; bytes: string }[] {
    return Array.from({ length: this.#random() < 0.2 ? 2 : 1 }, () => {
      this.#files += 1;
      const name = `data-${this.#files}.csv`;
      const rows = Array.from({ length: between(this.#random, 5, 300) }, (_, row) => `${row},${this.#files}`);
      return { name, mime: 'text/csv', bytes: `row,file\n${rows.join('\n')}\n` };
    });
  }

  #newChannel(): void {
    const name = `room-${this.#channels.length + 1}`;
    const purpose = 'Where much happens';
    this.#channels.push(this.#slack.createChannel({ name, purpose, teamId: this.#options.team.id }));
  }
}

/** Hex digest. */
export function sha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

const messageEvent = z.looseObject({ event: z.looseObject({ channel: z.string(), ts: z.string() }) });

/** Records which messages reached the bot: Slack gives up an event after three retries. */
export class DeliveryTracker {
  readonly #delivered = new Set<string>();

  constructor(slack: SlackWorkspace) {
    slack.onAcknowledged((payload) => {
      const { data } = messageEvent.safeParse(payload);
      if (data !== undefined) this.#delivered.add(`${data.event.channel}/${data.event.ts}`);
    });
  }

  /** Whether the bot acknowledged the message and the root of its thread. */
  wasDelivered({ channel, ts, thread }: Pick<SaidMessage, 'channel' | 'ts' | 'thread'>): boolean {
    return this.#delivered.has(`${channel}/${ts}`) && this.#delivered.has(thread);
  }
}
