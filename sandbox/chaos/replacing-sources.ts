import * as strings from '../../src/render/strings/index.ts';
import type { RegistryService } from '../registry-service.ts';
import { date } from '../registry-works.ts';
import type { Message, SlackWorkspace } from '../slack/slack-workspace.ts';
import { waitUntil } from '../wait-until.ts';
import type { SaidMessage } from './damage.ts';
import { SideActivity } from './side-activity.ts';

/** How long a press has to show (ms), and how often the button is pressed until it does. */
const PRESS_WAIT_MS = 4_000;
const MAX_TRIES = 8;
const BUTTON = 'replace_sources';
const USED = strings.buttonUses[BUTTON];
const RETRACTED = { state: 'retracted', since: '2019-05-14' } as const;
const NOTICE = '10.5555/notice';
/** What a list says once the registries have answered, and the id in it. */
const SUM = '2 sources: 1 found, 1 retracted (2019)';
const ID = /10\.5555\/gone\.[\da-f]+/;

/** The outcome for the report. */
export interface SourceCounts {
  /** Lists of sources below answers, and those that say once what the registries know. */
  lists: number;
  listsMarked: number;
  /** Lists whose button was used, and those of which the agent got once what is to be replaced. */
  replacementsAsked: number;
  replacedOnce: number;
}

interface Run {
  channel: string;
  root: string;
  ts: string;
  id: string;
}

/** What a reply with this token cites: a work that the registries have from now on, and one that is retracted. */
export function citation({ works }: RegistryService, token: string): string {
  const [fine, gone] = [`10.5555/fine.${token}`, `10.5555/gone.${token}`];
  const notice = { DOI: NOTICE, type: 'retraction', label: 'Retraction', source: 'publisher' };
  works.set(fine, { title: ['A study'], issued: date(2021, 3) });
  works.set(gone, {
    ...{ title: ['Another study'], issued: date(2014) },
    'updated-by': [{ ...notice, updated: date(2019, 5, 14) }],
  });
  return `\n\nSee doi:${fine} and doi:${gone} for more.`;
}

/** People press "Ask the agent to replace them" below the sources of answers, two of them at once. */
export class ReplacingSources extends SideActivity<SourceCounts> {
  protected readonly chance = 0.6;
  readonly #runs = new Map<string, Run>();
  readonly #heldByAgent: () => readonly string[];
  readonly #onPress: () => void;

  /** `heldByAgent`: what people wrote, as the service has it. `onPress` hears of a press just before it. */
  constructor(
    slack: SlackWorkspace,
    said: readonly SaidMessage[],
    random: () => number,
    { heldByAgent, onPress }: { heldByAgent: () => readonly string[]; onPress: () => void },
  ) {
    super(slack, said, random);
    this.#heldByAgent = heldByAgent;
    this.#onPress = onPress;
  }

  protected placesIn(channel: string, root: string): string[] {
    const lists = this.#listsIn(channel, root);
    return lists.filter(hasButton).map(({ ts }) => `${channel}/${root}/${ts}`);
  }

  protected async act(place: string): Promise<void> {
    const [channel = '', root = '', ts = ''] = place.split('/');
    const list = this.slack.message(channel, ts);
    const id = ID.exec(this.slack.visibleText(list))?.[0];
    if (id === undefined) return;
    this.#runs.set(place, { channel, root, ts, id });
    const people = [this.newcomer('replacer', channel), this.newcomer('replacer', channel)];
    for (let tries = 0; hasButton(this.slack.message(channel, ts)) && tries < MAX_TRIES; tries += 1) {
      this.#onPress();
      const presses = people.map((person) => this.slack.click({ person, channel, ts, actionId: BUTTON }));
      // The first press may have taken the button away.
      await Promise.allSettled(presses);
      await waitUntil(() => !hasButton(this.slack.message(channel, ts)), PRESS_WAIT_MS);
    }
  }

  /** What the presses sent, as messages of threads that are compared with their tasks. */
  questions(): SaidMessage[] {
    return [...this.#runs.values()].map((run) => {
      const { channel, root, ts } = run;
      const [wasDelivered, wasStopped] = [this.#isUsed(run), this.#wasStopped(run)];
      const thread = `${channel}/${root}`;
      return { thread, channel, ts, text: requestOf(run), files: [], wasDelivered, wasStopped };
    });
  }

  async counts(): Promise<SourceCounts> {
    const threads = [...new Set(this.said.map(({ thread }) => thread))];
    const lists = threads.flatMap((thread) => {
      const [channel = '', root = ''] = thread.split('/');
      return this.#listsIn(channel, root).map((list) => this.slack.visibleText(list));
    });
    // Behind a stop, what was asked waits until somebody sends it.
    const used = [...this.#runs.values()].filter((run) => this.#isUsed(run) && !this.#wasStopped(run));
    const held = this.#heldByAgent();
    const once = used.filter((run) => held.filter((text) => text.includes(requestOf(run))).length === 1);
    return {
      lists: lists.length,
      listsMarked: lists.filter((text) => text.split(SUM).length === 2).length,
      replacementsAsked: used.length,
      replacedOnce: once.length,
    };
  }

  protected isDone({ lists, listsMarked }: SourceCounts): boolean {
    return lists === listsMarked;
  }

  #wasStopped({ channel, root }: Run): boolean {
    const thread = `${channel}/${root}`;
    return this.said.some((one) => one.thread === thread && one.wasStopped === true);
  }

  #isUsed({ channel, ts }: Run): boolean {
    return this.slack.visibleText(this.slack.message(channel, ts)).includes(USED);
  }

  /** The bot's messages that list sources. */
  #listsIn(channel: string, root: string): Message[] {
    const bots = new Set(this.slack.teams.map(({ bot }) => bot.userId));
    return this.slack
      .thread(channel, root)
      .filter((one) => bots.has(one.user) && this.slack.visibleText(one).startsWith(`${strings.sources}\n`));
  }
}

/** What the agent is told of a list's retracted source. */
function requestOf({ id }: Run): string {
  return `${strings.replaceSources}\n- ${id}: ${strings.sourceFinding(RETRACTED)} (see ${NOTICE})`;
}

function hasButton({ blocks }: Message): boolean {
  return JSON.stringify(blocks ?? []).includes(`"action_id":"${BUTTON}"`);
}
