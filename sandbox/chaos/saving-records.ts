import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Person, SlackWorkspace } from '../slack/slack-workspace.ts';
import type { SaidMessage } from './damage.ts';
import { oneOf } from './random-streams.ts';

/** How long a view has to open and to fill (ms), and how often a button is pressed until it is taken. */
const VIEW_WAIT_MS = 4_000;
const MAX_TRIES = 5;
/** How long records may take once everything works again (ms). */
const SETTLE_TIMEOUT_MS = 180_000;
const POLL_INTERVAL_MS = 200;
/** Of a message that somebody writes. */
const SAVE_CHANCE = 0.5;
const TAKEN = 'collecting the record';
/** How the name of a record's file on the bot's disk begins. */
const TEMPORARY_FILE = 'taskthread-record-';

/** The outcome for the report. */
export interface RecordCounts {
  /** Presses of Save record that were taken. */
  recordsAsked: number;
  /** Those who got one file. */
  recordsSentOnce: number;
  /** Files on the bot's disk that are left over. */
  recordsLeftOver: number;
}

/** People save the records of tasks, beside those who write. */
export class SavingRecords {
  readonly #slack: SlackWorkspace;
  readonly #said: readonly SaidMessage[];
  readonly #random: () => number;
  readonly #runs: { person: Person; isTaken: boolean }[] = [];
  readonly #open = new Set<Promise<void>>();

  constructor(slack: SlackWorkspace, said: readonly SaidMessage[], random: () => number) {
    this.#slack = slack;
    this.#said = said;
    this.#random = random;
  }

  /** Now and then, somebody presses "Save record" in the details of a task of a channel. */
  runOne(): void {
    if (this.#random() >= SAVE_CHANCE) return;
    const threads = [...new Set(this.#said.map(({ thread }) => thread))].filter((one) => one.startsWith('C'));
    if (threads.length === 0) return;
    const saving = this.#save(oneOf(this.#random, threads)).finally(() => this.#open.delete(saving));
    this.#open.add(saving);
  }

  async #save(thread: string): Promise<void> {
    const [channel = ''] = thread.split('/');
    const name = `saver${this.#runs.length + 1}`;
    const run = { person: this.#slack.createPerson({ name, realName: name }), isTaken: false };
    const { person } = run;
    this.#runs.push(run);
    this.#slack.invite(channel, person);
    const view = (of: 'home' | 'modal') => JSON.stringify(this.#slack[of](person)?.blocks ?? []);
    for (let tries = 0; !run.isTaken && tries < MAX_TRIES; tries += 1) {
      if (this.#slack.modal(person) !== undefined) await this.#slack.closeView(person);
      this.#slack.openHome(person);
      if (!(await within(() => view('home').includes('home_channel')))) continue;
      await this.#slack.click({ person, view: 'home', actionId: 'home_channel', value: channel });
      if (!(await within(() => view('home').includes(thread)))) continue;
      await this.#slack.click({ person, view: 'home', actionId: 'task_details', value: thread });
      if (!(await within(() => view('modal').includes('task_record')))) continue;
      await this.#slack.click({ person, view: 'modal', actionId: 'task_record' });
      run.isTaken = await within(() => view('modal').includes(TAKEN) || this.#files(person) > 0);
    }
  }

  /** Waits until everybody has their record, or has had their time. */
  async settled(): Promise<void> {
    const deadline = performance.now() + SETTLE_TIMEOUT_MS;
    await Promise.all(this.#open);
    const isDone = ({ recordsAsked, recordsSentOnce }: RecordCounts) => recordsAsked === recordsSentOnce;
    while (performance.now() < deadline && !isDone(await this.counts())) await sleep(POLL_INTERVAL_MS);
  }

  async counts(): Promise<RecordCounts> {
    const known = this.#runs.filter(({ person, isTaken }) => isTaken || this.#files(person) > 0);
    const left = (await readdir(tmpdir())).filter((name) => name.startsWith(TEMPORARY_FILE));
    return {
      recordsAsked: known.length,
      recordsSentOnce: known.filter(({ person }) => this.#files(person) === 1).length,
      recordsLeftOver: left.length,
    };
  }

  #files(person: Person): number {
    return this.#slack.messages(this.#slack.openDm(person)).flatMap(({ fileIds }) => fileIds).length;
  }
}

/** Whether something becomes true soon. */
async function within(isTrue: () => boolean): Promise<boolean> {
  const deadline = performance.now() + VIEW_WAIT_MS;
  while (!isTrue() && performance.now() < deadline) await sleep(POLL_INTERVAL_MS);
  return isTrue();
}
