import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { AgentScript } from '../../../sandbox/agent/agent-script.ts';
import type { Fault, FaultRule } from '../../../sandbox/faults.ts';
import type { Channel, Message, Person } from '../../../sandbox/slack/slack-workspace.ts';
import { WAITING_EMOJI } from '../../../src/relay/runtime/incoming-message.ts';
import { backgroundNotices, reminder, welcome } from '../../../src/render/strings/index.ts';
import { JOB_KIND } from '../../../src/store/jobs/jobs.ts';
import { pause } from '../../support/app-scene.ts';
import { openChannelSettings } from '../../support/channel-settings-scene.ts';
import { openWorkflowStepScene, type WorkflowStepScene } from '../../support/workflow-step-scene.ts';

const REFUSED: Fault = { kind: 'status', status: 503 };

/** The DOI that the agent names for these words. */
const doiFor = (words: string) => `10.1234/${words.toLowerCase().replaceAll(' ', '.')}`;

/** What every scene has: background work ends when the test says so. */
const ends = new Map<string, () => void>();
const script: AgentScript = async (turn) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  ends.set(turn.text, resolve);
  if (turn.text.startsWith('work')) turn.background(() => promise);
  if (turn.text.startsWith('busy')) await promise;
  if (turn.text.startsWith('cites')) turn.write(`See doi:${doiFor(turn.text)} `);
  if (turn.text.startsWith('makes'))
    for (const name of ['a', 'b']) await turn.result(`${name}.txt`, 'text/plain', name);
  turn.write('All is said.');
};
const options = {
  agent: { script },
  settings: { AGENT_DIALECT: JSON.stringify({ planModeField: 'plan_mode' }), CHECK_SOURCES: 'crossref' },
  limits: {
    ...{ maxBackgroundWaitMs: 0, watchIntervalMs: 1_000, remindMs: 200 },
    // A check that is over before the registry has answered marks nothing, and is a run without a failure.
    ...{ sourceCheckMs: 50_000, sourceLookAgainMs: 500 },
  },
};

/** A person in a channel of their own, and what they write. */
interface Place {
  on: WorkflowStepScene;
  channel: Channel;
  person: Person;
  words: string;
}

/** A kind of jobs, as people see it. */
interface Kind {
  /** What the agent does: what works on in the background is looked at again and again. */
  agent?: 'work' | 'busy' | 'makes' | 'cites';
  /** What happens before the job is asked for; the result is a thread's root. */
  before?: (place: Place) => Promise<Message>;
  /** A call of the job, and another one that must not happen twice. */
  calls: [FaultRule['call'], FaultRule['call']?];
  /** What the call is about, beside the channel. */
  about?: (place: Place) => string;
  /** What a call to Slack says, where others are made in the channel, or it is made elsewhere. */
  says?: (place: Place) => string;
  ask: (place: Place, root: Message | undefined) => Promise<unknown>;
  /** What one may see of it in Slack or at the service; its number counts. */
  seen: (place: Place, root: Message | undefined) => number;
  /** It may find more later. */
  goesOn?: true;
  /** Nothing is seen once its person is forgotten. */
  endsWithPerson?: true;
}

async function answered({ on: { scene }, channel, person, words }: Place): Promise<Message> {
  const root = scene.ask(channel, words, { person });
  await scene.finished(channel, root);
  return root;
}

const taskOf = ({ on, words }: Place) => on.scene.agent.tasks.findLast(({ title }) => title.includes(words));
const textsIn = ({ on: { scene }, channel }: Place) =>
  [...channel.messages.values()].map((message) => scene.slack.visibleText(message));
const countOf = (texts: string[], part: string) => texts.filter((text) => text.includes(part)).length;

/** How many files were shared in a person's direct messages: a shared file shows a moment later. */
const sharesWith = ({ on: { scene }, person }: Place) =>
  scene.slack.calls.filter(
    ({ method, ok, args }) =>
      ok && method === 'files.completeUploadExternal' && args.channel_id === scene.slack.openDm(person).id,
  ).length;

