import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentScript } from '../agent/agent-script.ts';
import { textOf } from '../agent/records.ts';
import type { InProcessSandbox } from '../in-process-sandbox.ts';
import type { Channel, Message, Person } from '../slack/slack-workspace.ts';

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
/** How long (ms) the second answer waits to be stopped. */
const STOP_TIMEOUT_MS = 10_000;
const POLL_MS = 150;

/** Answers with a tool, two results and a review; the second time it waits for the stop. */
export const driftScript: AgentScript = async (turn) => {
  if (turn.text.includes(QUESTIONS[1])) {
    turn.write(`${WORDS.second}\n\n`);
    await turn.sleep(STOP_TIMEOUT_MS);
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

/** What people and the service have of a conversation. */
export interface Trace {
  /** The bot's posts in the thread, and what their files hold. */
  posts: string[];
  files: string;
  /** What the asker alone sees: notes, the Home tab and the task's details. */
  privately: string;
  /** People's messages at the service, and the number of files with each. */
  told: string[];
  attached: number;
  /** The names of the files that the task has. */
  kept: string[];
  isStopped: boolean;
  /** Whether a post looks as if its turn went on. */
  isUnfinished: boolean;
  /** What took more than its time. */
  late: string[];
}

/** One person's conversation with the agent in a channel of its own. */
export class DriftConversation {
  readonly #sandbox: InProcessSandbox;
  readonly #person: Person;
  readonly #channel: Channel;
  readonly #bot: string;
  readonly #limitMs: number;
  readonly #late: string[] = [];
  #root: Message | undefined;

  /** `limitMs`: how long each turn may take. */
  constructor(sandbox: InProcessSandbox, at: { teamId: string; name: string }, limitMs: number) {
    this.#sandbox = sandbox;
    this.#limitMs = limitMs;
    this.#person = sandbox.slack.createPerson({ name: `asker-${at.name}`, teamId: at.teamId });
    this.#channel = sandbox.slack.createChannel({ name: at.name, teamId: at.teamId });
    this.#bot = sandbox.slack.teams.find(({ id }) => id === at.teamId)?.bot.userId ?? '';
  }

  /** Asks twice, stops the second answer, and looks at the task. */
  async play(): Promise<Trace> {
    const sizes = [20, 250];
    const files = FILES.map((name, at) => ({
      name,
      mime: 'text/csv',
      bytes: 'a,b,c\n1,2\n'.repeat(sizes[at] ?? 1),
    }));
    const root = this.#say(QUESTIONS[0], { files });
    this.#root = root;
    await this.#ended(root, 'the first turn');
    const second = this.#say(QUESTIONS[1], { thread: root.ts });
    await this.#stop(second);
    await this.#ended(second, 'the second turn');
    const details = await this.#details(root);
    await this.#until(() => this.#shows(WORDS.review), this.#limitMs / 4);
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
    const isEnded = async () => (await this.#turnOf(message))?.finished_at != null;
    if (!(await this.#until(isEnded, this.#limitMs))) this.#late.push(what);
  }

  async #turnOf({ teamId, channel, ts }: Message) {
    return await this.#sandbox.bot.store.turns.ofMessage({ workspace: teamId, channel, ts });
  }

  /** Presses Stop once the second answer is there, or some time after the message was sent. */
  async #stop(second: Message): Promise<void> {
    const button = () =>
      this.#posts().find(
        ({ ts, blocks }) => ts > second.ts && JSON.stringify(blocks ?? []).includes('"stop"'),
      );
    const isSent = async () => {
      const turn = await this.#turnOf(second);
      return turn?.user_message_id != null || turn?.finished_at != null;
    };
    await this.#until(isSent, this.#limitMs);
    await this.#until(() => this.#shows(WORDS.second) && button() !== undefined, this.#limitMs / 4);
    const post = button();
    const { slack } = this.#sandbox;
    if (post === undefined) return;
    await slack
      .click({ person: this.#person, channel: this.#channel, ts: post.ts, actionId: 'stop' })
      .catch(() => undefined);
  }

  /** What the Home tab and the task's details show. */
  async #details(root: Message): Promise<string> {
    const { slack } = this.#sandbox;
    const person = this.#person;
    const value = `${this.#channel.id}/${root.ts}`;
    slack.openHome(person);
    const home = () => JSON.stringify(slack.home(person)?.blocks ?? []);
    if (!(await this.#until(() => home().includes(value), this.#limitMs))) return home();
    await slack.click({ person, view: 'home', actionId: 'task_details', value });
    const modal = () => JSON.stringify(slack.modal(person)?.blocks ?? []);
    await this.#until(() => modal().length > 2 && !modal().includes('Loading'), this.#limitMs);
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

  async #trace(details: string): Promise<Trace> {
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
      posts: this.#texts(),
      files: files.join('\n'),
      privately: [...notes, details].join('\n'),
      told: QUESTIONS.flatMap((question) =>
        told.filter((text) => text.includes(question)).map(() => question),
      ),
      attached: given.size,
      kept: [
        ...agent.files.filter(({ id }) => given.has(id)).map(({ name }) => name),
        ...tasks.flatMap(({ results }) => results.map(({ file }) => file.name)),
      ],
      isStopped: messages.some(({ status }) => status === 'cancelled'),
      isUnfinished: posts.some(({ blocks }) => JSON.stringify(blocks ?? []).includes('"stop"')),
      late: this.#late,
    };
  }

  async #until(is: () => boolean | Promise<boolean>, limitMs: number): Promise<boolean> {
    for (const deadline = performance.now() + limitMs; performance.now() < deadline; await sleep(POLL_MS))
      if (await is()) return true;
    return false;
  }
}
