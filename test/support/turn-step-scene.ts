import { textOf } from '../../sandbox/agent/records.ts';
import type { Fault } from '../../sandbox/faults.ts';
import type { Channel, Message } from '../../sandbox/slack/slack-workspace.ts';
import { RELAY_LIMITS } from '../../src/limits.ts';
import { type AppScene, openAppScene } from './app-scene.ts';
import { ScopedFaults } from './scoped-faults.ts';
import type { TurnStepCall } from './turn-step-calls.ts';

/** A lost call is settled after ten seconds at the latest; the lanes and a busy machine hold so many threads up. */
const TIMEOUT_MS = 150_000;

interface FaultCase {
  name: string;
  channel: Channel;
  root: Message;
}

/** What a turn left behind, at the service and in its thread. */
export interface TurnTrace {
  /** Calls that met the fault. */
  faults: number;
  /** People's messages in the tasks of the thread. */
  told: string[];
  /** How many files went with each message. */
  files: number[];
  /** How many results the tasks have. */
  results: number;
  /** The bot's messages with the beginning of the reply, with its end, and with the results. */
  begun: number;
  ended: number;
  withResults: number;
  /** Those with files that show in the thread. */
  withFiles: number;
  /** Its messages that look like work that goes on, and those that are none of these. */
  unsettled: number;
  others: number;
}

const [begin, end, result] = [
  /I will look at `table.csv`/,
  /I saved the summary as/,
  /2 files from the agent/,
];
const UNFINISHED_TEXT = /\bStop\b|can't reach|very busy|The agent is working/;

/** A scene where each thread is in a channel of its own, and a fault hits one thread's call. */
export class TurnStepScene {
  readonly scene: AppScene;
  readonly #faults: Record<'slack' | 'agent', ScopedFaults>;
  readonly #about = new Map<string, string>();
  #cases = 0;

  constructor(scene: AppScene, faults: Record<'slack' | 'agent', ScopedFaults>) {
    this.scene = scene;
    this.#faults = faults;
    for (const place of ['slack', 'agent'] as const) {
      faults[place].scopeOf = (said) => this.#scopeOf(said);
    }
  }

  /** Somebody asks something with a table; the first of each of these calls of its turn meets a fault. */
  begin(calls: readonly TurnStepCall[], faultOf: (call: TurnStepCall) => Fault): FaultCase {
    const { slack } = this.scene;
    this.#cases += 1;
    const name = `case-${this.#cases}-${calls[0]?.step.replaceAll(' ', '-')}`;
    const person = slack.createPerson({ name: `asker of ${name}`, realName: 'Asker' });
    const channel = this.scene.channel(name);
    this.#about.set(channel.id, name);
    this.#about.set(person.id, name);
    for (const call of calls) {
      const escaped = call.name.replaceAll(/[.{}]/g, '\\$&');
      const pattern = new RegExp(`^(?:${escaped}) ${name} .*${call.says ?? ''}`, 's');
      this.#faults[call.place].add({ call: pattern, fault: faultOf(call), times: 1 });
    }
    const files = [{ name: 'table.csv', mime: 'text/csv', bytes: 'name,value\nA1,12\nA2,14\n' }];
    const root = this.scene.ask(channel, `summarise ${name}`, { person, files });
    for (const file of root.fileIds) this.#about.set(file, name);
    return { name, channel, root };
  }

  /** How many calls of a turn met a fault. */
  hits({ name }: FaultCase): number {
    const calls = [...this.#faults.slack.hits, ...this.#faults.agent.hits];
    return calls.filter((call) => call.includes(` ${name} `)).length;
  }

  /** Waits for the end of the turn, and tells what it left behind. */
  async trace(turn: FaultCase): Promise<TurnTrace> {
    const { name, channel, root } = turn;
    await this.scene.finished(channel, root, TIMEOUT_MS);
    const asked = `summarise ${name}`;
    const tasks = this.scene.agent.tasks.filter(({ title }) => title === asked);
    const messages = tasks.flatMap((task) => task.messages);
    const told = messages.filter(({ role }) => role === 'user').map(({ content }) => textOf(content));
    return {
      faults: this.hits(turn),
      told: told.map((text) => (text === asked ? 'as asked' : text)),
      files: messages.flatMap(({ input }) => (input === null ? [] : [input.fileIds.length])),
      results: tasks.flatMap(({ results }) => results).length,
      begun: this.#posts(turn, (shown) => begin.test(shown)),
      ended: this.#posts(turn, (shown) => end.test(shown)),
      withResults: this.#posts(turn, (shown) => result.test(shown)),
      withFiles: this.#withFiles(turn),
      unsettled: this.#posts(turn, (shown) => UNFINISHED_TEXT.test(shown)),
      others: this.#posts(turn, (shown, message) => {
        return message.fileIds.length === 0 && ![begin, end, result].some((part) => part.test(shown));
      }),
    };
  }

  #posts({ channel, root }: FaultCase, which: (shown: string, message: Message) => boolean): number {
    const posts = this.scene.replies(channel, root);
    return posts.filter((message) => which(this.scene.slack.visibleText(message), message)).length;
  }

  #withFiles({ channel, root }: FaultCase): number {
    return this.scene.replies(channel, root).filter(({ fileIds }) => fileIds.length > 0).length;
  }

  #scopeOf(said: string): string {
    for (const [id, name] of this.#about) if (said.includes(id)) return name;
    const { tasks, files, projects } = this.scene.agent;
    const known = [...tasks, ...files].find(({ id }) => said.includes(id));
    if (known !== undefined) return known.project.title;
    const project = projects.find(({ id }) => said.includes(id));
    if (project !== undefined) return project.title;
    return /case-[\w-]+/.exec(said)?.[0] ?? '';
  }
}

/** Opens one; `whenDone` as for a scene. */
export async function openTurnStepScene(
  settings: Record<string, string>,
  whenDone?: (close: () => Promise<void>) => void,
): Promise<TurnStepScene> {
  const faults = { slack: new ScopedFaults(), agent: new ScopedFaults() };
  const scene = await openAppScene(
    {
      slack: { shareDelayMs: 0, faults: faults.slack, clientMsgIdDedupe: false },
      agent: { faults: faults.agent },
      // Some of the calls take effect after they were given up.
      limits: { slackCallLifetimeMs: RELAY_LIMITS.slackCallLifetimeMs },
      settings,
    },
    whenDone,
  );
  return new TurnStepScene(scene, faults);
}