const KINDS: Record<Exclude<keyof typeof JOB_KIND, 'channelMove' | 'turn' | 'uninstallation'>, Kind> = {
  answerFiles: {
    agent: 'makes',
    before: answered,
    calls: ['GET /experimental/tasks/{task_id}/results', 'files.completeUploadExternal'],
    about: (place) => taskOf(place)?.id ?? '',
    ask: async (place, root) => {
      const { on, channel, person } = place;
      const { store } = on.scene.sandbox.bot;
      const at = { workspace: channel.teamId, channel: channel.id, ts: root?.ts ?? '' };
      const turn = (await store.turns.ofMessage(at))?.id;
      const thread = { workspace: at.workspace, channel: at.channel, thread_ts: at.ts };
      const wanted = {
        ...thread,
        kind: JOB_KIND.answerFiles,
        key: `${turn}/${person.id}`,
        person: person.id,
      };
      await store.jobs.add({ ...wanted, payload: { task: taskOf(place)?.id, turn } });
    },
    seen: sharesWith,
    says: ({ on: { scene }, person }) => scene.slack.openDm(person).id,
    endsWithPerson: true,
  },
  askedAgain: {
    before: answered,
    calls: ['chat.postMessage', 'chat.postMessage'],
    ask: async ({ on, channel, person }, root) => {
      const { jobs } = on.scene.sandbox.bot.store;
      const ts = root?.ts ?? '';
      const place = { workspace: channel.teamId, channel: channel.id, thread_ts: ts, key: randomUUID() };
      await jobs.add({ ...place, kind: JOB_KIND.askedAgain, person: person.id, payload: { ts } });
    },
    seen: (place) => countOf(textsIn(place), 'again in a new thread'),
  },
  backfill: {
    calls: ['conversations.history'],
    before: async (place) => {
      const { scene } = place.on;
      scene.slack.kick(place.channel);
      await scene.slack.settled();
      const { channel, person, words } = place;
      return scene.ask(channel, words, { person });
    },
    ask: async ({ on, channel }) => on.scene.slack.invite(channel),
    seen: (place) => place.on.scene.sentToAgent(place.words).texts.length,
  },
  channelNotice: {
    calls: ['chat.postMessage', 'chat.postMessage'],
    ask: async ({ on: { scene }, channel, person }) =>
      (await openChannelSettings(scene, person, channel)).save({ channel_listen_mode: 'everything' }),
    seen: (place) => countOf(textsIn(place), 'asked me'),
  },
  followUp: {
    agent: 'work',
    before: answered,
    calls: ['GET /experimental/tasks/{task_id}', 'chat.update'],
    about: (place) => taskOf(place)?.id ?? '',
    ask: async (place) => ends.get(place.words)?.(),
    seen: (place) => countOf(textsIn(place), backgroundNotices.completed),
    goesOn: true,
  },
  projectName: {
    before: answered,
    calls: ['PUT /projects/{project_id}', 'PUT /projects/{project_id}'],
    about: (place) => taskOf(place)?.project?.id ?? '',
    ask: async ({ on, channel, words }) => on.scene.slack.rename(channel, `new-${words.replace(' ', '-')}`),
    seen: ({ on, channel }) => on.scene.agent.projects.filter(({ title }) => title === channel.name).length,
  },
  reminder: {
    calls: ['chat.postMessage', 'chat.postMessage'],
    says: ({ person }) => reminder(person.id, true),
    ask: (place) => answered({ ...place, words: `--plan first ${place.words}` }),
    seen: (place) => countOf(textsIn(place), 'waiting for your answer'),
    goesOn: true,
    endsWithPerson: true,
  },
  sourceCheck: {
    agent: 'cites',
    calls: ['chat.update', 'chat.update'],
    says: ({ words }) => `found: About ${words}`,
    ask: (place) => {
      const { words, on } = place;
      on.scene.sandbox.registry?.works.set(doiFor(words), { title: [`About ${words}`] });
      return answered(place);
    },
    seen: (place) => countOf(textsIn(place), `found: About ${place.words}`),
    endsWithPerson: true,
  },
  taskDeletion: {
    before: answered,
    calls: ['DELETE /experimental/tasks/{task_id}', 'chat.postMessage'],
    about: (place) => taskOf(place)?.id ?? '',
    ask: async (place, root) => {
      const { on, channel, person } = place;
      const { store } = on.scene.sandbox.bot;
      const thread = { workspace: channel.teamId, channel: channel.id, thread_ts: root?.ts ?? '' };
      await store.taskDeletions.request(thread, taskOf(place)?.id ?? '', person.id);
    },
    seen: (place) => countOf(textsIn(place), 'has forgotten this conversation'),
  },
  taskRecord: {
    before: answered,
    calls: ['GET /experimental/tasks/{task_id}/results', 'files.completeUploadExternal'],
    about: (place) => taskOf(place)?.id ?? '',
    ask: async (place, root) => {
      const { on, channel, person } = place;
      const thread = { workspace: channel.teamId, channel: channel.id, thread_ts: root?.ts ?? '' };
      const task = taskOf(place)?.id;
      const key = `${task}/${person.id}`;
      const wanted = { ...thread, kind: JOB_KIND.taskRecord, key, person: person.id };
      await on.scene.sandbox.bot.store.jobs.add({ ...wanted, payload: { task } });
    },
    seen: sharesWith,
    says: ({ on: { scene }, person }) => scene.slack.openDm(person).id,
    endsWithPerson: true,
  },
  taskStart: {
    calls: ['chat.postMessage', 'chat.postMessage'],
    ask: async ({ on, channel, person, words }) => {
      const key = { workspace: channel.teamId, id: randomUUID(), channel: channel.id };
      const question = { ...key, user_id: person.id, content: { text: words } };
      await on.scene.sandbox.bot.store.taskStarts.send(question);
    },
    seen: (place) => countOf(textsIn(place), place.words),
    endsWithPerson: true,
  },
  waitingReaction: {
    agent: 'busy',
    before: async ({ on: { scene }, channel, person, words }) => {
      const root = scene.ask(channel, words, { person });
      await scene.until('its turn has begun', () => scene.replies(channel, root).length > 0);
      return root;
    },
    calls: ['reactions.add', 'reactions.add'],
    ask: async ({ on: { scene }, channel, person }, root) => {
      if (root !== undefined) scene.reply(channel, root, 'and then', { person });
    },
    seen: ({ channel }) =>
      [...channel.messages.values()].filter(({ reactions }) => reactions.get(WAITING_EMOJI)?.length).length,
    goesOn: true,
    endsWithPerson: true,
  },
  welcome: {
    calls: ['chat.postMessage', 'chat.postMessage'],
    ask: async ({ on, channel }) => {
      await on.scene.sandbox.bot.store.channels.wantWelcome(channel.teamId, channel.id);
    },
    seen: (place) => countOf(textsIn(place), welcome.begin),
  },
  workflowStep: {
    calls: ['functions.completeSuccess', 'functions.completeSuccess'],
    ask: async ({ on, channel, words }) => {
      await on.allow(channel, true);
      on.run(channel, words);
    },
    seen: ({ on, words }) =>
      on.scene.slack.steps.all.filter(
        ({ inputs, state }) => inputs.question === words && state === 'succeeded',
      ).length,
  },
};

