import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:tls';
import pg from 'pg';
import { generate } from 'selfsigned';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { DatabaseProxy } from '../../sandbox/chaos/database-proxy.ts';
import { startInProcessSandbox } from '../../sandbox/in-process-sandbox.ts';
import { closeServer, listenLocally } from '../../sandbox/local-server.ts';
import { connectionUrl } from '../../sandbox/postgres-server.ts';
import { ALL_SCOPES, startSlackWorkspace } from '../../sandbox/slack/slack-workspace.ts';
import { useProxy } from '../../src/calls/outbound-proxy.ts';
import { type CheckTools, unreachable } from '../../src/operate/checks/check-result.ts';
import { formatResult, runChecks } from '../../src/operate/doctor.ts';
import { REQUIRED_SCOPES } from '../../src/slack/scopes.ts';
import { Keyring } from '../../src/store/workspaces/encryption.ts';
import { copyTemplateDatabase, dropDatabase } from '../support/fresh-database.ts';
import { silentLog } from '../support/silent-log.ts';

const databaseUrl = connectionUrl(await copyTemplateDatabase());
const links = { STABLE_LINKS: 'true', SECRET_KEY: 'k'.repeat(32) };
const settings = { ...links, PUBLIC_URL: 'https://bot.invalid' };
const stage = await startInProcessSandbox({ log: silentLog, databaseUrl, transport: 'http', settings });
afterAll(() => stage.stop());

const shared = {
  SLACK_BOT_TOKEN: stage.slack.botToken,
  SLACK_API_URL: stage.slack.apiUrl,
  AGENT_BASE_URL: stage.agent.url,
  AGENT_API_KEY: stage.agent.apiKey,
  PRIVATE_HOSTS: '127.0.0.1',
  DATABASE_URL: databaseUrl,
};
const bySocket = { ...shared, SLACK_APP_TOKEN: stage.slack.appToken };
const byHttp = {
  ...shared,
  SLACK_SIGNING_SECRET: stage.slack.signingSecret,
  PUBLIC_URL: `http://127.0.0.1:${stage.bot.port}`,
};

async function doctor(environment: Record<string, string>, instruments?: Partial<CheckTools>) {
  const lines: string[] = [];
  const well = await runChecks(environment, (line) => lines.push(line), instruments);
  const amiss = lines.filter((line) => !line.startsWith('OK '));
  return { well, lines, amiss: amiss.join('\n') };
}

/** A server that answers everything in one way. */
async function stranger(status: number, body: string, headers = {}): Promise<string> {
  const server = createServer((_, response) => response.writeHead(status, headers).end(body));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
}

const nobody = 'http://127.0.0.1:9';

