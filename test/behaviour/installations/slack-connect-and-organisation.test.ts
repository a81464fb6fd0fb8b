import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Channel, Message, Person } from '../../../sandbox/slack/slack-workspace.ts';
import { StoreError } from '../../../src/store/errors.ts';
import { Threads } from '../../../src/store/threads/threads.ts';
import { Turns } from '../../../src/store/threads/turns.ts';
import { openMultiWorkspaceScene } from '../../support/multi-workspace-scene.ts';

const organisation = { id: 'E1', name: 'The whole company' };
/** One by itself, one with a channel that it shares with the first (Slack Connect), and two of an organisation. */
const tenants = await openMultiWorkspaceScene({
  slack: {
    teams: [
      { id: 'T1', name: 'One' },
      { id: 'T2', name: 'Two' },
      { id: 'T3', name: 'Three', organisation },
      { id: 'T4', name: 'Four', organisation },
      { id: 'T5', name: 'Five', organisation },
    ],
  },
  settings: { TURNS_PER_HOUR_PERSON: '2' },
});
const { scene, slack } = tenants;
const { store } = scene.sandbox.bot;
await tenants.install('T3');

/** Waits until the person is told that their message was not sent. */
async function refused(person: Person, channel: Channel, message: Message): Promise<string> {
  const key = { workspace: channel.teamId, channel: channel.id, ts: message.ts };
  await scene.until('it is refused', async () => (await store.messages.get(key))?.state === 'refused');
  return scene.until('they are told', () => {
    const last = slack.ephemerals(person, channel).at(-1);
    return last && slack.visibleText(last);
  });
}

function inChannel(teamId: string, name: string, more: { shared?: boolean } = {}): Channel {
  return slack.createChannel({ teamId, name, ...more });
}

