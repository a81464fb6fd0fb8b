import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import type { Person } from '../slack/slack-workspace.ts';
import { waitUntil } from '../wait-until.ts';
import { SideActivity } from './side-activity.ts';

/** How long a view has to open and to fill (ms), and how often a button is pressed: until after the last kill. */
const VIEW_WAIT_MS = 4_000;
const MAX_TRIES = 40;
const TAKEN = 'collecting the record';
/** How the name of a record's file on the bot's disk begins. */
const TEMPORARY_FILE = 'taskthread-archive-';

/** The outcome for the report. */
export interface RecordCounts {
  /** Those who set out to save a record, taken or not: they try until after the last kill. */
  recordsAsked: number;
  /** Those who got one file. */
  recordsSentOnce: number;
  /** Files on the bot's disk that are left over. */
  recordsLeftOver: number;
}

/** People save the records of tasks: they press "Save record" in the details of a task. */
export class SavingRecords extends SideActivity<RecordCounts> {
  protected readonly chance = 0.5;
  /** Each try costs look-ups: more people would wait for Slack's limit of those alone. */
  protected override readonly maxAtOnce = 1;
  readonly #savers: Person[] = [];

  protected placesIn(channel: string, root: string): string[] {
    return [`${channel}/${root}`];
  }

  protected async act(thread: string): Promise<void> {
    const [channel = ''] = thread.split('/');
    const person = this.newcomer('saver', channel);
    let isTaken = false;
    const shows = (of: 'home' | 'modal', text: string) =>
      waitUntil(() => JSON.stringify(this.slack[of](person)?.blocks ?? []).includes(text), VIEW_WAIT_MS);
    for (let tries = 0; !isTaken && tries < MAX_TRIES; tries += 1) {
      if (this.slack.modal(person) !== undefined) await this.slack.closeView(person);
      this.slack.openHome(person);
      if (!(await shows('home', 'home_channel'))) continue;
      await this.slack.click({ person, view: 'home', actionId: 'home_channel', value: channel });
      if (!(await shows('home', thread))) continue;
      await this.slack.click({ person, view: 'home', actionId: 'task_details', value: thread });
      if (!(await shows('modal', 'task_record'))) continue;
      if (!this.#savers.includes(person)) this.#savers.push(person);
      await this.slack.click({ person, view: 'modal', actionId: 'task_record' });
      isTaken = (await shows('modal', TAKEN)) || this.#files(person) > 0;
    }
  }

  async counts(): Promise<RecordCounts> {
    const left = (await readdir(tmpdir())).filter((name) => name.startsWith(TEMPORARY_FILE));
    return {
      recordsAsked: this.#savers.length,
      recordsSentOnce: this.#savers.filter((person) => this.#files(person) === 1).length,
      recordsLeftOver: left.length,
    };
  }

  protected isDone({ recordsAsked, recordsSentOnce }: RecordCounts): boolean {
    return recordsAsked === recordsSentOnce;
  }

  #files(person: Person): number {
    return this.slack.messages(this.slack.openDm(person)).flatMap(({ fileIds }) => fileIds).length;
  }
}