describe('the doctor', () => {
  test('wraps its lines at the width of the terminal', () => {
    const message = `${'some words '.repeat(20)}\nhttps://${'a'.repeat(90)}`;
    const lines = formatResult({ what: 'settings', ok: false, message }, 80).split('\n');
    expect(lines.slice(0, -1).every((line) => line.length <= 80)).toBe(true);
    expect(lines.slice(1).every((line) => line.startsWith(' '.repeat(24)))).toBe(true);
    expect(formatResult({ what: 'disk', ok: true, message: 'free' }, 80)).toBe(
      'OK    disk              free',
    );
  });

  test.each([
    ['Socket Mode', bySocket],
    ['HTTP', byHttp],
  ])('passes if all is well, with events by %s', async (_, environment) => {
    const { well, lines, amiss } = await doctor(environment);
    expect(amiss).toBe('');
    expect(well).toBe(true);
    expect(lines.length).toBeGreaterThanOrEqual(8);
    for (const secret of [stage.slack.botToken, stage.agent.apiKey])
      expect(lines.join()).not.toContain(secret);
  });

  test('reports that both ends have the same signing secret, which is all it can know', async () => {
    expect((await doctor(byHttp)).lines.join()).toContain(
      'only Slack can tell whether SLACK_SIGNING_SECRET is right',
    );
  });

  test('says that other connections have the same app-level token', async () => {
    const headers = { authorization: `Bearer ${stage.slack.appToken}` };
    const opened = await fetch(`${stage.slack.apiUrl}apps.connections.open`, { method: 'POST', headers });
    const { url } = z.object({ url: z.string() }).parse(await opened.json());
    const other = new WebSocket(url);
    onTestFinished(() => other.close());
    await new Promise((resolve) => other.addEventListener('message', resolve, { once: true }));
    expect((await doctor(bySocket)).lines.join('\n')).toMatch(/Socket Mode connects, beside \d+ more\./);
  });

  test('asks for no new token where something else than Slack answers', async () => {
    const SLACK_API_URL = `${await stranger(404, 'Not here')}/api/`;
    expect((await doctor({ ...bySocket, SLACK_API_URL })).amiss).toMatch(
      /^FAIL {2}Slack token +Could not reach SLACK_API_URL \(http_404\)\. Check the address,.*\.$/,
    );
  });

  test('finds tokens of two apps, of which one gets the events and the other answers', async () => {
    const identity = { ok: true, team_id: 'T1', user_id: 'U1', bot_id: 'B1', app_id: 'AOTHER' };
    stage.slack.faults.add({ call: 'auth.test', fault: { kind: 'status', status: 200, body: identity } });
    onTestFinished(() => stage.slack.faults.clear());
    const { well, amiss } = await doctor(bySocket);
    expect(amiss).toMatch(
      /^FAIL {2}Slack connection +SLACK_APP_TOKEN belongs to the app A\w+, and SLACK_BOT_TOKEN to AOTHER\. Create an app-level token of that app\.$/,
    );
    expect(well).toBe(false);
  });

  test('finds a file of prompts with which no process starts', async () => {
    const { well, amiss } = await doctor({ ...bySocket, PROMPTS_FILE: '/no/such/prompts.json' });
    expect(amiss).toContain('PROMPTS_FILE is invalid (/no/such/prompts.json cannot be read: ENOENT).');
    expect(well).toBe(false);
  });

  test("checks the app's OAuth credentials if several workspaces install it", async () => {
    const environment = {
      ...bySocket,
      SLACK_BOT_TOKEN: '',
      SLACK_CLIENT_ID: stage.slack.clientId,
      SLACK_CLIENT_SECRET: stage.slack.clientSecret,
      SECRET_KEY: 'k'.repeat(32),
      PUBLIC_URL: await stranger(302, '', {
        location: `${stage.slack.url}/oauth/v2/authorize?client_id=${stage.slack.clientId}`,
      }),
      AGENT_BASE_URL: '',
      AGENT_API_KEY: '',
    };
    const { well, amiss, lines } = await doctor(environment);
    expect([well, amiss]).toEqual([true, '']);
    expect(lines.join()).toContain(`install the app at ${environment.PUBLIC_URL}/slack/install`);
    expect(lines.join('\n')).toMatch(/Slack connection +Socket Mode connects/);
    expect(lines.join('\n')).toMatch(/installations +0 so far; any workspace may install the app/);
    const { store } = stage.bot;
    const sealed = new Keyring(['k'.repeat(32)]).encrypt('a key', ['accounts', 'T1', 'a1']);
    const account = { workspace: 'T1', account_id: 'a1', base_url: 'https://agent.example/v1', set_by: 'U1' };
    await store.accounts.put({ ...account, encrypted_api_key: sealed });
    expect((await doctor(environment)).lines.join()).toContain('SECRET_KEY decrypts them');
    const other = await doctor({ ...environment, SECRET_KEY: 'o'.repeat(32) });
    expect(other.amiss).toMatch(/encrypted tokens +SECRET_KEY cannot decrypt/);
    await store.workspaceErasure.eraseWorkspace('T1');
    const row = {
      name: 'x',
      bot_user_id: 'U0',
      bot_id: 'B0',
      encrypted_tokens: sealed,
      token_expires_at: null,
      is_enterprise_install: false,
    };
    await store.installations.put({ ...row, workspace: 'T8', enterprise_id: null });
    await store.installations.put({ ...row, workspace: 'T9', enterprise_id: 'E9' });
    const only = (named: string) => doctor({ ...environment, INSTALL_WORKSPACES: named });
    expect((await only('T8,E9')).lines.join('\n')).toMatch(
      /installations +2 so far; only T8, E9 may install/,
    );
    expect((await only('T8')).amiss).toMatch(/installations +INSTALL_WORKSPACES does not name T9,/);
    for (const id of ['T8', 'T9']) await store.workspaceErasure.eraseWorkspace(id);
    const wrong = await doctor({ ...environment, SLACK_CLIENT_SECRET: 'wrong' });
    expect(wrong.amiss).toMatch(/SLACK_CLIENT_SECRET/);
    for (const [PUBLIC_URL, says] of [
      [nobody, /^FAIL {2}install address +Nothing answers at PUBLIC_URL/],
      [
        await stranger(404, 'Not here'),
        /PUBLIC_URL .* a different server \(status 404\)\. Route \/slack\/install/,
      ],
      [
        await stranger(302, '', { location: 'https://slack.com/oauth/v2/authorize?client_id=another' }),
        /PUBLIC_URL runs with a different SLACK_CLIENT_ID/,
      ],
    ] as const)
      expect((await doctor({ ...environment, PUBLIC_URL })).amiss).toMatch(says);
  });

  test.each<[string, Record<string, string>, RegExp]>([
    ['a setting is missing', { ...bySocket, AGENT_API_KEY: '' }, /AGENT_API_KEY is missing/],
    [
      'the database is away',
      { ...bySocket, DATABASE_URL: 'postgres://u:pw-of-mine@127.0.0.1:9/d' },
      /DATABASE_URL/,
    ],
    [
      'the database is another',
      { ...bySocket, DATABASE_URL: databaseUrl.replace(new URL(databaseUrl).pathname, '/none') },
      /DATABASE_URL/,
    ],
    [
      'the bot token is not taken',
      { ...bySocket, SLACK_BOT_TOKEN: 'xoxb-wrong' },
      /rejects SLACK_BOT_TOKEN \(invalid_auth\)\. Create a new one at api\.slack\.com\/apps\.$/,
    ],
    ['the app token is not taken', { ...bySocket, SLACK_APP_TOKEN: 'xapp-wrong' }, /SLACK_APP_TOKEN/],
    ['the service key is not taken', { ...bySocket, AGENT_API_KEY: 'wrong' }, /AGENT_API_KEY/],
    [
      'the service is away',
      { ...bySocket, AGENT_BASE_URL: `${nobody}/v1` },
      /Could not reach AGENT_BASE_URL \(ECONNREFUSED\)\. Check the address, the network, the firewall, DNS and any proxy\.$/,
    ],
    ['the service is private', { ...bySocket, PRIVATE_HOSTS: '' }, /PRIVATE_HOSTS/],
    [
      'the name of the service leads to a private place',
      { ...bySocket, AGENT_BASE_URL: 'https://localhost:9/v1' },
      /AGENT_BASE_URL \(PRIVATE_ADDRESS\)\. Its name leads to a private address: add it to PRIVATE_HOSTS\.$/,
    ],
    ['the public address is not set', { ...byHttp, PUBLIC_URL: '' }, /PUBLIC_URL/],
    ['nothing runs at the public address', { ...byHttp, PUBLIC_URL: nobody }, /PUBLIC_URL/],
    ['the signing secret is another', { ...byHttp, SLACK_SIGNING_SECRET: 'another' }, /SLACK_SIGNING_SECRET/],
  ])('says what to do and names the setting if %s', async (_, environment, says) => {
    const { well, amiss } = await doctor(environment);
    expect(well).toBe(false);
    expect(amiss).toMatch(says);
    expect(amiss).toMatch(/^FAIL /);
    expect(amiss).not.toContain('pw-of-mine');
    expect(amiss.split('\n').filter((line) => line.startsWith('FAIL'))).toHaveLength(1);
  });

  test('names the app token that lacks a scope', async () => {
    const body = { ok: false, error: 'missing_scope', needed: 'connections:write' };
    const fault = { kind: 'status', status: 200, body } as const;
    onTestFinished(stage.slack.faults.add({ call: 'apps.connections.open', fault }));
    expect((await doctor(bySocket)).amiss).toMatch(/rejects SLACK_APP_TOKEN \(missing_scope\)/);
  });

  test('names the proxy that opens no tunnel to the service', async () => {
    onTestFinished(() => useProxy({ NO_PROXY: '' }));
    const proxy = createServer().on('connect', (_request, socket) => {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    });
    const HTTPS_PROXY = `http://127.0.0.1:${await listenLocally(proxy)}`;
    onTestFinished(() => closeServer(proxy));
    const NO_PROXY = new URL(stage.slack.apiUrl).host;
    expect((await doctor({ ...bySocket, HTTPS_PROXY, NO_PROXY })).amiss).toMatch(
      /Could not reach AGENT_BASE_URL \(PROXY_407\)\. The proxy refuses: check HTTPS_PROXY and NO_PROXY\.$/,
    );
  });

  test.each([
    ['PROXY_502', 'The proxy does not get there'],
    ['PROXY_504', 'The proxy does not get there'],
    ['PROXY_403', 'The proxy refuses'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'Its certificate is for another host'],
    ['CERT_HAS_EXPIRED', 'Its certificate is out of date'],
    ['CERT_NOT_YET_VALID', 'Its certificate is out of date'],
    ['CERT_UNTRUSTED', 'Its certificate is not trusted'],
  ])('says of %s: %s', (code, says) => {
    const failure = Object.assign(new Error('No connection'), { code });
    expect(unreachable('AGENT_BASE_URL', failure, 'none').message).toContain(`(${code}). ${says}`);
  });

  test('names the authority of a certificate that nobody knows here', async () => {
    const { cert, private: key } = await generate([{ name: 'commonName', value: 'Company' }], {
      keyType: 'ec',
    });
    const server = createTlsServer({ cert, key }).on('tlsClientError', () => undefined);
    const AGENT_BASE_URL = `https://127.0.0.1:${await listenLocally(server)}/v1`;
    onTestFinished(() => closeServer(server));
    expect((await doctor({ ...bySocket, AGENT_BASE_URL })).amiss).toMatch(
      /AGENT_BASE_URL \(DEPTH_ZERO_SELF_SIGNED_CERT\)\. Its certificate .* NODE_EXTRA_CA_CERTS/,
    );
  });

  test('recognizes a web server that is not the service, or not Taskthread', async () => {
    const at = await stranger(404, 'Not here');
    expect((await doctor({ ...bySocket, AGENT_BASE_URL: `${at}/v1` })).amiss).toMatch(/AGENT_BASE_URL/);
    expect((await doctor({ ...byHttp, PUBLIC_URL: at })).amiss).toMatch(/PUBLIC_URL .* a different server/);
  });

  test('follows a result link if the app makes them, also with Socket Mode', async () => {
    const environment = { ...bySocket, ...links };
    const { lines, amiss } = await doctor({ ...environment, PUBLIC_URL: byHttp.PUBLIC_URL });
    expect(amiss).toBe('');
    expect(lines.join('\n')).toMatch(/result links +http:\S+ leads to Taskthread/);
    for (const [PUBLIC_URL, says] of [
      [nobody, /^FAIL {2}result links +Nothing answers at PUBLIC_URL/],
      [
        await stranger(404, 'Not found\n'),
        /PUBLIC_URL .* a different server \(status 404\)\. Route \/results\//,
      ],
    ] as const)
      expect((await doctor({ ...environment, PUBLIC_URL })).amiss).toMatch(says);
  });

  test('names the scopes that the token lacks', async () => {
    const scopes = ALL_SCOPES.filter((scope) => scope !== 'files:read' && scope !== 'im:write');
    const slack = await startSlackWorkspace({ scopes });
    onTestFinished(() => slack.stop());
    const environment = { ...bySocket, SLACK_BOT_TOKEN: slack.botToken, SLACK_APP_TOKEN: slack.appToken };
    const { amiss } = await doctor({ ...environment, SLACK_API_URL: slack.apiUrl });
    expect(amiss).toMatch(/^FAIL .*SLACK_BOT_TOKEN lacks files:read, im:write\./);
  });

  test('finds a WebSocket that does not open, and then Slack unreachable', async () => {
    const slack = await startSlackWorkspace({});
    const environment = { ...bySocket, SLACK_BOT_TOKEN: slack.botToken, SLACK_APP_TOKEN: slack.appToken };
    // Ten connections are all that Slack allows.
    const url = async () => {
      const answer = await fetch(`${slack.apiUrl}apps.connections.open`, {
        method: 'POST',
        headers: { authorization: `Bearer ${slack.appToken}` },
      });
      return z.looseObject({ url: z.string() }).parse(await answer.json()).url;
    };
    const sockets: WebSocket[] = [];
    for (let index = 0; index < 10; index += 1) {
      const socket = new WebSocket(await url());
      sockets.push(socket);
      await new Promise((done) => socket.addEventListener('message', done, { once: true }));
    }
    const busy = await doctor({ ...environment, SLACK_API_URL: slack.apiUrl });
    for (const socket of sockets) socket.close();
    expect(busy.amiss).toMatch(/^FAIL {2}Slack connection .*SLACK_APP_TOKEN is valid/m);
    await slack.stop();
    const away = await doctor({ ...environment, SLACK_API_URL: slack.apiUrl });
    // One failure, although the connection and the clock need Slack too.
    expect(away.amiss).toMatch(
      /^FAIL {2}Slack token .*Could not reach SLACK_API_URL \(ECONNREFUSED\)\. Check.*$/,
    );
  });

  test('finds a wrong clock and a full disk', async () => {
    const ahead = await doctor(bySocket, { now: () => Date.now() + 3_600_000 });
    expect(ahead.amiss).toMatch(/^FAIL {2}clock .*3\d{3} s apart/m);
    expect(ahead.amiss).toMatch(/^FAIL {2}database .*DATABASE_URL: its clock/m);
    const { DATABASE_URL: _, ...embedded } = bySocket;
    const full = await doctor(
      { ...embedded, DATA_FOLDER: '/dev/null/data' },
      { freeBytes: async () => 10_000_000 },
    );
    expect(full.amiss).toMatch(/^FAIL {2}disk .*DATA_FOLDER. Free/m);
    expect(full.amiss).toMatch(/^FAIL {2}database .*DATA_FOLDER/m);
  });
});

