import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import { describe, expect, test, vi } from 'vitest';
import { WORKSPACE_RESPONSE_LIMITS } from '../../../src/agent/response-limits.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { localServer } from '../../support/local-server.ts';
import { openMultiWorkspaceScene } from '../../support/multi-workspace-scene.ts';

const tenants = await openMultiWorkspaceScene({
  agent: {
    apiKeys: {
      'workspace-key-of-one': 'one',
      'new-workspace-key-of-one': 'one',
      'workspace-key-of-two': 'two',
    },
  },
  settings: {
    AGENT_BASE_URL: '',
    AGENT_API_KEY: '',
    PRIVATE_HOSTS: '127.0.0.1,10.0.0.1',
    ACCOUNT_HOSTS: '127.0.0.1',
  },
});
const { scene } = tenants;
const boss = scene.slack.createPerson({ name: 'boss', teamId: 'T1', admin: true });
const place = tenants.personAndChannel('T1');
const { url: address } = scene.agent;
const current = () => scene.sandbox.bot.store.accounts.current('T1');

const keyOf = (row: { account_id: string } | undefined) => ({
  workspace: 'T1',
  account_id: row?.account_id ?? '',
});

describe("a workspace's agent account", () => {
  test('is missing at first, and the thread says who can add it', async () => {
    expect(await tenants.answered(tenants.ask(place, 'Anybody there?'))).toContain(strings.noAccount);
  });

  test('can be set by admins alone', async () => {
    expect(await tenants.openForm(place.person)).toContain(strings.account.refused.not_admin);
    expect(tenants.modal(place.person)).not.toContain('account_key');
    expect(await current()).toBeUndefined();
  });

  test('shows an error where its form cannot be loaded', async () => {
    const { accounts } = scene.sandbox.bot.store;
    vi.spyOn(accounts, 'current').mockRejectedValueOnce(new Error('The database is away.'));
    expect(await tenants.openForm(boss)).toContain(strings.command.unavailable);
    await scene.slack.closeView(boss);
  });

  test.each([
    ['a wrong key', address, 'the-key-of-nobody', strings.account.refused.bad_key],
    ['a word for a key', address, 'taskthread', strings.account.refused.odd_key],
    ['a part of JSON for a key', address, '{"level":30,"time":1', strings.account.refused.odd_key],
    ['a private address', 'https://10.0.0.1/v1', 'workspace-key-of-one', strings.account.refused.bad_address],
    [
      'an address with a query',
      `${address}?x=1`,
      'workspace-key-of-one',
      strings.account.refused.bad_address,
    ],
    [
      'the address of another service',
      scene.slack.url,
      'workspace-key-of-one',
      strings.account.refused.no_service,
    ],
    [
      'an address that nobody answers at',
      'http://127.0.0.1:9/v1',
      'the-key-of-nobody',
      strings.account.refused.unreachable,
    ],
  ])('is refused with %s', async (_what, base, key, said) => {
    expect(await tenants.setAccount(boss, base, key)).toContain(said);
    expect(await current()).toBeUndefined();
  });

  test('is stored encrypted once it works, and used from then on', async () => {
    expect(await tenants.setAccount(boss, address, 'workspace-key-of-one')).toContain(strings.account.saved);
    await tenants.answered(tenants.ask(place, 'First question'));
    expect(scene.sentToAgent('First question').texts).toHaveLength(1);
    const { rows } = await sql<{ row: string }>`select accounts::text as row from accounts`.execute(
      scene.sandbox.bot.store.db,
    );
    expect(rows.map(({ row }) => row).join()).not.toContain('workspace-key-of-one');
    expect(await tenants.openForm(boss)).not.toContain('workspace-key-of-one');
    await scene.slack.closeView(boss);
  });

  test('is neither set nor removed by other people, and each attempt is audited', async () => {
    const { person } = tenants.personAndChannel('T1');
    const before = await current();
    const tried = async () => {
      const rows = scene.sandbox.bot.store.db
        .selectFrom('audit_events')
        .select('details')
        .where('kind', '=', 'refusal');
      return (await rows.where('user_id', '=', person.id).execute()).map(({ details }) => details);
    };
    await tenants.showHome(person, { kind: 'own', host: 'x', setBy: boss.id, setAt: new Date() });
    await scene.slack.click({ person, view: 'home', actionId: 'account_remove' });
    const refused = { control: 'account', by: 'admins', why: 'admins' };
    await scene.until('the trail has it', async () => (await tried()).length === 1);
    const told = () => scene.slack.messages(scene.slack.openDm(person)).map(({ text }) => text);
    await scene.until('they are told', () => told().length > 0);
    expect(told()).toEqual([strings.account.refused.not_admin]);
    const value = (text: string) => ({ value: text });
    const forged = {
      type: 'view_submission',
      team: { id: 'T1', domain: 'one' },
      user: { id: person.id, team_id: 'T1' },
      view: {
        id: 'V1',
        type: 'modal',
        callback_id: 'account_form',
        state: {
          values: {
            account_address: { account_address: value(address) },
            account_key: { account_key: value('workspace-key-of-two') },
          },
        },
      },
    };
    await scene.slack.deliverRaw('interactive', forged);
    const both = [{ ...refused, count: 2 }];
    await scene.until('the trail counts both', async () => isDeepStrictEqual(await tried(), both));
    expect(await current()).toEqual(before);
  });

  test("whose key is refused is counted apart from the operator's own credentials", async () => {
    const read = async (path: string) => (await tenants.fetch(path)).text();
    const mend = scene.agent.faults.add({ call: /./, fault: { kind: 'status', status: 401 } });
    const root = tenants.ask(place, 'A question without a key');
    await scene.until('the key is refused', async () =>
      (await read('/metrics')).includes('taskthread_own_credentials_refused{kind="key"} 1'),
    );
    expect(await read('/metrics')).not.toContain('taskthread_credential_refused{');
    expect(JSON.parse(await read('/readyz'))).toMatchObject({
      agentKeyRefusedSince: null,
      service: { ok: null, lastStatus: null },
      ownRefused: { token: 0, key: 1 },
    });
    mend();
    await tenants.answered(root);
    expect(await read('/metrics')).toContain('taskthread_own_credentials_refused{kind="key"} 0');
  });

  test('keeps its threads when it gets a new key of the same owner', async () => {
    const root = tenants.ask(place, 'Second question');
    await tenants.answered(root);
    const before = await current();
    expect(await tenants.setAccount(boss, address, 'new-workspace-key-of-one')).toContain(
      strings.account.keyReplaced,
    );
    expect((await current())?.account_id).toBe(before?.account_id);
    await tenants.answered(tenants.ask(place, 'and more', root), root);
    expect(scene.sentToAgent('Second question').texts).toHaveLength(2);
  });

  test('of another owner gets a new project, and old threads say why they cannot continue', async () => {
    const root = tenants.ask(place, 'Third question');
    await tenants.answered(root);
    const projects = scene.agent.projects.length;
    expect(await tenants.setAccount(boss, address, 'workspace-key-of-two')).toContain(strings.account.saved);
    expect(await tenants.answered(tenants.ask(place, 'go on', root), root)).toContain(strings.accountChanged);
    expect(scene.sentToAgent('Third question').texts).toHaveLength(1);
    await tenants.answered(tenants.ask(place, 'Fourth question'));
    expect(scene.sentToAgent('Fourth question').texts).toHaveLength(1);
    expect(scene.agent.projects.length).toBe(projects + 1);
    const kept = await scene.sandbox.bot.store.db
      .selectFrom('projects')
      .select('account_id')
      .where('channel', '=', place.channel.id)
      .execute();
    expect(new Set(kept.map(({ account_id }) => account_id)).size).toBe(2);
  });

  test('finishes its running turns when it is replaced, and then loses its key', async () => {
    const root = tenants.ask(place, '/slow 9000');
    await scene.until('the answer grows', () => tenants.shown(root).includes('Second 1'));
    const before = await current();
    await tenants.setAccount(boss, address, 'workspace-key-of-one');
    expect((await current())?.account_id).not.toBe(before?.account_id);
    const { store } = scene.sandbox.bot;
    await store.accounts.deleteUnusedKeys();
    expect((await store.accounts.get(keyOf(before)))?.encrypted_api_key).not.toBeNull();
    await scene.hurry('/slow 9000');
    expect(await tenants.answered(root)).toContain('Second 9000');
    const deletion = { kind: 'task_deletion', key: 'due', workspace: 'T1' };
    const due = { ...deletion, channel: place.channel.id, thread_ts: root.ts };
    const payload = { account_id: before?.account_id };
    await store.jobs.add({ ...due, payload }, 600_000);
    await store.accounts.deleteUnusedKeys();
    expect((await store.accounts.get(keyOf(before)))?.encrypted_api_key).not.toBeNull();
    await store.db.deleteFrom('jobs').where('key', '=', 'due').execute();
    await store.accounts.deleteUnusedKeys();
    expect((await store.accounts.get(keyOf(before)))?.encrypted_api_key).toBeNull();
  });

  test('is not set by somebody who is no admin any more when the address has answered', async () => {
    const was = scene.slack.createPerson({ name: 'was-boss', teamId: 'T2', admin: true });
    await using slow = await localServer((request, response) => {
      was.admin = false;
      const isKnown = request.headers.authorization === 'Bearer the-key-of-a-slow-one';
      response.writeHead(isKnown ? 404 : 401).end();
    });
    const said = await tenants.setAccount(was, `${slow.origin}/v1`, 'the-key-of-a-slow-one');
    expect(said).toContain(strings.account.refused.not_admin);
    expect(await scene.sandbox.bot.store.accounts.current('T2')).toBeUndefined();
  });

  test('at a service that answers without end does not slow another workspace', async () => {
    /** Bytes of each answer: how often it is asked depends on how long the turn takes. */
    const poured: number[] = [];
    await using hostile = await localServer((request, response) => {
      if (request.headers.authorization !== 'Bearer the-key-of-a-hostile-one')
        return response.writeHead(401).end();
      if (request.method === 'GET') return response.writeHead(404).end();
      const answer = poured.push(0) - 1;
      const pour = (bytes: number) => {
        poured[answer] = bytes;
        if (response.write('['.repeat(65_536))) pour(bytes + 65_536);
        else response.once('drain', () => pour(bytes + 65_536));
      };
      return pour(0);
    });
    const other = scene.slack.createPerson({ name: 'other-boss', teamId: 'T2', admin: true });
    const base = `${hostile.origin}/v1`;
    expect(await tenants.setAccount(other, base, 'the-key-of-a-hostile-one')).toContain(
      strings.account.saved,
    );
    const theirs = tenants.personAndChannel('T2');
    const root = tenants.ask(theirs, 'Pour it out');
    await scene.until('it pours', () => Math.max(...poured) > 1_000_000);
    await tenants.answered(tenants.ask(place, 'Meanwhile?'));
    expect(scene.sentToAgent('Meanwhile').texts).toHaveLength(1);
    expect(await tenants.answered(root)).not.toBe('');
    // As much again is on its way in the network.
    expect(Math.max(...poured)).toBeLessThan(2 * WORKSPACE_RESPONSE_LIMITS.maxBytes);
    await scene.sandbox.bot.store.accounts.remove('T2');
  });

  test('is missing again once an admin removes it', async () => {
    await tenants.showHome(boss, { kind: 'own', host: 'x', setBy: boss.id, setAt: new Date() });
    await scene.slack.click({ person: boss, view: 'home', actionId: 'account_remove' });
    await scene.until('it is removed', async () => (await current()) === undefined);
    expect(await tenants.answered(tenants.ask(place, 'Fifth question'))).toContain(strings.noAccount);
    expect(await tenants.answered(tenants.ask(tenants.personAndChannel('T2'), 'Here?'))).toContain(
      strings.noAccount,
    );
  });

  test('says after a reinstallation that its key was deleted, and can then be removed', async () => {
    await tenants.setAccount(boss, address, 'workspace-key-of-one');
    scene.slack.uninstall('T1');
    await scene.until('the key is gone', async () => (await current())?.encrypted_api_key === null);
    await tenants.install('T1');
    const home = async (said: string) => {
      scene.slack.openHome(boss);
      const shown = () => JSON.stringify(scene.slack.home(boss)?.blocks ?? []);
      await scene.until(said, () => shown().includes(said));
    };
    await home('deleted when the app was uninstalled');
    await scene.slack.click({ person: boss, view: 'home', actionId: 'account_remove' });
    await scene.until('it is removed', async () => (await current()) === undefined);
    await home(strings.account.none);
    expect(await current()).toBeUndefined();
  });
});