type KindName = keyof typeof KINDS;
const kinds = Object.keys(KINDS) as KindName[];

const shared = await openWorkflowStepScene(options);
let places = 0;

function placeOn(on: WorkflowStepScene, name: KindName): Place {
  places += 1;
  const person = on.scene.slack.createPerson({ name: `p${places}` });
  const words = `${KINDS[name].agent ?? 'words'} ${places} for ${name}`;
  return { on, person, words, channel: on.scene.channel() };
}

/** Lets a call of a place's job go wrong; the result ends that. */
function spoil(place: Place, kind: Kind, call: FaultRule['call'], fault: Fault, times?: number): () => void {
  const { agent, slack } = place.on.scene;
  const isAgents = / /.test(String(call));
  const about = isAgents ? (kind.about?.(place) ?? '') : (kind.says?.(place) ?? place.channel.id);
  return (isAgents ? agent : slack).faults.add({ call, about, fault, ...(times !== undefined && { times }) });
}

/** A place's jobs of a kind that are not over. */
function jobsOf({ on, channel }: Place, name: KindName) {
  const { db } = on.scene.sandbox.bot.store;
  return db.updateTable('jobs').where('kind', '=', JOB_KIND[name]).where('channel', '=', channel.id);
}

async function openJobs(place: Place, name: KindName) {
  const { db } = place.on.scene.sandbox.bot.store;
  return db
    .selectFrom('jobs')
    .selectAll()
    .where('kind', '=', JOB_KIND[name])
    .where('channel', '=', place.channel.id)
    .where('done_at', 'is', null)
    .execute();
}

