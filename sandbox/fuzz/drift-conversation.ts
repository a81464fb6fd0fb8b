import * as strings from '../../src/render/strings/index.ts';
import type { AgentScript } from '../agent/agent-script.ts';
import { textOf } from '../agent/records.ts';
import type { InProcessSandbox } from '../in-process-sandbox.ts';
import type { Channel, Message, Person } from '../slack/slack-workspace.ts';
import { lookUntil } from '../wait-until.ts';

/** What the agent writes: each stands once in the thread. */
export const WORDS = {
  begin: 'The first answer begins here.',
  end: 'The first answer ends here.',
  review: 'The reviewer found a small sample.',
  second: 'The second answer begins here.',
  unstopped: 'Nobody stopped the second answer.',
} as const;
export const FILES = ['one.csv', 'two.csv'] as const;
export const RESULTS = ['table.csv', 'note.txt'] as const;

const QUESTIONS = ['Look at these tables', 'Go on'] as const;
/** How long a wait may last before it is given up: many times what anything here takes. */
const GIVEN_UP_AFTER_MS = 120_000;
const POLL_MS = 150;
/** The job that looks for a review after a turn. */
const FOLLOW_UP_JOB = 'follow_up';

/** Answers with a tool, two results and a review; the second time it waits for the stop, or until `goesOn`. */
export function driftScript(goesOn: (question: string) => boolean): AgentScript {
  return async (turn) => {
    if (turn.text.includes(QUESTIONS[1])) {
      turn.write(`${WORDS.second}\n\n`);
      while (!goesOn(turn.text)) await turn.sleep(POLL_MS);
      turn.write(WORDS.unstopped);
      return;
    }
    turn.write(`${WORDS.begin}\n\n`);
    await turn.tool('look_up', { query: 'tables' }, () => 'Two tables');
    await turn.sleep(300);
    await turn.result(RESULTS[0], 'text/csv', 'name,value\nA1,12\n');
    await turn.result(RESULTS[1], 'text/plain', 'A note\n');
    turn.write(WORDS.end);
    turn.review({ findings: WORDS.review });
  };
}

/** What people and the service have of a conversation. */
export type Trace = Awaited<ReturnType<DriftConversation['play']>>;

/** One person's conversation with the agent in a channel of its own. */
export class DriftConversation {
  readonly #sandbox: InProcessSandbox;
  readonly #person: Person;
  readonly #channel: Channel;
  readonly #bot: string;
  readonly #name: string;
  readonly #turnMs: number[] = [];
  readonly #unended: string[] = [];
  #root: Message | undefined;

  constructor(sandbox: InProcessSandbox, at: { teamId: string; name: string }) {
    this.#sandbox = sandbox;
    this.#name = at.name;
    this.#person = sandbox.slack.createPerson({ name: `asker-${at.name}`, teamId: at.teamId });
    this.#channel = sandbox.slack.createChannel({ name: at.name, teamId: at.teamId });
    this.#bot = sandbox.slack.teams.find(({ id }) => id === at.teamId)?.bot.userId ?? '';
  }

  /** Asks twice, stops the second answer, and looks at the task. `goOn`: the second answer no longer waits for the stop. */
  async play(goOn: (question: string) => void) {
    const sizes = [20, 250];
    const files = FILES.map((name, at) => ({
      name,
      mime: 'text/csv',
      bytes: 'a,b,c\n1,2\n'.repeat(sizes[at] ?? 1),
    }));
    const root = this.#say(QUESTIONS[0], { files });
    this.#root = root;
    await this.#ended(root, 'the first turn');
    const question = `${QUESTIONS[1]}, ${this.#name}`;
    const second = this.#say(question, { thread: root.ts });
    const stopped = this.#stop(second).then(() => goOn(question));
    await this.#ended(second, 'the second turn');
    await stopped;
    const details = await this.#details(root);
    await this.#until(async () => this.#shows(WORDS.review) || !(await this.#isWatched(root)));
    return this.#trace(details);
  }

