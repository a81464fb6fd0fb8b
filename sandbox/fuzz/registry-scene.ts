import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import * as strings from '../../src/render/strings/index.ts';
import type { AgentScript } from '../agent/agent-script.ts';
import { type InProcessSandbox, startInProcessSandbox } from '../in-process-sandbox.ts';
import { connectionUrl, startPostgresServer } from '../postgres-server.ts';
import type { RegistryService } from '../registry-service.ts';
import { date, summary } from '../registry-works.ts';
import type { Message } from '../slack/slack-workspace.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { lookUntil } from '../wait-until.ts';
import type { RunOptions } from './fuzz-options.ts';

type State = keyof typeof strings.sourceStates;

/** What the agent cites, and what the registries say of each. */
const SOURCES: readonly { id: string; work: string; state: State }[] = [
  { id: '10.5555/fuzz.found', work: 'Edges of plates.', state: 'found' },
  { id: '10.5555/fuzz.retracted', work: 'Dyes that bleach.', state: 'retracted' },
  { id: '10.5555/fuzz.moved', work: 'Robots that err.', state: 'corrected' },
  { id: '10.5555/fuzz.preprint', work: 'Readers that drift.', state: 'superseded' },
  { id: '10.5555/fuzz.dataset', work: 'Counts of wells.', state: 'found' },
  { id: '10.5555/fuzz.nothing', work: 'Scales for all.', state: 'not_found' },
  { id: 'PMID 16990137', work: 'Assays that are described.', state: 'found' },
  { id: 'PMID 23741377', work: 'Trials in doubt.', state: 'concern' },
  { id: 'PMID 9500320', work: 'Trials that were made up.', state: 'retracted' },
  { id: 'PMID 99999999', work: 'Trials of nobody.', state: 'not_found' },
];
const BEGIN = 'What is known begins here.';
const END = '## References';
const ANSWER = `${BEGIN}\n\n${END}\n\n${SOURCES.map(({ id, work }, at) => `${at + 1}. ${work} ${id.replace(/^10/, 'doi:10')}`).join('\n')}\n`;
const script: AgentScript = async (turn) => turn.write(ANSWER);

/** How long a registry may take, and an answer with its marks. */
const CHECK_MS = 1_500;
const GIVEN_UP_AFTER_MS = 60_000;
const POLL_MS = 25;
/** On a busy machine an honest registry may be late. */
export const MAX_REPEATS = 3;
const CHECK_JOB = 'source_check';

/** One person who asks about works, and the registries that the bot asks. */
export class RegistryScene {
  readonly registry: RegistryService;
  readonly #sandbox: InProcessSandbox;
  readonly #person: string;
  readonly #channel: string;

  constructor(sandbox: InProcessSandbox, registry: RegistryService) {
    const { slack } = sandbox;
    this.#sandbox = sandbox;
    this.registry = registry;
    this.#person = slack.createPerson({ name: 'asker' }).id;
    this.#channel = slack.createChannel({ name: 'registries' }).id;
    fill(registry);
  }

  /**
   * Asks once, with registries of which nothing is remembered. Returns a sentence for each thing that is wrong: the answer must
   * be there, and nothing "not found", or found, that the registries did not say. `mayHide`: a retraction may not be told.
   */
  async play({ mayHide }: { mayHide: boolean }): Promise<string[]> {
    const { slack, bot } = this.#sandbox;
    await this.#forget();
    const root = slack.say({
      person: this.#person,
      channel: this.#channel,
      text: `<@${slack.bot.userId}> what?`,
    });
    const key = { workspace: root.teamId, channel: root.channel, ts: root.ts };
    const turn = () => bot.store.turns.ofMessage(key);
    if (!(await this.#until(async () => (await turn())?.finished_at != null)))
      return ['the turn does not end'];
    if (!(await this.#until(async () => !(await this.#isDue(root, (await turn())?.id ?? '')))))
      return [`the sources are not looked at: ${this.#shown(root)}`];
    return this.#harm(root, mayHide);
  }

  /** Asks while the registries behave. Returns what is wrong, too, if not each mark is what they say. */
  async playHonestly(): Promise<string[]> {
    this.registry.behaviour.misbehaviour = undefined;
    let harm: string[] = [];
    for (let plays = 0; plays < MAX_REPEATS; plays += 1) {
      harm = await this.play({ mayHide: false });
      if (harm.length === 0 && this.#lastShown.every((state, at) => state === SOURCES[at]?.state)) return [];
      await sleep(CHECK_MS);
    }
    return [...harm, `registries that behave are not shown as such: ${this.#lastShown.join(', ')}`];
  }

  #lastShown: (State | undefined)[] = [];

  #harm(root: Message, mayHide: boolean): string[] {
    const shown = this.#shown(root);
    const harm: string[] = [];
    for (const once of [BEGIN, `\n${SOURCES.length} sources: `])
      if (shown.split(once).length !== 2) harm.push(`"${once.trim()}" does not stand once`);
    const states = SOURCES.map((source, at) => stateIn(shown, `${at + 1}. ${source.id} `));
    this.#lastShown = states;
    for (const [at, { id, state }] of SOURCES.entries()) {
      const said = states[at];
      if (said === undefined) harm.push(`${id} has no line`);
      else if ((said === 'not_found') !== (state === 'not_found') && said !== 'not_checked')
        harm.push(`${id} is ${said}, which nobody said`);
      else if (state === 'retracted' && said !== state && said !== 'not_checked' && !mayHide)
        harm.push(`${id} is ${said}, although it is retracted`);
    }
    const marked = this.#posts(root).flatMap(({ blocks = [] }) => JSON.stringify(blocks));
    if (
      marked.some(
        (blocks) => /"type":"mrkdwn","text":"[^"]*<!/.test(blocks) || blocks.includes('"broadcast"'),
      )
    )
      harm.push('a registry mentions people');
    return harm.length === 0 ? [] : [...harm, shown.slice(0, 2_000)];
  }

  /** Nothing is remembered of the registries, and they have not been asked for a while. */
  async #forget(): Promise<void> {
    const { db } = this.#sandbox.bot.store;
    await db.deleteFrom('rate_limits').where('workspace', '=', '').execute();
    await db.deleteFrom('registry_answers').execute();
    this.registry.forgetCalls();
  }

  /** Whether the registries are still to be asked for the first time. */
  async #isDue({ teamId: workspace, channel, ts: thread_ts }: Message, key: string): Promise<boolean> {
    const job = await this.#sandbox.bot.store.jobs.get({
      workspace,
      kind: CHECK_JOB,
      channel,
      thread_ts,
      key,
    });
    return job !== undefined && job.payload.isLate !== true;
  }

  #posts(root: Message): Message[] {
    const { slack } = this.#sandbox;
    return slack.thread(root.channel, root.ts).filter(({ user }) => user === slack.bot.userId);
  }

  #shown(root: Message): string {
    const texts = this.#posts(root).map((message) => this.#sandbox.slack.visibleText(message));
    return `\n${texts.join('\n')}`;
  }

  async #until(look: () => Promise<boolean>): Promise<boolean> {
    return (await lookUntil(() => look().catch(() => false), GIVEN_UP_AFTER_MS, POLL_MS)).isSo;
  }
}