/** Waits until a run of the job has failed. */
async function failed(place: Place, name: KindName): Promise<void> {
  await place.on.scene.until(`a run of the job has failed (${name})`, async () =>
    (await openJobs(place, name)).some((job) => job.tried_since !== null && job.claim_id === null),
  );
}

/** Waits until a run of the job has failed, and puts off the next one. */
async function failedAndPutOff(place: Place, name: KindName): Promise<void> {
  const putOff = jobsOf(place, name)
    .set({ due_at: new Date(Date.now() + 60 * 60_000) })
    .where('tried_since', 'is not', null)
    .where('claim_id', 'is', null);
  await place.on.scene.until(`a run of the job has failed (${name})`, async () => {
    const { numUpdatedRows } = await putOff.executeTakeFirst();
    return numUpdatedRows > 0n;
  });
}

/** Waits until it is seen, at least so often, and no job is left; the result is how often. */
async function timesSeen(
  place: Place,
  name: KindName,
  root: Message | undefined,
  times = 1,
): Promise<number> {
  const { seen } = KINDS[name];
  await place.on.scene.until('it is seen', () => seen(place, root) >= times);
  await isOver(place, name);
  return seen(place, root);
}

async function isOver(place: Place, name: KindName): Promise<void> {
  if (KINDS[name].goesOn === true) return;
  await place.on.scene.until('the job is over', async () => (await openJobs(place, name)).length === 0);
}

/** The tables that name any of these people anywhere. */
async function tablesThatName(on: WorkflowStepScene, people: readonly Person[]): Promise<string[]> {
  const naming = people.map(({ id }) => `%${id}%`);
  const { db } = on.scene.sandbox.bot.store;
  const { rows } = await sql<{ name: string; id: string }>`
    select table_schema || '.' || table_name as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema = current_schema()`.execute(db);
  const tables: string[] = [];
  for (const { name } of rows) {
    const found = await sql`
      select from ${sql.table(name)} as one where one::text like any(${naming}) limit 1`.execute(db);
    if (found.rows.length > 0) tables.push(name);
  }
  return tables;
}

