import { describe, expect, test } from 'vitest';
import type { Channel, Person } from '../../../sandbox/slack/slack-workspace.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { WHOLE_WORKSPACE } from '../../../src/store/workspaces/settings-store.ts';
import { openMultiWorkspaceScene } from '../../support/multi-workspace-scene.ts';

const tenants = await openMultiWorkspaceScene({
  settings: { ALLOWED_USERS: 'guests', ALLOWED_BOTS: 'B0USUAL' },
});
const { scene, slack } = tenants;
const { store } = scene.sandbox.bot;
const boss = slack.createPerson({ name: 'boss', teamId: 'T1', admin: true });

let count = 0;

/** A channel of a workspace with somebody in it, and a bot. */
function room(teamId: string): { channel: Channel; guest: Person; stranger: Person; bot: Person } {
  count += 1;
  const [guest, stranger, bot] = (['guest', 'stranger', 'bot'] as const).map((kind) =>
    slack.createPerson({ name: `${kind}-${count}`, teamId, kind }),
  );
  if (guest === undefined || stranger === undefined || bot === undefined) throw new Error('There are three.');
  const channel = slack.createChannel({ teamId, name: `room-${count}`, shared: true });
  for (const one of [guest, stranger, bot]) slack.invite(channel, one);
  return { channel, guest, stranger, bot };
}

/** Whether the agent works for somebody in a channel; undefined where nothing was written down. */
async function works(person: Person, channel: Channel): Promise<boolean | undefined> {
  count += 1;
  const said = tenants.ask({ person, channel }, `a question, number ${count}`);
  await slack.settled();
  const key = { workspace: channel.teamId, channel: channel.id, ts: said.ts };
  if ((await store.messages.get(key)) === undefined) return undefined;
  return scene
    .until('it is decided', async () => {
      const state = (await store.messages.get(key))?.state;
      if (state === 'refused') return { works: false };
      return (await store.turns.ofMessage(key)) && { works: true };
    })
    .then((decided) => decided.works);
}

/** An admin opens the Home tab, presses the button and sends the form; the answer is what is said below its fields. */
async function saveAccess(values: {
  workspace_allowed_users: string;
  workspace_allowed_bots: string;
}): Promise<string> {
  slack.openHome(boss);
  await scene.until('the Home tab is there', () =>
    JSON.stringify(slack.home(boss)?.blocks ?? []).includes('workspace_settings_change'),
  );
  await slack.click({ person: boss, view: 'home', actionId: 'workspace_settings_change' });
  await scene.until('the form is there', () => tenants.modal(boss).includes('workspace_allowed_users'));
  // Who that is, Slack is asked anew each time, within its own limits.
  return scene.until('the form is taken or refused', async () => {
    const said = JSON.stringify((await slack.submitView(boss, values)).body ?? '');
    if (said.includes(strings.settingsSaved)) return 'saved';
    return !said.includes(strings.controlRefused.unknown) && said;
  });
}

describe("a workspace's access setting", () => {
  test("replaces the operator's from the moment an admin saves it, in that workspace alone", async () => {
    const [ours, theirs] = [room('T1'), room('T2')];
    expect(await works(ours.guest, ours.channel)).toBe(true);
    expect(await saveAccess({ workspace_allowed_users: 'members', workspace_allowed_bots: '' })).toBe(
      'saved',
    );
    expect(await works(ours.guest, ours.channel)).toBe(false);
    expect(await works(theirs.guest, theirs.channel)).toBe(true);
    expect(await saveAccess({ workspace_allowed_users: 'everyone', workspace_allowed_bots: '' })).toBe(
      'saved',
    );
    expect(await works(ours.stranger, ours.channel)).toBe(true);
    expect(await works(theirs.stranger, theirs.channel)).toBe(false);
    await scene.until('the Home tab says so', () =>
      JSON.stringify(slack.home(boss)?.blocks).includes(
        'including other organisations (set for this workspace)',
      ),
    );
    const trail = await store.db
      .selectFrom('audit_events')
      .select(['workspace', 'user_id', 'details'])
      .where('kind', '=', 'setting')
      .where('user_id', '=', boss.id)
      .execute();
    expect(trail).toEqual([
      {
        workspace: 'T1',
        user_id: boss.id,
        details: { setting: 'workspace', allowed_users: 'members' },
      },
      {
        workspace: 'T1',
        user_id: boss.id,
        details: { setting: 'workspace', allowed_users: 'everyone' },
      },
    ]);
  });

  test("names the workspace's own bots and workflows in place of the operator's", async () => {
    const [ours, theirs] = [room('T1'), room('T2')];
    for (const { bot } of [ours, theirs]) bot.botId = 'B0USUAL';
    await store.settings.set('T1', WHOLE_WORKSPACE, boss.id, { allowed_users: null, allowed_bots: null });
    expect(await works(ours.bot, ours.channel)).toBe(true);
    expect(await saveAccess({ workspace_allowed_users: 'usual', workspace_allowed_bots: 'B0OTHER' })).toBe(
      'saved',
    );
    expect(await works(ours.bot, ours.channel)).toBeUndefined();
    expect(await works(theirs.bot, theirs.channel)).toBe(true);
    ours.bot.botId = 'B0OTHER';
    expect(await works(ours.bot, ours.channel)).toBe(true);
    expect(
      await saveAccess({ workspace_allowed_users: 'usual', workspace_allowed_bots: 'the other bot' }),
    ).toContain(strings.settings.allowed_bots.invalid);
    await slack.closeView(boss);
    expect((await store.settings.get('T1', WHOLE_WORKSPACE)).allowed_bots).toEqual(['B0OTHER']);
  });

  test('can be seen and changed by admins alone', async () => {
    const { person } = tenants.personAndChannel('T2');
    slack.openHome(person);
    await scene.until('the Home tab is there', () => slack.home(person));
    expect(JSON.stringify(slack.home(person)?.blocks)).not.toContain('workspace_settings_change');
    const before = await store.settings.get('T2', WHOLE_WORKSPACE);
    const option = { text: { type: 'plain_text', text: 'x' }, value: 'everyone' };
    const forged = {
      type: 'view_submission',
      team: { id: 'T2', domain: 'two' },
      user: { id: person.id, team_id: 'T2' },
      view: {
        id: 'V1',
        type: 'modal',
        callback_id: 'workspace_settings',
        private_metadata: JSON.stringify({ channel: WHOLE_WORKSPACE, shown: {} }),
        state: {
          values: {
            workspace_allowed_users: { workspace_allowed_users: { selected_option: option } },
            workspace_allowed_bots: { workspace_allowed_bots: { value: 'B0OTHER' } },
            workspace_listen_mode: {
              workspace_listen_mode: { selected_option: { ...option, value: 'usual' } },
            },
          },
        },
      },
    };
    await scene.until('the trail has the refusal', async () => {
      await slack.deliverRaw('interactive', forged);
      const rows = await store.db
        .selectFrom('audit_events')
        .select('details')
        .where('kind', '=', 'refusal')
        .where('user_id', '=', person.id)
        .execute();
      return rows.length > 0;
    });
    expect(await store.settings.get('T2', WHOLE_WORKSPACE)).toEqual(before);
  });
});
