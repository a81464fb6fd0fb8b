import { describe, expect, test, vi } from 'vitest';
import * as strings from '../../../src/render/strings/index.ts';
import { localServer } from '../../support/local-server.ts';
import { openMultiWorkspaceScene } from '../../support/multi-workspace-scene.ts';

const one = 'workspace-key-of-one';
const apiKeys: Record<string, string> = {
  [one]: 'one',
  'another-workspace-key-of-one': 'one',
  'workspace-key-of-two': 'two',
  'workspace-key-of-three': 'three',
};
const tenants = await openMultiWorkspaceScene({
  agent: { apiKeys },
  settings: {
    AGENT_BASE_URL: '',
    AGENT_API_KEY: '',
    PRIVATE_HOSTS: '127.0.0.1',
    ACCOUNT_HOSTS: '127.0.0.1',
    STABLE_LINKS: 'yes',
  },
});
const { scene } = tenants;
const boss = scene.slack.createPerson({ name: 'boss', teamId: 'T1', admin: true });
const place = tenants.personAndChannel('T1');
const { url: address } = scene.agent;
const { store } = scene.sandbox.bot;
const current = (workspace: string) => store.accounts.current(workspace);
const table = { name: 'table.csv', mime: 'text/csv', bytes: 'a,b\n1,2\n' };
const shareIn = (thread?: string, text = '') =>
  scene.slack.say({
    person: place.person,
    channel: place.channel,
    text: `<@${tenants.team('T1').bot.userId}> ${text}`,
    files: [table],
    ...(thread && { thread }),
  });

describe('changing the agent account of a workspace', () => {
  test('to another owner starts new projects, even before there was a task', async () => {
    expect(await tenants.setAccount(boss, address, one)).toContain(strings.account.saved);
    await tenants.answered(shareIn());
    const before = await current('T1');
    expect(await tenants.setAccount(boss, address, 'another-workspace-key-of-one')).toContain(
      strings.account.keyReplaced,
    );
    expect((await current('T1'))?.account_id).toBe(before?.account_id);
    expect(await tenants.setAccount(boss, address, 'workspace-key-of-two')).toContain(strings.account.saved);
    expect((await current('T1'))?.account_id).not.toBe(before?.account_id);
    await tenants.answered(tenants.ask(place, 'Asked of another'));
    expect(scene.sentToAgent('Asked of another').texts).toHaveLength(1);
  });

  test('makes a link to a result open a page that names its host first', async () => {
    const root = shareIn(undefined, 'Summarise this');
    const path = await scene.until('its results are linked', () => {
      const shown = JSON.stringify(scene.replies(place.channel, root).map(({ blocks }) => blocks));
      return /\/results\/[\w.-]+/.exec(shown)?.[0];
    });
    const page = await tenants.fetch(path);
    const text = await page.text();
    const [, href = ''] = /<a href="([^"]+)">Open the file<\/a>/.exec(text) ?? [];
    expect(text).toContain(`<h1>The file is at ${new URL(address).host}</h1>`);
    expect(page.headers.get('content-security-policy')).toBe("default-src 'none'");
    expect(await (await fetch(href.replaceAll('&amp;', '&'))).text()).not.toBe('');
  });

  test('leaves waiting files behind, and the thread says so', async () => {
    const root = shareIn();
    await tenants.answered(root);
    await tenants.setAccount(boss, address, one);
    const shown = await tenants.answered(tenants.ask(place, 'What is in the table?', root), root);
    expect(scene.sentToAgent('What is in the table?').fileIds).toEqual([[]]);
    expect(shown).toContain(strings.fileMissing({ name: 'table.csv', reason: 'left_behind' }));
  });

  test('sends messages that waited for a working key', async () => {
    const old = tenants.ask(place, 'Begun before');
    await tenants.answered(old);
    delete apiKeys[one];
    const root = tenants.ask(place, 'Waiting for a key');
    const next = tenants.ask(place, 'more', old);
    await scene.until('both wait', () =>
      [old, root].every((message) =>
        tenants.shown(message).includes("API key for the agent service doesn't work"),
      ),
    );
    await tenants.setAccount(boss, address, 'workspace-key-of-three');
    await scene.finished(place.channel, root);
    expect(scene.sentToAgent('Waiting for a key').texts).toHaveLength(1);
    await scene.finished(place.channel, next);
    expect(tenants.shown(old)).toContain(strings.accountChanged);
    expect(scene.sentToAgent('Begun before').texts).toHaveLength(1);
  });

  test('has no effect when the app is uninstalled while the new account is checked', async () => {
    const other = scene.slack.createPerson({ name: 'other-boss', teamId: 'T2', admin: true });
    const { promise: gone, resolve: go } = Promise.withResolvers<void>();
    await using slow = await localServer(async ({ headers }, response) => {
      await gone;
      response.writeHead(headers.authorization === 'Bearer workspace-key-of-two' ? 404 : 401).end();
    });
    const put = vi.spyOn(store.accounts, 'put');
    await tenants.openForm(other);
    const typed = { account_address: `${slow.origin}/v1`, account_key: 'workspace-key-of-two' };
    await scene.slack.submitView(other, typed);
    await scene.until('it is being tried', () => slow.requests.length > 0);
    scene.slack.uninstall('T2');
    await scene.until(
      'the app has left',
      async () => (await store.installations.get('T2'))?.uninstalled_at != null,
    );
    go();
    await scene.expectStays(() => put.mock.settledResults.some(({ value }) => value === true), false);
    expect(await current('T2')).toBeUndefined();
  });
});
