import type { ServerResponse } from 'node:http';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { requireFreePort } from '../../src/app/listening-port.ts';
import { identifyBot } from '../../src/app/start-checks.ts';
import { readConfig } from '../../src/config/environment-and-secret-files.ts';
import { HealthServer } from '../../src/operate/http-server.ts';
import { ScriptedSlack } from '../support/scripted-slack.ts';

const configWith = (slackApiUrl: string) =>
  readConfig({
    SLACK_BOT_TOKEN: 'xoxb-1',
    SLACK_APP_TOKEN: 'xapp-1',
    SLACK_API_URL: slackApiUrl,
    AGENT_BASE_URL: 'https://agent.example/v1',
    AGENT_API_KEY: 'key',
  });

test('a start without Slack says that it still tries, and then what to check', async () => {
  const slack = await new ScriptedSlack().start();
  onTestFinished(() => slack.stop());
  const config = configWith(slack.apiUrl);
  const { promise: silent, resolve: onSilent } = Promise.withResolvers<ServerResponse>();
  slack.on('auth.test', (_call, _request, response) => {
    onSilent(response);
    return undefined;
  });
  const { promise: said, resolve: onSaid } = Promise.withResolvers<string>();
  const log = pino({ level: 'warn' }, { write: onSaid });
  const starting = identifyBot(config, log, 10);
  const response = await silent;
  expect(await said).toContain('Slack has not confirmed SLACK_BOT_TOKEN yet; still trying');
  slack.on('auth.test', { status: 503, body: 'Down' });
  response.writeHead(503).end();
  await expect(starting).rejects.toThrow(/^auth\.test: http_503\. Slack or a proxy failed; look at status/);
});

test("a whole organisation's token is refused with what to do", async () => {
  const slack = await new ScriptedSlack().start();
  onTestFinished(() => slack.stop());
  slack.on('auth.test', {
    body: { ok: true, team_id: null, user_id: 'U1', bot_id: 'B1', is_enterprise_install: true },
  });
  const config = configWith(slack.apiUrl);
  const refused = identifyBot(config, pino({ level: 'silent' }));
  await expect(refused).rejects.toThrow(/SLACK_BOT_TOKEN.*organisation installs the app by OAuth/s);
});

test('a HOST that is no address of this machine is refused', async () => {
  const refused = requireFreePort({ HOST: '192.0.2.1', PORT: 0 });
  await expect(refused).rejects.toThrow('HOST is invalid (192.0.2.1 is not an address of this machine');
});

test.each([
  ['::', ['127.0.0.1', '[::1]']],
  ['0.0.0.0', ['127.0.0.1']],
  ['::1', ['[::1]']],
])('with HOST=%s the app is reached at %s', async (host, reached) => {
  const server = new HealthServer({
    findTrouble: async () => undefined,
    draining: () => false,
    report: () => ({}),
  });
  const port = await server.start(0, host);
  onTestFinished(() => server.stop());
  for (const each of ['127.0.0.1', '[::1]']) {
    const answer = await fetch(`http://${each}:${port}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
    expect(`${each} ${answer}`).toBe(`${each} ${reached.includes(each)}`);
  }
});
