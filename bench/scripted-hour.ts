import { setTimeout as sleep } from 'node:timers/promises';
import type { InProcessSandbox } from '../sandbox/in-process-sandbox.ts';
import type { Channel } from '../sandbox/slack/slack-workspace.ts';
import * as strings from '../src/render/strings/index.ts';
import { HeldAgent } from './held-agent.ts';
import { playPointing } from './scripted-pointing.ts';
import { playPresses } from './scripted-presses.ts';
import { NAMES, type Name, type SaidMessage, type Stage, Thread } from './scripted-thread.ts';

const LOOK_INTERVAL_MS = 50;
/** A wait is in vain once nobody has posted anything for so long: however slow the machine is, the hour has then stopped. */
const QUIET_MS = 90_000;
/** In less time (s) the hour has more messages than Slack's limits admit. */
export const UNHURRIED_SECONDS = 120;
/** What a reminder says. */
export const REMINDER = 'waiting for your answer';

/** An hour in a workspace, with its clock scaled: five people, three channels, direct messages. */
export class ScriptedHour implements Stage {
  readonly sandbox: InProcessSandbox;
  readonly isHurried: boolean;
  readonly heldAgent: HeldAgent;
  readonly ended: Stage['ended'];
  readonly said: SaidMessage[] = [];
  readonly presses: Stage['presses'] = [];
  readonly waitedInVain: string[] = [];
  readonly sentByPresses: Stage['sentByPresses'] = [];
  readonly #people;
  readonly #minuteMs: number;
  readonly #began = performance.now();
  #lastPostAt = 0;

  /** `heldAgent` is the sandbox's agent, and `ended` grows as its turns end. */
  constructor(
    { sandbox, heldAgent, ended }: Pick<Stage, 'sandbox' | 'heldAgent' | 'ended'>,
    seconds: number,
  ) {
    this.sandbox = sandbox;
    this.isHurried = seconds < UNHURRIED_SECONDS;
    this.heldAgent = heldAgent;
    this.ended = ended;
    this.#minuteMs = (seconds * 1_000) / 60;
    sandbox.slack.onChange(({ kind }) => {
      if (kind === 'posted') this.#lastPostAt = performance.now();
    });
    this.#people = new Map(NAMES.map((name) => [name, sandbox.slack.createPerson({ name })]));
  }

  person(name: Name) {
    const person = this.#people.get(name);
    if (person === undefined) throw new Error(`There is no ${name}.`);
    return person;
  }

  /** Plays the hour; resolves when every question has its answer. */
  async play(): Promise<void> {
    const { slack } = this.sandbox;
    const [assays, clinic, general] = ['assays', 'clinic', 'general'].map((name) =>
      slack.createChannel({ name }),
    );
    if (assays === undefined || clinic === undefined || general === undefined)
      throw new Error('No channels.');
    const talks: [Channel, minute: number, [Name, Name, Name]][] = [
      [assays, 4, ['ada', 'grace', 'alan']],
      [clinic, 22, ['barbara', 'edsger', 'ada']],
      [general, 41, ['grace', 'alan', 'edsger']],
    ];
    await Promise.all([
      this.#askInThreads(assays),
      ...this.#alike(talks).map((talk) => this.#talkAndAsk(...talk)),
      this.#answerTheAgent(clinic),
      this.#answerLate(clinic),
      this.#takeBack(clinic),
      this.#talk(general),
      playPointing(this),
      playPresses(this),
      ...this.#alike(NAMES).map((name, index) => this.#writeDirectly(name, 6 + 9 * index)),
    ]);
  }

