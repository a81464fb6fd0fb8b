import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Message } from '../../../sandbox/slack/slack-workspace.ts';
import { ResultLinks } from '../../../src/relay/replies/lasting-links.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { newProject, openChannelSettings } from '../../support/channel-settings-scene.ts';
import { openMultiWorkspaceScene } from '../../support/multi-workspace-scene.ts';

const secretKey = 'k'.repeat(32);
const tenants = await openMultiWorkspaceScene({
  // A look at the finished task would count as a call that somebody else caused.
  settings: { STABLE_LINKS: 'yes', SECRET_KEY: secretKey },
  limits: { watchMs: 0 },
});
const { scene, slack } = tenants;
const { store } = scene.sandbox.bot;
const ours = tenants.personAndChannel('T1');
const theirs = tenants.personAndChannel('T2', { admin: true });
const elsewhere = slack.say({ ...theirs, text: 'Something else.' });

/** What a person of the second workspace does, with ids of the first. */
const intruder = {
  team: { id: 'T2', domain: 'two' },
  user: { id: theirs.person.id, team_id: 'T2' },
};

function event(inner: Record<string, unknown>): Record<string, unknown> {
  const { bot } = tenants.team('T2');
  return {
    type: 'event_callback',
    team_id: 'T2',
    context_team_id: 'T2',
    api_app_id: bot.appId,
    event_id: `Ev${Math.random()}`,
    event_time: Math.floor(Date.now() / 1_000),
    authorizations: [{ team_id: 'T2', user_id: bot.userId, is_bot: true, is_enterprise_install: false }],
    event: inner,
  };
}

async function press(actionId: string, root: Message): Promise<void> {
  const turn = await store.turns.ofMessage({ workspace: 'T1', channel: root.channel, ts: root.ts });
  await slack.deliverRaw('interactive', {
    type: 'block_actions',
    ...intruder,
    trigger_id: 'none',
    channel: { id: theirs.channel.id },
    container: { type: 'message', message_ts: elsewhere.ts, channel_id: theirs.channel.id },
    actions: [{ type: 'button', action_id: actionId, value: turn?.id, action_ts: '9.000001' }],
  });
}

const table = { files: [{ name: 'table.csv', bytes: Buffer.from('gene,count\nA,1\nB,2\n') }] };

const links = new ResultLinks({ secretKeys: [secretKey], publicUrl: 'https://bot.invalid' });