  #say(
    text: string,
    more: { files?: { name: string; mime: string; bytes: string }[]; thread?: string },
  ): Message {
    const { slack } = this.#sandbox;
    return slack.say({
      person: this.#person,
      channel: this.#channel,
      text: `<@${this.#bot}> ${text}`,
      ...more,
    });
  }

  async #ended(message: Message, what: string): Promise<void> {
    const { isSo, ms } = await this.#until(() => this.#isEnded(message));
    this.#turnMs.push(ms);
    if (!isSo) this.#unended.push(what);
  }

  async #isEnded(message: Message): Promise<boolean> {
    return (await this.#turnOf(message))?.finished_at != null;
  }

  async #turnOf({ teamId, channel, ts }: Message) {
    return await this.#sandbox.bot.store.turns.ofMessage({ workspace: teamId, channel, ts });
  }

  /** Whether the task is still checked for a review. */
  async #isWatched({ teamId, channel, ts }: Message): Promise<boolean> {
    const job = { workspace: teamId, kind: FOLLOW_UP_JOB, channel, thread_ts: ts, key: '' };
    return (await this.#sandbox.bot.store.jobs.get(job)) !== undefined;
  }

  /** Presses Stop once the agent has begun to answer, and waits until the service knows it. */
  async #stop(second: Message): Promise<void> {
    const pressed = new Set<string>();
    await this.#until(async () => {
      const turn = await this.#turnOf(second);
      if (turn?.finished_at != null || turn?.stop_sent_at != null) return true;
      const button = this.#button(second);
      if (turn?.user_message_id == null || button === undefined || pressed.has(button)) return false;
      // The post may change while the button is pressed, and lose it to another one.
      if (await this.#pressStop(button)) pressed.add(button);
      return false;
    });
  }

  /** The ts of the post with the Stop button of this message's answer. */
  #button({ ts: since }: Message): string | undefined {
    const posts = this.#posts().filter(({ ts }) => ts > since);
    return posts.find(({ blocks }) => JSON.stringify(blocks ?? []).includes('"stop"'))?.ts;
  }

  async #pressStop(ts: string): Promise<boolean> {
    const press = { person: this.#person, channel: this.#channel, ts, actionId: 'stop' };
    return this.#sandbox.slack.click(press).then(
      () => true,
      () => false,
    );
  }

  /** What the Home tab and the task's details show. */
  async #details(root: Message): Promise<string> {
    const { slack } = this.#sandbox;
    const person = this.#person;
    const value = `${this.#channel.id}/${root.ts}`;
    slack.openHome(person);
    const home = () => JSON.stringify(slack.home(person)?.blocks ?? []);
    await this.#until(() => isLoaded(home(), strings.home.loading));
    if (!home().includes(value)) return home();
    await slack.click({ person, view: 'home', actionId: 'task_details', value });
    const modal = () => JSON.stringify(slack.modal(person)?.blocks ?? []);
    await this.#until(() => isLoaded(modal(), 'Loading'));
    return `${home()}\n${modal()}`;
  }

  #posts(): Message[] {
    const { slack } = this.#sandbox;
    if (this.#root === undefined) return [];
    return slack.thread(this.#channel.id, this.#root.ts).filter(({ user }) => user === this.#bot);
  }

  #texts(): string[] {
    return this.#posts().map((message) => this.#sandbox.slack.visibleText(message));
  }

  #shows(text: string): boolean {
    return this.#texts().some((shown) => shown.includes(text));
  }

  async #trace(details: string) {
    const { slack, agent } = this.#sandbox;
    const posts = this.#posts();
    const files = await Promise.all(
      posts.flatMap(({ fileIds }) => fileIds).map(async (id) => (await slack.fileBytes(id)).toString('utf8')),
    );
    const notes = slack.ephemerals(this.#person, this.#channel).map((note) => slack.visibleText(note));
    const tasks = agent.tasks.filter(({ project }) => project.title === this.#channel.name);
    const messages = tasks.flatMap((task) => task.messages);
    const given = new Set(messages.flatMap(({ input }) => input?.fileIds ?? []));
    const told = messages.filter(({ role }) => role === 'user').map(({ content }) => textOf(content));
    return {
      /** The bot's posts in the thread, and what their files hold. */
      posts: this.#texts(),
      files: files.join('\n'),
      /** What the asker alone sees: notes, the Home tab and the task's details. */
      privately: [...notes, details].join('\n'),
      /** People's messages at the service, and the number of files with each. */
      told: QUESTIONS.flatMap((question) =>
        told.filter((text) => text.includes(question)).map(() => question),
      ),
      attached: given.size,
      /** The names of the files that the task has. */
      kept: [
        ...agent.files.filter(({ id }) => given.has(id)).map(({ name }) => name),
        ...tasks.flatMap(({ results }) => results.map(({ file }) => file.name)),
      ],
      isStopped: messages.some(({ status }) => status === 'cancelled'),
      /** Whether a post looks as if its turn went on. */
      isUnfinished: posts.some(({ blocks }) => JSON.stringify(blocks ?? []).includes('"stop"')),
      /** How long each turn took; a time in which nothing ran here does not count. */
      turnMs: this.#turnMs,
      /** The turns that did not end. */
      unended: this.#unended,
    };
  }

  /** A look that fails has seen nothing: on a busy machine the database may not answer in time. */
  #until(is: () => boolean | Promise<boolean>) {
    const look = async () => is();
    return lookUntil(() => look().catch(() => false), GIVEN_UP_AFTER_MS, POLL_MS);
  }
}

/** Whether blocks are there, and do not say that more is to come. */
function isLoaded(blocks: string, loading: string): boolean {
  return blocks !== '[]' && !blocks.includes(loading);
}
