import type { AgentScript } from '../../sandbox/agent/agent-script.ts';
import type { Channel, Message, Person, SlackWorkspace } from '../../sandbox/slack/slack-workspace.ts';
import { controlRefused } from '../../src/render/strings/index.ts';
import { type AppScene, openAppScene, pause } from './app-scene.ts';

type SceneOptions = NonNullable<Parameters<typeof openAppScene>[0]>;

/** The agent says what it was asked with; `slowly` in a question makes it take its time, `cut off` end at the limit. */
const script: AgentScript = async (turn) => {
  turn.write(`Begun with ${turn.files.length} files. `);
  if (/\bslowly\b/.test(turn.text)) await turn.sleep(2_000_000);
  if (/\bcut off\b/.test(turn.text)) turn.end('length');
  turn.write(`Skill: ${turn.skill ?? 'none'}. All is said.`);
};

/** Whether the bot says that Slack did not tell it in time who asks, or who is in the channel. */
function isUnknown(text: string): boolean {
  return text.includes(controlRefused.unknown);
}

/** A scene with short words for forms; each test has its own people, because windows are theirs. */
export class StartFormScene {
  readonly scene: AppScene;
  #people = 0;

  constructor(scene: AppScene) {
    this.scene = scene;
  }

  get #slack() {
    return this.scene.slack;
  }

  /** Somebody who has no window open. */
  newPerson(): Person {
    this.#people += 1;
    return this.#slack.createPerson({ name: `person-${this.#people}` });
  }

  /** A newcomer in a channel of their own. */
  personInChannel(more: { bot?: boolean } = {}): { channel: Channel; person: Person } {
    const person = this.newPerson();
    const name = `room-${this.#people}`;
    return { person, channel: this.#slack.createChannel({ name, bot: more.bot !== false }) };
  }

  /** The person mentions the bot. */
  ask(person: Person, channel: Channel, text: string): Message {
    return this.#slack.say({ person, channel, text: `${this.scene.mention} ${text}` });
  }

  async command(person: Person, channel: Channel, text: string): Promise<void> {
    await this.#slack.command({ person, channel, command: '/agent', text });
  }

  /** Asks by the command, and returns what the person hears; where the bot could not learn in time who asks, once more. */
  async askByCommand(person: Person, channel: Channel, text: string): Promise<string> {
    for (let tries = 1; ; tries += 1) {
      await this.command(person, channel, text);
      const heard = await this.scene.until('the command is answered', () => {
        const all = this.ephemeralTexts(person, channel);
        return all.length >= tries && all.at(-1);
      });
      if (tries === 20 || !isUnknown(heard)) return heard;
      await pause(500);
    }
  }

  /** The person's form, once it can be filled in. */
  async form(person: Person) {
    return this.scene.until('the form is open', () => {
      const view = this.#slack.modal(person);
      return view?.callbackId === 'start' && view;
    });
  }

  /** Sends the person's form; where the bot could not learn in time who sends it, once more, as it asks for. */
  async send(person: Person, values?: Parameters<SlackWorkspace['submitView']>[1]) {
    const send = () => this.#slack.submitView(person, values);
    let sent = await send();
    for (let tries = 1; tries < 20 && isUnknown(JSON.stringify(sent.body ?? '')); tries += 1) {
      await pause(500);
      sent = await send();
    }
    return sent;
  }

  /** What the person's window says. */
  modalText(person: Person): string {
    return JSON.stringify(this.#slack.modal(person)?.blocks ?? []);
  }

  /** What the person's window is filled in with, to be sent with changes. */
  filled(person: Person): Record<string, string | string[]> {
    const view = this.#slack.modal(person);
    const values: Record<string, string | string[]> = {};
    for (const { block_id: id, element } of view?.blocks ?? []) {
      const { initial_value: text, initial_option: option, initial_conversation: channel } = Object(element);
      const typed = view?.values[String(id)]?.[String(id)];
      const said = typed?.value ?? typed?.selected_conversation;
      const value: unknown = said ?? text ?? channel ?? Object(option).value;
      if (typeof value === 'string') values[String(id)] = value;
    }
    return values;
  }

  /** Somebody deletes a task at the service. */
  async deleteTask(id: string): Promise<void> {
    const { AGENT_BASE_URL: base, AGENT_API_KEY: key } = this.scene.sandbox.config;
    const headers = { authorization: `Bearer ${key}` };
    await fetch(`${base}/experimental/tasks/${id}`, { method: 'DELETE', headers });
  }

  /** The bot's posts in a channel, outside of threads, that quote a question. */
  posts(channel: Channel, question: string): Message[] {
    return this.#slack
      .messages(channel)
      .filter(
        (one) =>
          one.user === this.#slack.bot.userId &&
          one.threadTs === undefined &&
          this.#slack.visibleText(one).includes(question),
      );
  }

  async post(channel: Channel, question: string): Promise<Message> {
    return this.scene.until('the question is posted', () => this.posts(channel, question)[0]);
  }

  /** What the service was sent for the tasks of this title. */
  startedTasks(title: string): unknown[] {
    const calls = this.scene.agent.calls.filter(({ name }) => name === 'POST /experimental/tasks');
    return calls.flatMap(({ body }) => (Object(body).title === title ? [body] : []));
  }

  /** What only the person sees in a channel, oldest first. */
  ephemeralTexts(person: Person, channel: Channel): string[] {
    return this.#slack.ephemerals(person, channel).map((one) => this.#slack.visibleText(one));
  }

  /** Presses a button of a thread's newest reply that has one. */
  async press(person: Person, channel: Channel, root: Message, actionId: string): Promise<void> {
    const { ts } = await this.scene.messageWithButton(channel, root, actionId);
    await this.#slack.click({ person, channel, ts, actionId });
  }

  /** Chooses an item of the menu below the newest answer of a thread that has one, or the first. */
  async choose(
    person: Person,
    channel: Channel,
    root: Message,
    item: string,
    which: 'newest' | 'first' = 'newest',
  ): Promise<void> {
    await this.scene.messageWithButton(channel, root, 'menu');
    const menus = this.scene.replies(channel, root).flatMap(({ ts, blocks }) => {
      const value = new RegExp(`"(${item}/[^"]+)"`).exec(JSON.stringify(blocks ?? []))?.[1];
      return value === undefined ? [] : [{ ts, value }];
    });
    const menu = which === 'newest' ? menus.at(-1) : menus[0];
    if (menu === undefined) throw new Error(`No menu has the item ${item}.`);
    await this.#slack.click({ person, channel, ...menu, actionId: 'menu' });
  }
}

/** Opens one; with `onTestFinished` for a scene of one test. */
export async function openStartFormScene(
  options: SceneOptions = {},
  whenDone?: Parameters<typeof openAppScene>[1],
): Promise<StartFormScene> {
  return new StartFormScene(
    await openAppScene({ ...options, agent: { script, ...options.agent } }, whenDone),
  );
}