describe('a workspace', () => {
  test('of an organisation reads no linked message of another one, not even for a member of its channel', async () => {
    const writer = slack.createPerson({ name: 'writer', teamId: 'T4' });
    const there = inChannel('T4', 'theirs');
    const said = slack.say({ person: writer, channel: there, text: 'words of the other workspace' });
    const ours = tenants.team('T3');
    ours.channels.set(there.id, there);
    there.members.add(ours.bot.userId);
    const asker = slack.createPerson({ name: 'asker', teamId: 'T3' });
    there.members.add(asker.id);
    const places = { channel: inChannel('T3', 'here'), message: slack.openDm(asker) };
    for (const [place, channel] of Object.entries(places)) {
      const title = `look from a ${place}`;
      const root = tenants.ask({ person: asker, channel }, `${title} ${slack.permalink(said)}`);
      expect(await tenants.answered(root)).toContain("as far as Slack tells me, it's in another workspace.");
      expect(scene.sentToAgent(title).texts.join()).not.toContain('words of the other workspace');
    }
    ours.channels.delete(there.id);
  });

  test('of an organisation goes on where a link leads into a workspace without the app', async () => {
    const asker = slack.createPerson({ name: 'linking', teamId: 'T3' });
    const writer = slack.createPerson({ name: 'unreached', teamId: 'T4' });
    const there = inChannel('T4', 'not-granted');
    const said = slack.say({ person: writer, channel: there, text: 'words without the app' });
    const body = { ok: false, error: 'team_access_not_granted' };
    const fault = { kind: 'status', status: 200, body } as const;
    onTestFinished(slack.faults.add({ call: 'conversations.info', about: there.id, fault }));
    const place = { person: asker, channel: inChannel('T3', 'linked-from') };
    const root = tenants.ask(place, `look there ${slack.permalink(said)}`);
    expect(await tenants.answered(root)).toContain("I can't see that conversation.");
  });

  test('that shares a channel admits its own people there and not those of the other organisation', async () => {
    const host = slack.createPerson({ name: 'host', teamId: 'T2' });
    const visitor = slack.createPerson({
      name: 'visitor',
      teamId: 'T2',
      kind: 'stranger',
      homeTeamId: 'T1',
    });
    const channel = inChannel('T2', 'together', { shared: true });
    const strange = tenants.ask({ person: visitor, channel }, 'from over there');
    expect(await refused(visitor, channel, strange)).toContain("You don't have access to this agent here");
    const root = tenants.ask({ person: host, channel }, 'from here');
    expect(await tenants.answered(root)).toContain('shared with another organisation');
    const aside = slack.say({ person: visitor, channel, text: 'me too', thread: root.ts });
    await refused(visitor, channel, aside);
    expect(scene.sentToAgent('from here').texts).toEqual(['from here']);
    expect(scene.sentToAgent('from over there').texts).toEqual([]);
    await store.settings.set('T2', channel.id, host.id, { allowed_users: 'everyone' });
    const again = tenants.ask({ person: visitor, channel }, 'now from over there');
    expect(await tenants.answered(again)).not.toContain('shared with another organisation');
  });

  test('refuses people of the other organisation at once while the agent works, and promises nothing', async () => {
    const host = slack.createPerson({ name: 'busy-host', teamId: 'T2' });
    const visitor = slack.createPerson({ name: 'early', teamId: 'T2', kind: 'stranger', homeTeamId: 'T1' });
    const channel = inChannel('T2', 'busy', { shared: true });
    const root = tenants.ask({ person: host, channel }, 'takes its time\n/slow 9000');
    await scene.until('it is at the agent', () => scene.sentToAgent('takes its time').texts.length > 0);
    const aside = slack.say({ person: visitor, channel, text: 'me too', thread: root.ts });
    await refused(visitor, channel, aside);
    await scene.hurry('takes its time');
    await scene.finished(channel, root);
    const told = slack.ephemerals(visitor, channel).map((note) => slack.visibleText(note));
    expect(told).toEqual([expect.stringContaining("You don't have access to this agent here")]);
  });

  test('of an organisation admits members of the whole organisation, and none of its guests', async () => {
    const [local, colleague, guest] = [
      slack.createPerson({ name: 'local', teamId: 'T3' }),
      slack.createPerson({ name: 'colleague', teamId: 'T3', homeTeamId: 'T4' }),
      slack.createPerson({ name: 'guest', teamId: 'T3', homeTeamId: 'T4', kind: 'guest' }),
    ];
    const foreign = slack.createPerson({ name: 'foreign', teamId: 'T3', kind: 'stranger' });
    const channel = inChannel('T3', 'grid');
    for (const person of [local, colleague])
      await tenants.answered(tenants.ask({ person, channel }, `from ${person.name}`));
    for (const person of [guest, foreign]) {
      const said = tenants.ask({ person, channel }, `from ${person.name}`);
      expect(await refused(person, channel, said)).toContain("You don't have access to this agent here");
      expect(scene.sentToAgent(`from ${person.name}`).texts).toEqual([]);
    }
  });

  test('of an organisation obeys its people wherever they are at home', async () => {
    const local = slack.createPerson({ name: 'starter', teamId: 'T3' });
    // The app is not even added to that workspace.
    const visiting = slack.createPerson({ name: 'visiting', teamId: 'T3', homeTeamId: 'T9' });
    const channel = inChannel('T3', 'visited');
    const root = tenants.ask({ person: local, channel }, 'to be stopped\n/slow 9000');
    const isStoppable = ({ blocks }: Message) => JSON.stringify(blocks ?? []).includes('"stop"');
    const reply = await scene.until('it can be stopped', () =>
      slack.thread(channel, root.ts).find(isStoppable),
    );
    await slack.click({ person: visiting, channel, ts: reply.ts, actionId: 'stop' });
    await scene.finished(channel, root);
    expect(slack.ephemerals(visiting, channel)).toEqual([]);
    const { ts } = slack.say({ person: local, channel, text: 'what they talk about' });
    await slack.shortcut({ person: visiting, callbackId: 'ask_about', channel, ts });
    await scene.until('the form is there', () => tenants.modal(visiting).includes('question'));
    await slack.submitView(visiting, { question: 'a question from a form' });
    await scene.until('it is sent', () => scene.sentToAgent('a question from a form').texts.length > 0);
    slack.openHome(visiting);
    await scene.until('Home lists it', () =>
      JSON.stringify(slack.home(visiting)?.blocks ?? '').includes('task_details'),
    );
    await slack.click({ person: visiting, view: 'home', actionId: 'task_details' });
    await scene.until('it opens', () => tenants.modal(visiting).includes('a question from a form'));
    const { rows } = await sql`select from workspaces where workspace = 'T9'`.execute(store.db);
    expect(rows).toEqual([]);
  });

  test('of an organisation keeps replies to itself in a channel that another organisation no longer shares', async () => {
    const host = slack.createPerson({ name: 'former-host', teamId: 'T3' });
    const visitor = slack.createPerson({ name: 'former-visitor', teamId: 'T1' });
    const channel = slack.createChannel({ teamId: 'T3', name: 'once-shared', members: [host, visitor] });
    slack.connect(channel, 'T1');
    const bot = tenants.team('T1').bot.userId;
    const root = slack.say({ person: visitor, channel, text: `<@${bot}> to the other one` });
    const key = { workspace: 'T1', channel: channel.id, ts: root.ts };
    await scene.until('it is sent', async () => (await store.messages.get(key))?.state === 'sent');
    channel.shared = false;
    slack.say({ person: visitor, channel, thread: root.ts, text: 'words of the organisation' });
    await slack.settled();
    await scene.expectStays(() => scene.sentToAgent('to the other one').texts, ['to the other one']);
  });

  test.each([
    ['where it shares the channel', 0],
    ['also while Slack does not say whether it does', 1],
  ])('of an organisation starts what its people ask about by the shortcut, %s', async (_when, times) => {
    const [three, five] = ['T3', 'T5'].map((teamId) =>
      slack.createPerson({ name: `of-${teamId}-${times}`, teamId }),
    );
    if (three === undefined || five === undefined) throw new Error('There are two.');
    // At first nobody has used the app there.
    const channel = slack.createChannel({ teamId: 'T3', name: `of-both-${times}`, members: [three, five] });
    slack.connect(channel, 'T5');
    await tenants.answered(tenants.ask({ person: three, channel }, 'a thread of the other one'));
    const { ts } = slack.say({ person: five, channel, text: 'what they talk about' });
    await slack.settled();
    const fault = { kind: 'status', status: 503 } as const;
    slack.faults.add({ call: 'conversations.info', about: channel.id, fault, times });
    await slack.shortcut({ person: five, callbackId: 'ask_about', channel, ts });
    await scene.until('the form is there', () => tenants.modal(five).includes('question'));
    await slack.submitView(five, { question: `asked at home ${times}` });
    await scene.until('it is sent', () => scene.sentToAgent(`asked at home ${times}`).texts.length > 0);
    const { rows } = await sql`select workspace from threads where channel = ${channel.id}
      order by workspace`.execute(store.db);
    expect(rows).toEqual([{ workspace: 'T3' }, { workspace: 'T5' }]);
  });

  test('of an organisation tells who presses a button while the database is away', async () => {
    const person = slack.createPerson({ name: 'presser', teamId: 'T3' });
    const channel = inChannel('T3', 'outage');
    const root = tenants.ask({ person, channel }, 'not to be stopped\n/slow 9000');
    const isStoppable = ({ blocks }: Message) => JSON.stringify(blocks ?? []).includes('"stop"');
    const { ts } = await scene.until('it can be stopped', () =>
      slack.thread(channel, root.ts).find(isStoppable),
    );
    const away = () => Promise.reject(new StoreError('unavailable', 'The database is away.'));
    const failing = [
      vi.spyOn(Threads.prototype, 'workspacesOf').mockImplementation(away),
      vi.spyOn(Threads.prototype, 'workspacesIn').mockImplementation(away),
      vi.spyOn(Turns.prototype, 'get').mockImplementation(away),
    ];
    const mend = () => {
      for (const spy of failing) spy.mockRestore();
    };
    onTestFinished(mend);
    await slack.click({ person, channel, ts, actionId: 'stop' });
    await scene.until('they are told', () => {
      const [note] = slack.ephemerals(person, channel);
      return note !== undefined && slack.visibleText(note).includes('Please try again');
    });
    mend();
    await scene.hurry('not to be stopped');
    await scene.finished(channel, root);
    expect(slack.ephemerals(person, channel)).toHaveLength(1);
  });

  test('of an organisation keeps its thread in a channel that another workspace of it shares', async () => {
    const starter = slack.createPerson({ name: 'host-of-both', teamId: 'T3' });
    const other = slack.createPerson({ name: 'member-of-both', teamId: 'T3', homeTeamId: 'T4' });
    const channel = slack.createChannel({ teamId: 'T3', name: 'both', members: [starter, other] });
    slack.connect(channel, 'T4');
    const root = tenants.ask({ person: starter, channel }, 'for both of us');
    await tenants.answered(root);
    slack.delivery.authorizes = 'connected';
    try {
      const reply = slack.say({ person: other, channel, thread: root.ts, text: 'and one more thing' });
      await tenants.answered(reply, root);
    } finally {
      slack.delivery.authorizes = 'host';
    }
    expect(scene.sentToAgent('for both of us').texts).toEqual([
      'for both of us',
      expect.stringContaining('member-of-both: and one more thing'),
    ]);
    expect(tenants.shown(root)).not.toContain('shared with another organisation');
  });

  test('of an organisation keeps a thread of direct messages, whichever one Slack names for a reply', async () => {
    const person = slack.createPerson({ name: 'of-both', teamId: 'T3', homeTeamId: 'T4' });
    const dm = slack.openDm(person);
    const root = slack.say({ person, channel: dm, text: 'said in the one workspace' });
    await tenants.answered(root);
    const ts = (Number(root.ts) + 60).toFixed(6);
    await slack.deliverRaw('events_api', {
      type: 'event_callback',
      event_id: 'EvOtherWorkspace',
      team_id: 'T4',
      context_team_id: 'T4',
      context_enterprise_id: 'E1',
      authorizations: [{ enterprise_id: 'E1', team_id: null, is_enterprise_install: true }],
      is_ext_shared_channel: false,
      event: {
        ...{ type: 'message', channel: dm.id, channel_type: 'im', user: person.id, event_ts: ts },
        ...{ text: 'and in the other one', ts, thread_ts: root.ts },
      },
    });
    await scene.until('it is sent', () => scene.sentToAgent('said in the one').texts.length > 1);
    expect(scene.sentToAgent('said in the one').texts.at(-1)).toBe('and in the other one');
    const { rows } = await sql`select workspace from threads where channel = ${dm.id}`.execute(store.db);
    expect(rows).toEqual([{ workspace: 'T3' }]);
  });

  test("of an organisation is found by events of its own people, and never by another organisation's", async () => {
    const own = slack.createPerson({ name: 'own', teamId: 'T4' });
    const foreign = slack.createPerson({
      name: 'overseas',
      teamId: 'T4',
      kind: 'stranger',
      homeTeamId: 'T999',
    });
    // A tenant of its own, on the other side of the channel.
    const tenant = slack.createPerson({ name: 'tenant', teamId: 'T4', kind: 'stranger', homeTeamId: 'T1' });
    const channel = inChannel('T4', 'overseas', { shared: true });
    slack.delivery.organisationOnly = true;
    try {
      const strange = [foreign, tenant].map((person) =>
        tenants.ask({ person, channel }, `as ${person.name}`),
      );
      await slack.settled();
      await tenants.answered(tenants.ask({ person: own, channel }, 'as our own'));
      const { rows } = await sql<{ workspace: string; installation: string }>`
        select workspace, installation_id from workspaces where installation_id = 'E1' and workspace <> 'T5' order by workspace`.execute(
        store.db,
      );
      expect(rows.map(({ workspace }) => workspace)).toEqual(['T3', 'T4']);
      for (const { ts } of strange)
        for (const workspace of ['T1', 'T999', 'T4'])
          expect(await store.messages.get({ workspace, channel: channel.id, ts })).toBeUndefined();
    } finally {
      slack.delivery.organisationOnly = false;
    }
    // Over there the button's message is the bot's, but whoever presses it stays a stranger.
    await slack.deliverRaw('interactive', {
      type: 'block_actions',
      team: null,
      user: { id: foreign.id, team_id: 'T999' },
      enterprise: organisation,
      is_enterprise_install: true,
      trigger_id: 'none',
      channel: { id: channel.id },
      container: { type: 'message', message_ts: '1.000001', channel_id: channel.id },
      actions: [{ type: 'button', action_id: 'stop', value: randomUUID(), action_ts: '9.000001' }],
    });
    expect(
      await store.db.selectFrom('workspaces').select('workspace').where('workspace', '=', 'T999').execute(),
    ).toEqual([]);
  });

  test('neither counts what people ask in another workspace nor uses its settings', async () => {
    const places = ['T1', 'T2'].map((teamId) => {
      const person = slack.createPerson({ name: `asker-${teamId}`.toLowerCase(), teamId });
      const guest = slack.createPerson({ name: `guest-${teamId}`.toLowerCase(), teamId, kind: 'guest' });
      return { person, guest, channel: inChannel(teamId, 'counted') };
    });
    const [first, second] = places;
    if (first === undefined || second === undefined) throw new Error('There are two.');
    for (const text of ['a', 'b']) await tenants.answered(tenants.ask(first, text));
    const third = tenants.ask(first, 'c');
    expect(await refused(first.person, first.channel, third)).toMatch(/2 messages in the past hour/);
    for (const text of ['d', 'e']) await tenants.answered(tenants.ask(second, text));
    await store.settings.set('T1', first.channel.id, first.person.id, { allowed_users: 'guests' });
    await tenants.answered(tenants.ask({ ...first, person: first.guest }, 'f'));
    const theirs = tenants.ask({ ...second, person: second.guest }, 'g');
    await refused(second.guest, second.channel, theirs);
    const trail = store.db.selectFrom('audit_events').select('user_id').where('kind', '=', 'refusal');
    expect(await trail.where('workspace', '=', 'T1').execute()).toEqual([{ user_id: first.person.id }]);
  });
});