  /** Of what differs in names only; a hurried hour plays the first. */
  #alike<T>(all: readonly T[]): readonly T[] {
    return this.isHurried ? all.slice(0, 1) : all;
  }

  async until(what: string, look: () => boolean | Promise<boolean>): Promise<boolean> {
    const began = performance.now();
    while (!(await look())) {
      if (performance.now() - Math.max(began, this.#lastPostAt) >= QUIET_MS) {
        this.waitedInVain.push(what);
        return false;
      }
      await sleep(LOOK_INTERVAL_MS);
    }
    return true;
  }

  /** Waits until this minute of the hour. */
  async at(minute: number): Promise<void> {
    await sleep(Math.max(0, this.#began + minute * this.#minuteMs - performance.now()));
  }

  #wait(minutes: number): Promise<void> {
    return sleep(minutes * this.#minuteMs);
  }

  /** Questions with files, follow-ups by several people, and a message for somebody else. */
  async #askInThreads(channel: Channel): Promise<void> {
    for (const [index, name] of this.#alike(NAMES).entries()) {
      await this.at(11 * index);
      const thread = new Thread(this, channel);
      await thread.ask(name, 'what is in this table?', 'question', {
        mentions: true,
        file: `run-${index}.csv`,
      });
      await thread.ask(name, 'and which column varies most?', 'question');
      thread.say('grace', `<@${this.person('alan').id}> can you look at this?`, 'talk');
      await this.#wait(1);
      await thread.ask('barbara', 'ok', 'question');
    }
  }

  /** A thread that people began: two mentions, an "ok" to the agent, and much that is not for it. */
  async #talkAndAsk(
    channel: Channel,
    minute: number,
    [one, two, three]: readonly [Name, Name, Name],
  ): Promise<void> {
    await this.at(minute);
    const thread = new Thread(this, channel);
    const talk = async (name: Name, text: string, file = '') => {
      thread.say(name, text, 'talk', { file });
      await this.#wait(0.3);
    };
    await talk(one, 'who has the plate of run 18?');
    await talk(two, 'I do. the second reader was off, though');
    await talk(three, 'then we should repeat it');
    await thread.ask(one, 'how many groups do we need?', 'question', { mentions: true });
    await thread.ask(one, 'ok', 'question');
    await talk(two, 'ok see you at noon then');
    await talk(three, ':+1:');
    await talk(one, 'great', 'plan.csv');
    await talk(two, 'bring the plate');
    await thread.ask(three, 'summarise what we have agreed on', 'question', { mentions: true });
    await talk(two, 'thanks all');
    await talk(two, ':+1:');
  }

  /** Questions of the agent, whose answers are as short as answers are, and one that waits before it asks. */
  async #answerTheAgent(channel: Channel): Promise<void> {
    for (const [index, answer] of ['ok', ':+1:', 'the treated group', 'no'].entries()) {
      await this.at(3 + 13 * index);
      const thread = new Thread(this, channel);
      if (index % 2 === 1) thread.say('edsger', 'the dose is still open', 'talk');
      const question = `Shall I go on with group ${index}?`;
      const asked = thread.say('barbara', `/ask ${question}`, 'question', { mentions: true });
      await thread.shows(question);
      await this.#wait(0.5);
      const answered = thread.say('barbara', answer, 'answer');
      await thread.answered(asked);
      await thread.answered(answered);
    }
    const thread = new Thread(this, channel);
    const asked = thread.say('ada', '/slow 120\n/ask And the controls?', 'question', { mentions: true });
    await thread.shows('Second 2');
    thread.say('ada', 'leave the controls out', 'question');
    await thread.answered(asked);
  }

  /** Questions of the agent, and a plan, that are answered only after a reminder. */
  async #answerLate(channel: Channel): Promise<void> {
    for (const [index, answer] of ['the second one', 'yes', ':+1:'].entries()) {
      await this.at(7 + 14 * index);
      const thread = new Thread(this, channel);
      const question = `Which of the plates ${index}?`;
      const asked = thread.say('grace', `/ask ${question}`, 'question', { mentions: true });
      await thread.shows(REMINDER);
      await thread.answered(thread.say('grace', answer, 'answer'));
      await thread.answered(asked);
    }
    await this.at(46);
    const thread = new Thread(this, channel);
    await thread.ask('alan', 'fit the dose curve', 'question', { mentions: true, flags: '--plan ' });
    await thread.shows(REMINDER);
    thread.sends(strings.planAnswers.go_ahead);
    await thread.press(['alan'], 'go_ahead', (name) => strings.buttonUsed(name, 'go_ahead'));
  }

  /** A message that waits, and is deleted. */
  async #takeBack(channel: Channel): Promise<void> {
    await this.at(30);
    const thread = new Thread(this, channel);
    const held = this.heldAgent.hold();
    const asked = thread.say('alan', held, 'question', { mentions: true });
    await thread.shows(HeldAgent.AT_WORK);
    const { message } = thread.say('alan', 'never mind', 'talk');
    await this.until('a mark on a waiting message', () => (message.reactions.size ?? 0) > 0);
    this.sandbox.slack.remove(channel.id, message.ts);
    const key = { workspace: message.teamId, channel: channel.id, ts: message.ts };
    const { messages } = this.sandbox.bot.store;
    await this.until(
      'a deletion reaches a waiting message',
      async () => (await messages.get(key))?.state === 'withdrawn',
    );
    this.heldAgent.letGo(held);
    await thread.answered(asked);
  }

  /** A channel where people talk, and the bot is only a member. */
  async #talk(channel: Channel): Promise<void> {
    for (let minute = 0; minute < 60; minute += 4) {
      await this.at(minute);
      const thread = new Thread(this, channel);
      thread.say(NAMES[minute % 5] ?? 'ada', `good morning ${minute}`, 'talk');
      thread.say(NAMES[(minute + 1) % 5] ?? 'ada', 'ok', 'talk');
    }
  }

  async #writeDirectly(name: Name, minute: number): Promise<void> {
    await this.at(minute);
    const thread = new Thread(this, this.sandbox.slack.openDm(this.person(name)));
    await thread.ask(name, 'what can you do with a table?', 'question');
    await thread.ask(name, 'this one', 'question', { file: `mine-${name}.csv` });
    await thread.ask(name, ':+1:', 'question');
  }
}