describe('a workspace', () => {
  let root: Message;
  let resultId = '';
  let turnId = '';

  /** What the link of a workspace to the result answers. */
  async function followed(workspace: string): Promise<number> {
    const link = links.create({ workspace, turnId, resultId });
    return (await tenants.fetch(new URL(link).pathname)).status;
  }

  test('has results that only its own links and people reach', async () => {
    const mention = `<@${tenants.team('T1').bot.userId}>`;
    root = slack.say({ ...ours, text: `${mention} Summarise this`, ...table });
    expect(await tenants.answered(root)).not.toBe('');
    const [result] = await store.results.ofThread({
      workspace: 'T1',
      channel: root.channel,
      thread_ts: root.ts,
    });
    resultId = result?.[0] ?? '';
    turnId = result?.[1].turn_id ?? '';
    expect([await followed('T1'), await followed('T2')]).toEqual([302, 410]);
  });

  // A press in a list of running tasks is answered by replacing the list, which this one is not in.
  const ofTurns = Object.entries(strings.buttons).filter(
    ([id, { about }]) => (about === 'control' || about === 'turn') && id !== 'stop_listed',
  );

  test('ignores each button pressed in another workspace with the id of its turn', async () => {
    const before = await rowsOf('T1');
    const calls = scene.agent.calls.length;
    const told = () => slack.ephemerals(theirs.person, theirs.channel).length;
    for (const [actionId] of ofTurns) {
      const toldBefore = told();
      await press(actionId, root);
      await scene.until(`the presser is told that ${actionId} does nothing`, () => told() > toldBefore);
    }
    expect(await rowsOf('T1')).toEqual(before);
    expect(scene.agent.calls.length).toBe(calls);
  });

  test('keeps its thread apart from one with the same channel and ts elsewhere', async () => {
    const before = await rowsOf('T1');
    const tasks = scene.agent.tasks.length;
    const said = { channel: root.channel, channel_type: 'channel', user: theirs.person.id };
    const mention = `<@${tenants.team('T2').bot.userId}>`;
    await slack.deliverRaw(
      'events_api',
      event({ type: 'message', ...said, ts: root.ts, text: `${mention} mine` }),
    );
    const reply = { ts: '4000000000.000001', thread_ts: root.ts, text: 'and this' };
    await slack.deliverRaw('events_api', event({ type: 'message', ...said, ...reply }));
    await scene.until('the other workspace has turns of its own', async () => {
      const turn = await store.turns.ofMessage({ workspace: 'T2', channel: root.channel, ts: root.ts });
      return turn?.finished_at != null;
    });
    expect(await rowsOf('T1')).toEqual(before);
    expect(scene.sentToAgent('Summarise this').texts).toHaveLength(1);
    await scene.until('no message waits there', async () => {
      const unsent = await store.db
        .selectFrom('messages')
        .select('ts')
        .where('state', 'in', ['waiting', 'sending'])
        .execute();
      return unsent.length === 0;
    });
    expect(scene.agent.tasks.length).toBe(tasks);
    const intrusions = slack.calls.filter(
      ({ teamId, args, ok }) => teamId === 'T2' && args.channel === root.channel && ok,
    );
    expect(intrusions).toEqual([]);
  });

  test('keeps its messages when another workspace edits and deletes the same ts', async () => {
    const before = await rowsOf('T1');
    const at = { type: 'message', channel: root.channel, channel_type: 'channel' };
    const user = theirs.person.id;
    const edited = { ts: root.ts, user, text: 'changed', edited: { user, ts: '4000000001.000001' } };
    await slack.deliverRaw(
      'events_api',
      event({
        ...at,
        subtype: 'message_changed',
        ts: '4000000001.000001',
        message: { type: 'message', ...edited },
      }),
    );
    await slack.deliverRaw(
      'events_api',
      event({ ...at, subtype: 'message_deleted', ts: '4000000002.000001', deleted_ts: root.ts }),
    );
    expect(await rowsOf('T1')).toEqual(before);
  });

  test("keeps its account when another workspace's admin sends the form in its name", async () => {
    await slack.deliverRaw('interactive', {
      type: 'view_submission',
      ...intruder,
      view: {
        id: 'V1',
        type: 'modal',
        callback_id: 'account_form',
        app_installed_team_id: 'T1',
        state: {
          values: {
            account_address: { account_address: { value: scene.agent.url } },
            account_key: { account_key: { value: scene.agent.apiKey } },
          },
        },
      },
    });
    await scene.until('Slack was asked who that is', () =>
      slack.calls.some(
        ({ method, teamId, error }) => method === 'users.info' && teamId === 'T1' && error !== undefined,
      ),
    );
    expect(await store.accounts.current('T1')).toBeUndefined();
  });

  test('keeps its project where several workspaces share an account, and none can claim an unowned one', async () => {
    const project = scene.agent.projects.find(({ title }) => title === ours.channel.name)?.id ?? '';
    expect(project).not.toBe('');
    for (const wanted of [project, await newProject(scene, "Nobody's")]) {
      const modal = await openChannelSettings(scene, theirs.person, theirs.channel);
      const errors = { channel_project: expect.stringContaining('no such project') };
      expect(await modal.save({ channel_project: wanted })).toEqual({ response_action: 'errors', errors });
    }
  });

  test('that uninstalls the app leaves neither a key nor a working link', async () => {
    await store.accounts.put({
      workspace: 'T1',
      account_id: 'a1',
      base_url: 'https://a/v1',
      set_by: 'U1',
      encrypted_api_key: 'x',
    });
    slack.uninstall('T1');
    await scene.until('the link is over', async () => (await followed('T1')) === 410);
    expect(await store.accounts.current('T1')).toMatchObject({ account_id: 'a1', encrypted_api_key: null });
  });

  test('is part of the primary key of every table', async () => {
    const { rows } = await sql<{ name: string }>`
      select tables.table_name as name from information_schema.tables
      where table_schema = current_schema() and table_type = 'BASE TABLE'
        and table_name not like 'kysely%'
        and not exists (
          select from information_schema.table_constraints as constraints
          join information_schema.key_column_usage as keys using (constraint_schema, constraint_name, table_name)
          where constraints.table_schema = current_schema() and constraints.table_name = tables.table_name
            and constraint_type = 'PRIMARY KEY' and keys.column_name = 'workspace')
      order by 1`.execute(store.db);
    // A process of the bot and when all could receive belong to no workspace; of who begins to install nothing is known yet.
    expect(rows.map(({ name }) => name)).toEqual(['processes', 'receiving', 'used_oauth_states']);
  });
});

/** All rows of a workspace that say what was said and done there. */
async function rowsOf(workspace: string): Promise<unknown> {
  const rows: Record<string, unknown> = {};
  for (const name of [
    'projects',
    'threads',
    'messages',
    'pending_edits',
    'turns',
    'posts',
    'posted_results',
    'orphan_replies',
  ]) {
    const found = await sql<{ row: string }>`
      select ${sql.table(name)}::text as row from ${sql.table(name)} where workspace = ${workspace} order by 1`.execute(
      store.db,
    );
    rows[name] = found.rows.map(({ row }) => row);
  }
  return rows;
}
