import { sql } from 'kysely';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { DatabaseProxy } from '../../../sandbox/chaos/database-proxy.ts';
import type { Fault } from '../../../sandbox/faults.ts';
import { connectionUrl } from '../../../sandbox/postgres-server.ts';
import { openAppScene, pause } from '../../support/app-scene.ts';
import { copyTemplateDatabase, dropDatabase } from '../../support/fresh-database.ts';
import { MultiWorkspaceScene } from '../../support/multi-workspace-scene.ts';

const organisation = { id: 'E1', name: 'The whole company' };
const connection = await copyTemplateDatabase();
const proxy = await DatabaseProxy.start(() => connection);
afterAll(async () => {
  await proxy.stop();
  await dropDatabase(connection);
});
const scene = await openAppScene({
  oauth: true,
  databaseUrl: connectionUrl(proxy.connection),
  slack: {
    retryScale: 0.01,
    rotation: 3_600_000,
    teams: [
      { id: 'T1', name: 'One', installed: false },
      { id: 'T2', name: 'Two', installed: false },
      { id: 'T3', name: 'Three', installed: false, organisation },
      { id: 'T4', name: 'Four', installed: false, organisation },
    ],
  },
});
const tenants = new MultiWorkspaceScene(scene);
const { slack } = scene;
const store = () => scene.sandbox.bot.store;

