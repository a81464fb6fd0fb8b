import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect, type LookupFunction } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetch } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { startAgentService } from '../../../sandbox/agent/agent-service.ts';
import { BotProcess, compileCacheSettings } from '../../../sandbox/bot-process.ts';
import { chaosSettings } from '../../../sandbox/bot-settings.ts';
import { startSlackWorkspace } from '../../../sandbox/slack/slack-workspace.ts';
import { AgentClient } from '../../../src/agent/agent-client.ts';
import { isPrivateAddress } from '../../../src/agent/network-address.ts';
import { useProxy } from '../../../src/calls/outbound-proxy.ts';
import { toSlackError } from '../../../src/slack/error-mapping.ts';
import { copyTemplateDatabase, dropDatabase } from '../../support/fresh-database.ts';

/** A proxy that tunnels to 127.0.0.1 alone, for who has its password. */
async function startProxy() {
  const targets: string[] = [];
  const carried: string[] = [];
  const server = createServer((_, response) => response.writeHead(405).end());
  server.on('connect', ({ url = '', headers }, client) => {
    targets.push(url);
    const [host, port] = url.split(':');
    const isKnown = headers['proxy-authorization'] === `Basic ${btoa('lab:secret')}`;
    if (!isKnown || host !== '127.0.0.1') return client.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    const target = connect(Number(port), host, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.on('data', (bytes: Buffer) => void carried.push(bytes.toString('latin1', 0, 300)));
      target.pipe(client).pipe(target);
    });
    for (const [one, other] of [
      [client, target],
      [target, client],
    ] as const)
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
    return undefined;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return { url: `http://lab:secret@127.0.0.1:${port}`, targets, carried };
}

test('with HTTPS_PROXY, events, calls and files go through the proxy', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'taskthread-proxy-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const connection = await copyTemplateDatabase();
  onTestFinished(() => dropDatabase(connection));
  const slack = await startSlackWorkspace({ limits: 'off' });
  onTestFinished(() => slack.stop());
  const agent = await startAgentService({});
  onTestFinished(() => agent.stop());
  const proxy = await startProxy();
  const settings = {
    ...(await compileCacheSettings(join(folder, 'compiled'))),
    ...chaosSettings(slack, agent, 'socket', connection),
    HTTPS_PROXY: proxy.url,
  };
  const bot = new BotProcess(settings, join(folder, 'bot.log'));
  onTestFinished(() => (bot.alive ? bot.kill() : undefined));
  expect(await bot.ready()).toBe(true);
  const person = slack.createPerson({ name: 'ada', realName: 'Ada' });
  const channel = slack.createChannel({ name: 'lab' });
  const file = { name: 'sheep.csv', mime: 'text/csv', bytes: 'sheep,wool\n1,2\n' };
  const text = `<@${slack.bot.userId}> what is it?`;
  const root = slack.say({ person, channel, text, files: [file] });
  const shown = () =>
    slack
      .thread(channel, root.ts)
      .map((one) => slack.visibleText(one))
      .join('\n');
  await expect.poll(shown, { timeout: 60_000 }).toContain('sheep-summary.csv');
  const hosts = [slack.apiUrl, agent.url].map((url) => new URL(url).host);
  expect(new Set(proxy.targets)).toEqual(new Set(hosts));
  const carried = proxy.carried.join('\n');
  expect(carried).toMatch(/upgrade: websocket/i);
  for (const call of [/GET \S*sheep\.csv/, /POST \S*chat\.postMessage/, /POST \S*experimental\/files/])
    expect(carried).toMatch(call);
  expect(await bot.stop()).toBe(true);
});

test('a proxy is not asked for a service whose name has a private address', async () => {
  const proxy = await startProxy();
  useProxy({ HTTPS_PROXY: proxy.url, NO_PROXY: '' });
  onTestFinished(() => useProxy({ NO_PROXY: '' }));
  const ask = async (address: string, host = 'agent.example') => {
    const lookup: LookupFunction = (_host, _options, callback) =>
      isPrivateAddress(address)
        ? callback(new Error('It has a private address.'), '', 4)
        : callback(null, [{ address, family: 4 }]);
    const apiKey = 'k'.repeat(20);
    const client = new AgentClient({
      baseUrl: `https://${host}/v1`,
      apiKey,
      lookup,
      retry: { maxAttempts: 1 },
    });
    onTestFinished(() => client.close());
    await expect(client.listTasks('prj_1')).rejects.toMatchObject({ code: 'unavailable' });
  };
  await ask('10.0.0.1');
  expect(proxy.targets).toEqual([]);
  await ask('8.8.8.8');
  expect(proxy.targets).toEqual(['agent.example:443']);
  // An address is looked up by nobody.
  await ask('10.0.0.1', '[2606:4700::1111]');
  expect(proxy.targets).toHaveLength(2);
});

test('a proxy is passed by for addresses in ranges of NO_PROXY', async () => {
  const proxy = await startProxy();
  onTestFinished(() => useProxy({ NO_PROXY: '' }));
  // The proxy itself answers as a server that knows no page.
  const { port } = new URL(proxy.url);
  for (const [noProxy, targets] of [
    ['10.0.0.0/8, 127.0.0.0/8', 0],
    ['10.0.0.0/8,::/0', 1],
  ] as const) {
    useProxy({ HTTPS_PROXY: proxy.url, NO_PROXY: noProxy });
    expect((await fetch(`http://127.0.0.1:${port}`)).status).toBe(405);
    expect(proxy.targets).toHaveLength(targets);
  }
});

test('a call for which a proxy opens no tunnel was never sent', async () => {
  const proxy = await startProxy();
  useProxy({ HTTPS_PROXY: proxy.url, NO_PROXY: '' });
  onTestFinished(() => useProxy({ NO_PROXY: '' }));
  const error: unknown = await fetch('https://slack.example/api/').catch((reason: unknown) => reason);
  const { signal } = new AbortController();
  const request = { method: 'chat.postMessage', guard: undefined, signal, isSent: true };
  expect(toSlackError(request, error)).toMatchObject({
    outcome: 'none',
    message: expect.stringContaining('PROXY_403'),
  });
});
