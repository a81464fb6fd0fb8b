import type { InProcessSandbox } from '../sandbox/in-process-sandbox.ts';
import { sampleTable } from '../sandbox/sample-table.ts';
import type { Channel, Message, Person } from '../sandbox/slack/slack-workspace.ts';
import type { HeldAgent } from './held-agent.ts';

export const NAMES = ['ada', 'grace', 'alan', 'barbara', 'edsger'] as const;
export type Name = (typeof NAMES)[number];

/** What somebody points at beside their words. `named`: it is left out, and the thread says so; its `secret` stays here. */
export type PointedInput =
  | { kind: 'words'; words: string }
  | { kind: 'file'; content: string }
  | { kind: 'named'; name: string; secret?: string };

/** What a person said, and for whom. */
export interface SaidMessage {
  message: Message;
  /** As the agent would read it, without the bot's mention and flags. */
  text: string;
  /** A question to the agent, an answer to its question, a mention or file that asks nothing yet, or talk among people. */
  kind: 'question' | 'answer' | 'call' | 'talk';
  /** People began the thread. */
  isBetweenPeople: boolean;
  hasFile: boolean;
  /** A table, a forwarded message or a preview, which the agent reads below the text. */
  comesWithMore: boolean;
  pointsAt: readonly PointedInput[];
  /** Its turn ended; of a call: the bot posted something after it. */
  isNoticed: boolean;
}

/** A press of a button. */
export interface PressedButton {
  person: Name;
  button: string;
  /** Who pressed saw something change. */
  isAnswered: boolean;
}

/** Where the threads of an hour are played. */
export interface Stage {
  readonly sandbox: InProcessSandbox;
  /** The hour is played in seconds, and perhaps on a busy machine: it has nothing whose time-out that could reach. */
  readonly isHurried: boolean;
  /** Holds replies for as long as a scene needs them. */
  readonly heldAgent: HeldAgent;
  /** The ts of the messages whose turns have ended. */
  readonly ended: ReadonlySet<string>;
  readonly said: SaidMessage[];
  readonly presses: PressedButton[];
  /** What buttons sent to the agent, in the thread of this root. */
  readonly sentByPresses: { root: string; text: string }[];
  person(name: Name): Person;
  /** Waits until this minute of the hour. */
  at(minute: number): Promise<void>;
  /** Waits until something is so; false, and one more wait in vain, if it did not become so in time. */
  until(what: string, look: () => boolean | Promise<boolean>): Promise<boolean>;
}

type Shared = Parameters<InProcessSandbox['slack']['say']>[0];

/** What comes with a message, and how it is typed. */
interface Saying extends Pick<Shared, 'table' | 'forwards' | 'previews' | 'attachments'> {
  mentions?: boolean;
  /** Typed before the text, with a space at the end. */
  flags?: string;
  /** The name of a file that is shared with it. */
  file?: string;
  pointsAt?: readonly PointedInput[];
}

/** The content of the file of this name. */
export function contentOf(file: string): string {
  return `${String(sampleTable(1, 2_000).csv)}${file}\n`;
}

/** A place where people write; the first message begins a thread. */
export class Thread {
  readonly #stage: Stage;
  readonly #channel: Channel;
  #root: Message | undefined;
  #isBetweenPeople = false;

  /** `root`: a thread that is there already. */
  constructor(stage: Stage, channel: Channel, root?: Message) {
    this.#stage = stage;
    this.#channel = channel;
    this.#root = root;
    this.#isBetweenPeople = root !== undefined;
  }