describe('installing the app', () => {
  test('leads through Slack and back to a workspace where the bot answers', async () => {
    const visit = await tenants.install('T1');
    expect(visit.asked.origin).toBe(slack.url);
    expect(visit.asked.searchParams.get('scope')).toContain('app_mentions:read');
    expect(visit.back.href).toMatch(/^https:\/\/bot\.invalid\/slack\/oauth_redirect\?/);
    expect([visit.status, visit.page]).toEqual([200, expect.stringContaining('is installed')]);
    expect(visit.page).toMatch(
      /slack\.com\/app_redirect\?app=\w+&team=T1">Open it in Slack<.*mention it there\.</,
    );
    const place = tenants.personAndChannel('T1');
    expect(await tenants.answered(tenants.ask(place, 'What is one and one?'))).not.toBe('');
  });

  test('keeps its state in a cookie that no script and no other site can use', async () => {
    const cookie = (await tenants.fetch('/slack/install')).headers.get('set-cookie') ?? '';
    const [state, ...attributes] = cookie.split('; ');
    expect(state).toMatch(/^slack-app-oauth-state=./);
    expect(attributes).toEqual(['Secure', 'HttpOnly', 'Path=/', 'Max-Age=600', 'SameSite=Lax']);
  });

  test('is refused where the state is missing, forged, from another browser, or already used', async () => {
    const { back, cookie, page } = await tenants.install('T2', { cancel: 'yes' });
    expect(page).toContain('The installation was cancelled');
    const odd = await tenants.fetch('/slack/oauth_redirect?error=constructor');
    expect(await odd.text()).toContain('Slack did not complete the installation');
    const body = { ok: false, error: 'cannot_install_an_org_installed_app' };
    const fault = { kind: 'status', status: 200, body } as const;
    slack.faults.add({ call: 'oauth.v2.access', fault, times: 1 });
    expect((await tenants.install('T2')).page).toContain(
      'Ask an admin of your organisation to add it to your workspace.',
    );
    const code = () => slack.installCode('T2');
    const state = back.searchParams.get('state') ?? '';
    const at = (query: Record<string, string>) => `${back.pathname}?${new URLSearchParams(query).toString()}`;
    const forged = `${state.slice(0, -3)}AAA`;
    const tries = [
      tenants.fetch(at({ code: code() }), cookie),
      tenants.fetch(at({ code: code(), state: forged }), `slack-app-oauth-state=${forged}`),
      tenants.fetch(at({ code: code(), state })),
    ];
    for (const refused of await Promise.all(tries)) expect(refused.status).toBe(400);
    const { back: good, cookie: its } = await tenants.install('T1');
    const again = await tenants.fetch(at({ code: code(), state: good.searchParams.get('state') ?? '' }), its);
    const used = await again.text();
    expect([again.status, used]).toEqual([400, expect.stringContaining('already used')]);
    expect(used).not.toContain('is not installed');
    expect(await store().installations.get('T2')).toBeUndefined();
  });

  test('stores no readable token in the database', async () => {
    const { rows } = await sql<{ row: string }>`
      select installations::text as row from installations where workspace = 'T1'`.execute(store().db);
    expect(rows).toHaveLength(1);
    const { token, refreshToken = '' } = tenants.team('T1').installation;
    expect(refreshToken).not.toBe('');
    for (const secret of [token, refreshToken]) expect(rows[0]?.row).not.toContain(secret.slice(-12));
  });

  test('in an organisation covers all of its workspaces', async () => {
    const { status, page } = await tenants.install('T3');
    // At first, the app is in none of them.
    expect([status, page]).toEqual([
      200,
      expect.stringMatching(/slack\.com\/manage\/E1\/integrations\/profile\/\w+\/workspaces\/add">Add it/),
    ]);
    for (const id of ['T3', 'T4']) {
      const place = tenants.personAndChannel(id);
      const root = tenants.ask(place, '/tools');
      expect(await tenants.answered(root)).not.toBe('');
      // Slack leaves the workspace out of presses there.
      const reply = slack.thread(place.channel, root.ts)[1];
      await slack.click({ ...place, ts: reply?.ts ?? '', actionId: 'steps' });
      await scene.until('the steps are shown', () => slack.modal(place.person));
    }
    const rows = await store().db.selectFrom('workspaces').select(['workspace', 'installation_id']).execute();
    expect(rows).toContainEqual({ workspace: 'T4', installation_id: 'E1' });
  });

  test('in an organisation ends for a workspace that loses access, until access is granted again', async () => {
    const place = tenants.personAndChannel('T4');
    const row = async () =>
      store()
        .db.selectFrom('workspaces')
        .select(['uninstalled_at', 'access_revoked_at'])
        .where('workspace', '=', 'T4')
        .executeTakeFirst();
    slack.setAccess('T4', 'revoked');
    await scene.until('it is withdrawn', async () => (await row())?.access_revoked_at != null);
    await slack.settled();
    const unheard = tenants.ask(place, 'Does anybody hear me?');
    await tenants.answered(tenants.ask(tenants.personAndChannel('T3'), 'The others go on.'));
    await slack.settled();
    const key = { workspace: 'T4', channel: unheard.channel, ts: unheard.ts };
    expect(await store().messages.get(key)).toBeUndefined();
    slack.setAccess('T4', 'granted');
    await scene.until('it is given back', async () => (await row())?.access_revoked_at === null);
    expect(await row()).toEqual({ uninstalled_at: null, access_revoked_at: null });
    expect(await tenants.answered(tenants.ask(place, 'And now?'))).not.toBe('');
    expect(scene.sentToAgent('Does anybody').texts).toEqual([]);
    slack.setAccess('T4', 'revoked');
    await scene.until('it is withdrawn again', async () => (await row())?.access_revoked_at != null);
    // The event that it is given back is lost.
    tenants.team('T4').isWithdrawn = false;
    expect(await tenants.answered(tenants.ask(place, 'And after all that?'))).not.toBe('');
  });

  test('yields tokens that a start renews before they expire, and a metric counts that', async () => {
    const before = tenants.team('T1').installation.token;
    await scene.sandbox.restartBot();
    await scene.until('the token is renewed', () => tenants.team('T1').installation.token !== before);
    const counted = 'taskthread_slack_calls_total{method="oauth.v2.access",outcome="ok"}';
    await expect.poll(async () => (await tenants.fetch('/metrics')).text()).toContain(counted);
    const place = tenants.personAndChannel('T1');
    expect(await tenants.answered(tenants.ask(place, 'Still there?'))).not.toBe('');
  });

  test('yields tokens that stay valid although the database is away when they are renewed', async () => {
    const { installation } = tenants.team('T1');
    const before = installation.token;
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    const fault: Fault = {
      kind: 'hold',
      get until() {
        asked.resolve();
        return answer.promise;
      },
    };
    // The tokens of other workspaces are renewed, too.
    const mend = slack.faults.add({ call: 'oauth.v2.access', about: installation.refreshToken ?? '', fault });
    const sealed = (await store().installations.get('T1'))?.encrypted_tokens;
    await scene.sandbox.restartBot();
    await asked.promise;
    proxy.reset('closed');
    onTestFinished(() => proxy.restore());
    answer.resolve();
    await scene.until('Slack has renewed the token', () => installation.token !== before);
    await pause(2_000);
    proxy.restore();
    mend();
    await scene.until('the token is saved', async () => {
      const row = await store()
        .installations.get('T1')
        .catch(() => undefined);
      return row !== undefined && row.encrypted_tokens !== sealed;
    });
    const first = installation.token;
    await scene.sandbox.restartBot();
    await scene.until('the next refresh token is good', () => installation.token !== first);
    const place = tenants.personAndChannel('T1');
    expect(await tenants.answered(tenants.ask(place, 'And now?'))).not.toBe('');
  });
});

describe('uninstalling the app', () => {
  test('deletes the tokens, and a reinstallation continues the same thread', async () => {
    await tenants.install('T2');
    const place = tenants.personAndChannel('T2');
    const root = tenants.ask(place, 'Begin.');
    await tenants.answered(root);
    slack.uninstall('T2');
    await scene.until('the tokens are gone', async () => {
      const row = await store().installations.get('T2');
      return row?.encrypted_tokens === null && row.uninstalled_at !== null;
    });
    expect(await sealedOf('T1')).not.toBeNull();
    await tenants.install('T2');
    // What Slack says of the installation before comes late, and once more.
    slack.sendUninstallEvent('app_uninstalled', 'T2');
    slack.sendUninstallEvent('tokens_revoked', 'T2');
    await slack.settled();
    expect(await sealedOf('T2')).not.toBeNull();
    await tenants.answered(tenants.ask(place, 'Go on.', root), root);
    expect(scene.sentToAgent('Begin').texts).toHaveLength(2);
  });

  test('releases a running turn, which a reinstallation finishes', async () => {
    await tenants.install('T2');
    const place = tenants.personAndChannel('T2');
    const root = tenants.ask(place, 'write for 4 s');
    await scene.until('the answer grows', () => tenants.shown(root).length > 0);
    slack.uninstall('T2');
    await scene.until('the tokens are gone', async () => (await sealedOf('T2')) === null);
    await scene.until('no process runs the turn', async () => {
      const report = z
        .looseObject({ turns: z.number() })
        .parse(await (await tenants.fetch('/readyz')).json());
      return report.turns === 0;
    });
    await tenants.install('T2');
    const reply = tenants.ask(place, 'and then?', root);
    await tenants.answered(root);
    await tenants.answered(reply, root);
    expect(scene.sentToAgent('write').texts).toHaveLength(2);
  });

  test.each([['tokens_revoked' as const], ['app_uninstalled' as const]])(
    'deletes the tokens on %s alone',
    async (only) => {
      await tenants.install('T2');
      tenants.team('T2').installation.state = 'inactive';
      slack.sendUninstallEvent(only, 'T2');
      await scene.until('the tokens are gone', async () => (await sealedOf('T2')) === null);
      expect(await sealedOf('T1')).not.toBeNull();
    },
  );

  test('from an organisation covers all of its workspaces', async () => {
    slack.uninstall('T4');
    await scene.until('the tokens are gone', async () => (await sealedOf('E1')) === null);
    const left = await store()
      .db.selectFrom('workspaces')
      .select('workspace')
      .where('uninstalled_at', 'is not', null)
      .execute();
    expect(left.map(({ workspace }) => workspace)).toEqual(expect.arrayContaining(['T3', 'T4']));
  });

  async function sealedOf(workspace: string): Promise<string | null | undefined> {
    return (await store().installations.get(workspace))?.encrypted_tokens;
  }
});

test('with HTTP events the same pages install the app, and refuse workspaces that the settings do not name', async ({
  onTestFinished,
}) => {
  const teams = [
    { id: 'T9', name: 'Nine', installed: false },
    { id: 'T7', name: 'Seven <b>', installed: false },
    { id: 'T5', name: 'Five', installed: false, organisation: { id: 'E5', name: 'Named' } },
    { id: 'T6', name: 'Six', installed: false, organisation: { id: 'E6', name: 'Not named' } },
  ];
  const settings = { INSTALL_WORKSPACES: 'T9, E5' };
  const byHttp = new MultiWorkspaceScene(
    await openAppScene({ oauth: true, transport: 'http', slack: { teams }, settings }, onTestFinished),
  );
  expect((await byHttp.install('T9')).status).toBe(200);
  const root = byHttp.ask(byHttp.personAndChannel('T9'), 'By HTTP?');
  expect(await byHttp.answered(root)).not.toBe('');
  expect((await byHttp.install('T5')).status).toBe(200);
  for (const [team, shown] of [
    ['T7', 'This workspace (T7)'],
    ['T6', 'This workspace (E6)'],
  ] as const) {
    const visit = await byHttp.install(team);
    expect([visit.status, visit.page]).toEqual([403, expect.stringContaining(shown)]);
    expect(byHttp.team(team).installation.state).toBe('revoked');
  }
  const { db, installations } = byHttp.scene.sandbox.bot.store;
  const kept = await db.selectFrom('installations').select('workspace').orderBy('workspace').execute();
  expect(kept).toEqual([{ workspace: 'E5' }, { workspace: 'T9' }]);
  for (const table of ['workspaces', 'audit_events'] as const) {
    const rows = await db.selectFrom(table).select('workspace').distinct().execute();
    for (const { workspace } of rows) expect(['T7', 'T6', 'E6']).not.toContain(workspace);
  }
  // Slack may grant a workspace that has the app the token once more that it has already.
  const row = {
    workspace: 'T7',
    name: 'Seven',
    is_enterprise_install: false,
    enterprise_id: null,
    token_expires_at: null,
  };
  await installations.put({ ...row, bot_user_id: 'U7', bot_id: 'B7', encrypted_tokens: 'tokens' });
  expect((await byHttp.install('T7')).status).toBe(403);
  expect(byHttp.team('T7').installation.state).toBe('live');
});