describe.concurrent('what is done later', () => {
  test.each(kinds)('(%s) goes on after kill -9, and happens once', async (name) => {
    const kind = KINDS[name];
    const place = placeOn(shared, name);
    const root = await kind.before?.(place);
    const [call, write] = kind.calls;
    const hit = Promise.withResolvers<void>();
    // The call of a process that is killed comes to nothing.
    const until = new Promise<void>(() => undefined);
    const held: Fault = {
      kind: 'hold',
      get until() {
        hit.resolve();
        return until;
      },
    };
    spoil(place, kind, call, held, 1);
    await kind.ask(place, root);
    await hit.promise;
    if (write !== undefined) spoil(place, kind, write, { kind: 'lost' }, 1);
    const expired = { claim_id: randomUUID(), claimed_until: new Date(0), due_at: new Date(0) };
    await jobsOf(place, name).set(expired).execute();
    expect(await timesSeen(place, name, root)).toBe(1);
  });

  test('names nobody any more who was forgotten', async () => {
    // What a person wrote in Slack may be read back from there.
    const naming = kinds.filter((name) => name !== 'backfill');
    const forgotten = await Promise.all(
      naming.map(async (name) => {
        const kind = KINDS[name];
        const place = placeOn(shared, name);
        const root = await kind.before?.(place);
        const mend = spoil(place, kind, kind.calls[0], REFUSED);
        await kind.ask(place, root);
        await failedAndPutOff(place, name);
        const { store } = shared.scene.sandbox.bot;
        await store.personErasure.eraseUser(place.channel.teamId, place.person.id);
        mend();
        await jobsOf(place, name)
          .set({ due_at: new Date(0) })
          .execute();
        const times = kind.endsWithPerson === true ? 0 : 1;
        expect([name, await timesSeen(place, name, root, times)]).toEqual([name, times]);
        return place.person;
      }),
    );
    expect(await tablesThatName(shared, forgotten)).toEqual([]);
  });

  test.each(kinds)('(%s) follows its channel to a new id, also where it is told late', async (name) => {
    const kind = KINDS[name];
    const place = placeOn(shared, name);
    const { slack } = shared.scene;
    const root = await kind.before?.(place);
    const mend = spoil(place, kind, kind.calls[0], REFUSED);
    await kind.ask(place, root);
    await failed(place, name);
    const { id: before } = place.channel;
    const due = jobsOf(place, name).set({ due_at: new Date(0) });
    const announce = slack.changeId(place.channel);
    mend();
    await due.execute();
    await shared.scene.until('Slack does not know the channel', () =>
      slack.calls.some(({ args, ok }) => args.channel === before && !ok),
    );
    announce();
    await shared.scene.until(
      'the job has moved',
      async () => (await openJobs(place, name)).length > 0 || kind.seen(place, root) > 0,
    );
    await jobsOf(place, name)
      .set({ due_at: new Date(0) })
      .execute();
    expect(await timesSeen(place, name, root)).toBe(1);
  });

  test('waits while the app is removed, and then goes on', async ({ onTestFinished }) => {
    const on = await openWorkflowStepScene(options, onTestFinished);
    const { store } = on.scene.sandbox.bot;
    const workspace = on.scene.slack.team.id;
    // Of all kinds, only deletions at the service go on meanwhile.
    const some: KindName[] = ['taskDeletion', 'channelNotice', 'followUp'];
    const all = await Promise.all(
      some.map(async (name) => {
        const [kind, place] = [KINDS[name], placeOn(on, name)];
        const root = await kind.before?.(place);
        const mend = spoil(place, kind, kind.calls[0], REFUSED);
        await kind.ask(place, root);
        await failed(place, name);
        return { name, kind, place, root, mend };
      }),
    );
    const install = (at: Date | null) =>
      store.db
        .updateTable('workspaces')
        .set({ uninstalled_at: at })
        .where('workspace', '=', workspace)
        .execute();
    // None that has begun ends meanwhile.
    await store.db
      .updateTable('jobs')
      .set({ due_at: new Date(Date.now() + 3_600_000) })
      .execute();
    const held = store.db.selectFrom('jobs').select('key').where('claim_id', 'is not', null);
    await on.scene.until('no job runs', async () => (await held.execute()).length === 0);
    await install(new Date());
    for (const { mend } of all) mend();
    const makeDue = () =>
      store.db
        .updateTable('jobs')
        .set({ due_at: new Date(0) })
        .execute();
    await makeDue();
    const deletion = all.find(({ name }) => name === 'taskDeletion');
    if (deletion === undefined) throw new Error('There is a deletion.');
    await on.scene.until('the task is deleted all the same', () => taskOf(deletion.place) === undefined);
    // Other jobs would be done by then.
    await pause(1_500);
    const others = all.filter((one) => one !== deletion);
    expect(others.filter(({ kind, place, root }) => kind.seen(place, root) > 0)).toEqual([]);
    await install(null);
    await makeDue();
    for (const { name, place, root } of all)
      expect([name, await timesSeen(place, name, root)]).toEqual([name, 1]);
  });
});