/** The state that a list tells on the line that begins so. */
function stateIn(shown: string, begin: string): State | undefined {
  const line = shown.split('\n').find((one) => one.startsWith(begin)) ?? '';
  const states = Object.entries(strings.sourceStates);
  const said = states.find(([, { mark, word }]) => line.slice(begin.length).startsWith(`${mark} ${word}`));
  return said === undefined ? undefined : stateOf(said[0]);
}

function stateOf(name: string): State | undefined {
  return Object.keys(strings.sourceStates).find((state): state is State => state === name);
}

/** The registries know what is cited; each field that the bot reads is somewhere in it. */
function fill({ works, articles, agencies }: RegistryService): void {
  const event = {
    DOI: '10.5555/notice',
    type: 'retraction',
    label: 'Retraction',
    updated: date(2019, 5, 14),
  };
  works.set('10.5555/fuzz.found', { title: ['Edges of plates'], issued: date(2016, 9) });
  works.set('10.5555/fuzz.retracted', {
    ...{ title: ['Dyes that bleach'], issued: date(2014, 3, 12) },
    'updated-by': [
      { ...event, source: 'publisher' },
      { ...event, source: 'retraction-watch', 'record-id': '4036' },
    ],
    'update-to': [{ ...event, source: 'publisher' }],
  });
  works.set('10.5555/fuzz.moved', {
    // Its list has it by another DOI than the one that is asked for.
    ...{ DOI: '10.5555/fuzz.robots', title: ['Robots that err'], issued: date(2018) },
    'updated-by': [{ ...event, type: 'correction', label: 'Correction', source: 'publisher' }],
  });
  works.set('10.5555/fuzz.preprint', {
    ...{ title: ['Readers that drift'], issued: date(2022, 8, 30), type: 'posted-content' },
    relation: { 'is-preprint-of': [{ 'id-type': 'doi', id: '10.5555/readers', 'asserted-by': 'subject' }] },
  });
  agencies.set('10.5555/fuzz.dataset', 'DataCite');
  articles.set('16990137', summary('Assays that are described.', '2006 Sep 22'));
  const reference = { refsource: 'J Tests. 2021 Oct 28;16(10):e1.', reftype: 'Expression of concern in' };
  articles.set(
    '23741377',
    summary('Trials in doubt.', '2013', { references: [{ ...reference, pmid: 34710116 }] }),
  );
  articles.set(
    '9500320',
    summary('Trials that were made up.', '1998', { pubtype: ['Retracted Publication'] }),
  );
}

/** A bot that asks registries, in this process. */
export async function startRegistryScene(
  given: RunOptions['database'],
  undo: AsyncDisposableStack,
): Promise<RegistryScene> {
  const database = given ?? (await startPostgresServer(await temporaryFolder(undo), undo)).connection;
  const sandbox = await startInProcessSandbox({
    log: pino({ level: 'silent' }),
    databaseUrl: connectionUrl(database),
    slack: { limits: 'off' },
    agent: { script },
    settings: { CHECK_SOURCES: 'crossref,pubmed', CHECK_SOURCES_MAILTO: 'someone@example.org' },
    limits: {
      ...{ sourceCheckMs: CHECK_MS, sourceLookAgainMs: 60 * 60_000 },
      // Each question is all that a thread is about.
      ...{ watchIntervalMs: 60 * 60_000, slackPace: 20, editsPerMinute: 3_000 },
    },
  });
  undo.defer(() => sandbox.stop());
  if (sandbox.registry === undefined) throw new Error('There is no registry service.');
  return new RegistryScene(sandbox, sandbox.registry);
}