test('the doctor waits for a database that sleeps, and says so', async () => {
  const connection = await copyTemplateDatabase();
  onTestFinished(() => dropDatabase(connection));
  const proxy = await DatabaseProxy.start(() => connection);
  onTestFinished(() => proxy.stop());
  proxy.latencyMs = 6_000;
  const lines: string[] = [];
  const { host, port, user, database } = { ...connection, ...proxy.connection };
  const DATABASE_URL = `postgres://${user}@${host}:${port}/${database}`;
  await runChecks({ ...bySocket, DATABASE_URL }, (line) => {
    lines.push(line);
    if (line.includes('it has not answered yet')) proxy.latencyMs = 0;
  });
  expect(lines.filter((line) => /^\S+ +database/.test(line))).toEqual([
    expect.stringMatching(/^OK +database +it has not answered yet; waiting/),
    expect.stringMatching(/^OK +database +PostgreSQL/),
  ]);
});

test('the doctor says whether this release may run on a database that a newer one has used', async () => {
  const connection = await copyTemplateDatabase();
  const client = new pg.Client(connection);
  await client.connect();
  await client.query("insert into kysely_migration values ('9999-future', now()::text)");
  const environment = { ...bySocket, DATABASE_URL: connectionUrl(connection) };
  const beside = await doctor(environment);
  expect([beside.amiss, beside.lines.join()]).toEqual(['', expect.stringContaining('during a roll-out')]);
  await client.query("delete from kysely_migration where name like '0001%'");
  await client.end();
  expect((await doctor(environment)).amiss).toMatch(
    /DATABASE_URL: This database was made by another, unreleased version/,
  );
  await dropDatabase(connection);
});

test('the doctor requires the scopes of the manifest', () => {
  const manifest = z.looseObject({
    oauth_config: z.looseObject({ scopes: z.looseObject({ bot: z.array(z.string()) }) }),
  });
  const text = readFileSync(new URL('../../manifest.yml', import.meta.url), 'utf8');
  expect([...REQUIRED_SCOPES].sort()).toEqual(
    [...manifest.parse(parse(text)).oauth_config.scopes.bot].sort(),
  );
});