  say(name: Name, text: string, kind: SaidMessage['kind'], saying: Saying = {}): SaidMessage {
    const { mentions = false, flags = '', file = '', pointsAt = [], ...shared } = saying;
    const { slack } = this.#stage.sandbox;
    const files = file === '' ? {} : { files: [{ name: file, mime: 'text/csv', bytes: contentOf(file) }] };
    const message = slack.say({
      person: this.#stage.person(name),
      channel: this.#channel,
      text: `${mentions ? `<@${slack.bot.userId}> ` : ''}${flags}${text}`,
      ...(this.#root && { thread: this.#root.ts }),
      ...files,
      ...shared,
    });
    if (this.#root === undefined) this.#isBetweenPeople = kind === 'talk';
    this.#root ??= message;
    const isBetweenPeople = this.#isBetweenPeople;
    const comesWithMore = Object.keys(shared).length > 0;
    const shares = { hasFile: file !== '', comesWithMore, pointsAt };
    const said = { message, text: this.#asRead(text), kind, isBetweenPeople, ...shares, isNoticed: false };
    this.#stage.said.push(said);
    return said;
  }

  /** The text with the names of those whom it mentions. */
  #asRead(text: string): string {
    const mentioned = NAMES.map((name): [string, Name] => [`<@${this.#stage.person(name).id}>`, name]);
    return mentioned.reduce((read, [mention, name]) => read.replaceAll(mention, `@${name}`), text);
  }

  /** Says it and waits for the end of its turn. */
  async ask(
    name: Name,
    text: string,
    kind: 'question' | 'answer',
    saying: Saying = {},
  ): Promise<SaidMessage> {
    const said = this.say(name, text, kind, saying);
    await this.answered(said);
    return said;
  }

  /** Mentions the bot or shares a file without a question, and waits for what the bot says to it. */
  async call(name: Name, saying: Saying): Promise<void> {
    const said = this.say(name, '', 'call', saying);
    const { ts } = said.message;
    said.isNoticed = await this.#stage.until(`${name} is answered with a post`, () =>
      this.#posts().some((post) => post.ts > ts),
    );
  }

  /** Waits for the end of the turn of a message. */
  async answered(said: SaidMessage): Promise<void> {
    said.isNoticed = await this.#stage.until(`the turn of “${said.text}” ends`, () =>
      this.#stage.ended.has(said.message.ts),
    );
  }

  /** Waits until the bot has shown these words in the thread. */
  async shows(words: string): Promise<void> {
    await this.#stage.until(`the thread shows “${words}”`, () => this.#shown().includes(words));
  }

  /** Waits until the bot has said something to a person that only they see. */
  async tells(name: Name): Promise<void> {
    await this.#stage.until(`${name} is told something`, () => this.#notesFor(name).length > 0);
  }

  /** What the button sends to the agent, besides what people said. */
  sends(text: string): void {
    this.#stage.sentByPresses.push({ root: this.#root?.ts ?? '', text });
  }

  /**
   * These people press the newest button of this id at the same moment, so that all but one come late. Each must see
   * something: words in the thread, a note, or a window.
   */
  async press(names: readonly Name[], button: string, shows?: (name: Name) => string): Promise<void> {
    const { slack } = this.#stage.sandbox;
    const presses = names.map((person) => ({ person, button, isAnswered: false }));
    this.#stage.presses.push(...presses);
    const pressed = presses.map((press) => ({ press, post: () => this.#withButton(press.person, button) }));
    const hasButton = () => pressed.every(({ post }) => post() !== undefined);
    if (!(await this.#stage.until(`there is a button ${button}`, hasButton))) return;
    await Promise.all(
      pressed.map(async ({ press, post }) => {
        const { person } = press;
        const before = this.#seenOnlyBy(person);
        const { ts = '', blocks } = post() ?? {};
        const [, value] = /"value":"(good\/[^"]+)"/.exec(JSON.stringify(blocks)) ?? [];
        await slack.click({
          person: this.#stage.person(person),
          channel: this.#channel,
          ts,
          actionId: button,
          ...(button === 'feedback' && value !== undefined && { value }),
        });
        press.isAnswered = await this.#stage.until(
          `${person} sees what ${button} does`,
          () =>
            this.#seenOnlyBy(person) !== before ||
            (shows !== undefined && this.#shown().includes(shows(person))),
        );
      }),
    );
  }

  #posts(): Message[] {
    const { slack } = this.#stage.sandbox;
    const thread = slack.thread(this.#channel.id, this.#root?.ts ?? '');
    return thread.filter(({ user }) => user === slack.bot.userId);
  }

  #shown(): string {
    const { slack } = this.#stage.sandbox;
    return this.#posts()
      .map((post) => slack.visibleText(post))
      .join('\n');
  }

  #withButton(name: Name, button: string) {
    return [...this.#posts(), ...this.#notesFor(name)].findLast(({ blocks }) =>
      JSON.stringify(blocks ?? []).includes(`"action_id":"${button}"`),
    );
  }

  /** What only this person sees here: of the thread, and what a command shows. */
  #notesFor(name: Name) {
    const notes = this.#stage.sandbox.slack.ephemerals(this.#stage.person(name), this.#channel);
    return notes.filter(({ threadTs }) => threadTs === undefined || threadTs === this.#root?.ts);
  }

  #seenOnlyBy(name: Name): string {
    const modal = this.#stage.sandbox.slack.modal(this.#stage.person(name));
    return JSON.stringify([this.#notesFor(name), modal?.id, modal?.blocks]);
  }
}
