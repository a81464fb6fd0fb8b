import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import { connectionUrl } from '../../sandbox/postgres-server.ts';
import { appLevelToken, botToken, configurationTokens } from '../../sandbox/slack/app-installation.ts';
import { manifestVariant } from '../../setup/manifest-file.ts';
import { AppManifests } from '../../src/slack/app-manifest.ts';
import { compileCache } from '../support/compiled-programs.ts';
import { CONNECT, startConnectScene } from '../support/connect-scene.ts';
import { copyTemplateDatabase } from '../support/fresh-database.ts';
import { silentLog } from '../support/silent-log.ts';

const UNKNOWN_BOT_TOKEN = botToken('T0', 'unknown');

async function scene(options: Parameters<typeof startConnectScene>[0]) {
  const undo = new AsyncDisposableStack();
  onTestFinished(() => undo.disposeAsync());
  return startConnectScene(options, undo);
}

/** An address of this machine that nobody listens on. */
async function freeAddress(): Promise<{ origin: string; port: string }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  const port = String(typeof address === 'object' ? address?.port : '');
  return { origin: `http://127.0.0.1:${port}`, port };
}

test('a person with a configuration token gets from nothing to an answer, and every wrong input is named', async () => {
  const { slack, agent, open, settings, modeOf } = await scene({ appExists: false });
  const databaseUrl = connectionUrl(await copyTemplateDatabase());
  const connect = open();
  await connect.see(/Where shall tokens and keys go\?/);
  connect.choose(0);
  await connect.see(/How do events reach the bot\?/);
  connect.choose(0);
  await connect.see(/Which Slack app\?/);
  connect.choose(1);

  await connect.see(/\? Configuration token/);
  const { configuration } = slack.app;
  for (const [wrong, says] of [
    ['', /Paste the configuration token/],
    [UNKNOWN_BOT_TOKEN, /This is a bot token\. Paste the configuration token, which begins with xoxe\.xoxp-/],
    [configuration.token.slice(0, 60), /Its end is missing: it has only 60 characters/],
    [configurationTokens('unknown').token, /Slack does not know this configuration token/],
    [configurationTokens('unknown').refreshToken, /Slack does not know this refresh token/],
  ] as const) {
    connect.enter(wrong);
    await connect.see(says);
  }
  connect.enter(configuration.refreshToken);
  await connect.see(/The app A\w+ is made/);
  await connect.see(/\? Bot token/);
  expect(slack.app.icon).toEqual({ width: 512, height: 512 });
  expect(await settings()).toContain(`SLACK_APP_ID=${slack.app.appId}`);
  for (const [wrong, says] of [
    [slack.appToken, /This is an app-level token\. Paste the bot token, which begins with xoxb-/],
    ['hello', /This is no bot token/],
    [UNKNOWN_BOT_TOKEN.slice(0, -6), /Its end is missing: it has only \d+ characters/],
    [UNKNOWN_BOT_TOKEN, /Slack does not know this bot token/],
    [slack.botToken, /The app is not installed any more/],
  ] as const) {
    connect.enter(wrong);
    await connect.see(says);
  }
  connect.enter(slack.installApp());

  await connect.see(/\? App-level token/);
  connect.type(slack.appToken.slice(0, 40));
  await connect.see(/\(40 characters\) {2}not whole yet/);
  connect.enter();
  await connect.see(/Its end is missing/);
  for (const [wrong, says] of [
    [slack.botToken, /This is a bot token\. Paste the app-level token/],
    [appLevelToken('A0OTHER', 'other'), /This token belongs to another app \(A0OTHER\)/],
    [appLevelToken(slack.app.appId, 'unknown'), /Slack does not know this app-level token/],
  ] as const) {
    connect.enter(wrong);
    await connect.see(says);
  }
  connect.type(slack.appToken);
  await connect.see(/looks whole/);
  connect.enter();
  await connect.see(/Saved in/);

  await connect.see(/\? Address of the agent service/);
  connect.enter('agent');
  await connect.see(/This is not an address/);
  connect.type('\u0015');
  connect.enter('http://127.0.0.1:9/v1');
  await connect.see(/127\.0\.0\.1:9 does not answer\. Check the address/);
  connect.type('\u0015');
  connect.enter(slack.url);
  await connect.see(/This address accepts any key, so it is not the service/);
  connect.type('\u0015');
  connect.enter(agent.url);
  await connect.see(/May the bot call it\?/);
  connect.enter('n');
  await connect.see(/Enter a public https address, or allow this one/);
  connect.enter(agent.url);
  await connect.see(/May the bot call it\?/);
  connect.enter('y');
  await connect.see(/\? API key/);
  connect.enter('a-wrong-key');
  await connect.see(/The service refuses this key/);
  connect.enter(agent.apiKey);
  await connect.see(/Saved in/);

  await connect.see(/Which database\?/);
  connect.choose(1);
  await connect.see(/\? Its address/);
  for (const [wrong, says] of [
    ['hello', /This is no address of a PostgreSQL/],
    ['postgres://u:p/w@127.0.0.1/d', /special characters of the password percent-encoded/],
    ['postgres://u:p@127.0.0.1:9/d', /DATABASE_URL: .*ECONNREFUSED/],
  ] as const) {
    connect.enter(wrong);
    await connect.see(says);
  }
  connect.enter(databaseUrl);
  await connect.see(/OK +database[\s\S]*OK +clock/);
  await connect.see(/Start the bot now\?/);
  connect.enter();
  await connect.see(/mention me in a channel that I am in/);
  const ada = slack.createPerson({ name: 'ada' });
  slack.say({ person: ada, channel: slack.createChannel({ name: 'lab' }), text: '@taskthread hello' });
  await connect.see(/Your message has arrived[\s\S]*It is answered: everything works/);
  connect.interrupt();
  await connect.see(/The bot has stopped\. Start it with npm start/);
  expect(await connect.ended).toBe(0);
  expect(await modeOf('.env')).toBe(0o600);
  const [, secretKey = ''] = /^SECRET_KEY=([0-9a-f]{64})$/m.exec(await settings()) ?? [];
  expect(secretKey).not.toBe('');
  for (const secret of [
    slack.botToken,
    slack.appToken,
    agent.apiKey,
    slack.app.configuration.token,
    secretKey,
  ])
    expect(connect.text).not.toContain(secret);
  expect(await settings()).not.toContain('xoxe');

  // Everything again: Enter keeps what is there.
  const again = open();
  const endOf = (secret: string) => `\\(Enter keeps \\S+${secret.slice(-4)} \\(`;
  for (const question of [
    /Where shall tokens/,
    /How do events/,
    /Which Slack app/,
    new RegExp(`\\? Bot token ${endOf(slack.botToken)}`),
    new RegExp(`\\? App-level token ${endOf(slack.appToken)}`),
    /\? Address of the agent service/,
    new RegExp(`\\? API key ${endOf(agent.apiKey)}`),
    /Which database/,
    /\? Its address \(Enter keeps postgres:\/\/…/,
  ]) {
    await again.see(question);
    again.enter();
  }
  await again.see(/Start the bot now\?/);
  again.enter('n');
  expect(await again.ended).toBe(0);
  expect(await settings()).toContain(`SECRET_KEY=${secretKey}\n`);
  expect(again.text).not.toContain('Made SECRET_KEY');
});

test('a person who creates the app by the link chooses HTTP and files of secrets, and stops half-way', async () => {
  const { slack, open, settings, modeOf, folder } = await scene({ scopes: ['chat:write'] });
  const connect = open();
  await connect.see(/Where shall tokens and keys go\?/);
  connect.choose(1);
  await connect.see(/How do events reach the bot\?/);
  connect.choose(1);
  await connect.see(/\? Public address/);
  connect.enter('bot.example.org');
  await connect.see(/This is not an address/);
  connect.type('\u0015');
  connect.enter('https://bot.example.org/slack');
  await connect.see(/Leave the path out: https:\/\/bot\.example\.org\./);
  connect.type('\u0015');
  connect.enter('https://bot.example.org');
  await connect.see(/Which Slack app\?/);
  connect.choose(0);
  const [, json = ''] = await connect.see(/https:\/\/api\.slack\.com\/apps\?new_app=1&manifest_json=(\S+)\s/);
  expect(JSON.parse(decodeURIComponent(json))).toMatchObject({
    settings: {
      socket_mode_enabled: false,
      event_subscriptions: { request_url: 'https://bot.example.org/slack/events' },
    },
  });
  await connect.see(/\? Bot token/);
  connect.enter(slack.botToken);
  await connect.see(/The app lacks app_mentions:read, .*Add them under "OAuth & Permissions"/);
  expect(await readdir(folder)).toEqual([]);
  const manifests = new AppManifests({
    token: slack.app.configuration.token,
    slackApiUrl: slack.apiUrl,
    log: silentLog,
  });
  await manifests.update(slack.app.appId, manifestVariant({}));
  connect.enter(slack.installApp());
  await connect.see(/\? Signing secret/);
  connect.enter(slack.botToken);
  await connect.see(/This is a bot token\. Paste the signing secret/);
  connect.enter(slack.signingSecret.slice(0, 20));
  await connect.see(/Its end is missing: it has only 20 characters/);
  connect.enter(slack.signingSecret);
  await connect.see(/\? Address of the agent service/);
  connect.interrupt();
  await connect.see(/Stopped\. What was saved stays/);
  expect(await connect.ended).toBe(130);
  expect((await readdir(folder)).sort()).toEqual(['.env', 'secrets']);
  expect(await settings()).toMatch(
    /SLACK_BOT_TOKEN_FILE=secrets\/slack_bot_token\n[\s\S]*SLACK_SIGNING_SECRET_FILE=secrets\/slack_signing_secret\n/,
  );
  expect(await settings()).not.toContain(slack.botToken);
  expect((await readFile(path.join(folder, 'secrets/slack_bot_token'), 'utf8')).trim()).toBe(slack.botToken);
  expect(await modeOf('secrets/slack_bot_token')).toBe(0o600);
  expect(await modeOf('secrets')).toBe(0o700);
});

test('Ctrl+C while Slack makes the app waits until its id is saved', async () => {
  const { slack, open, settings } = await scene({ appExists: false });
  slack.faults.add({ call: 'apps.manifest.create', fault: { kind: 'latency', ms: 1_000 } });
  const connect = open();
  for (const [question, below] of [
    [/Where shall tokens/, 0],
    [/How do events/, 0],
    [/Which Slack app/, 1],
  ] as const) {
    await connect.see(question);
    connect.choose(below);
  }
  await connect.see(/\? Configuration token/);
  connect.enter(slack.app.configuration.token);
  await expect.poll(() => slack.calls.some(({ method }) => method === 'apps.manifest.create')).toBe(true);
  connect.interrupt();
  await connect.see(/Stopped\. What was saved stays/);
  expect(await connect.ended).toBe(130);
  expect(slack.app.exists).toBe(true);
  expect(await settings()).toContain(`SLACK_APP_ID=${slack.app.appId}`);
});

test('an app that exists is connected from an answer file, which can also lack an answer', async () => {
  const { slack, agent, folder, settings } = await scene({});
  const proxy = { https_proxy: (await freeAddress()).origin };
  const run = async (answers: string, more = {}) => {
    await writeFile(path.join(folder, 'answers.yaml'), answers);
    const env = { PATH: process.env.PATH, SLACK_API_URL: slack.apiUrl, ...compileCache(), ...more };
    const options = { cwd: folder, env };
    const args = [CONNECT, '--from', 'answers.yaml'];
    return promisify(execFile)(process.execPath, args, options).catch((error: unknown) => error);
  };
  const slackAnswers = `way: existing\nbot_token: ${slack.botToken}\napp_token: ${slack.appToken}\n`;
  // Nobody answers at the proxy.
  expect(await run(slackAnswers, proxy)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Slack cannot be reached'),
  });
  expect(await run(slackAnswers)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('answers.yaml: agent_base_url is missing. Address of the agent service'),
  });
  const databaseUrl = connectionUrl(await copyTemplateDatabase());
  // The Slack app is kept from the first run.
  const rest = [
    `agent_base_url: ${agent.url}`,
    `agent_api_key: ${agent.apiKey}`,
    'allow_private_host: true',
    'database: own',
    `database_url: ${databaseUrl}`,
    'start: false',
  ];
  expect(await run(rest.join('\n'), { ...proxy, no_proxy: 'localhost,127.0.0.0/8' })).toMatchObject({
    stdout: expect.stringMatching(/OK +clock/),
    stderr: '',
  });
  expect(await settings()).toContain(`AGENT_API_KEY=${agent.apiKey}\n`);
});

test('with HTTP the bot starts before the doctor, which calls it from outside', async () => {
  const { slack, agent, folder, env } = await scene({});
  const { origin: publicUrl, port } = await freeAddress();
  const answers = {
    events: 'http',
    public_url: publicUrl,
    way: 'existing',
    bot_token: slack.botToken,
    signing_secret: slack.signingSecret,
    agent_base_url: agent.url,
    agent_api_key: agent.apiKey,
    allow_private_host: true,
    database: 'own',
    database_url: connectionUrl(await copyTemplateDatabase()),
  };
  await writeFile(path.join(folder, 'answers.yaml'), stringify(answers));
  const child = spawn(process.execPath, [CONNECT, '--from', 'answers.yaml'], {
    cwd: folder,
    env: { ...env, PORT: port },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const said: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line);
    if (line.includes('Let Slack verify the address')) {
      await slack.useHttp({ eventsUrl: `${publicUrl}/slack/events` });
      const ada = slack.createPerson({ name: 'ada' });
      slack.say({ person: ada, channel: slack.createChannel({ name: 'lab' }), text: '@taskthread hello' });
    }
    if (line.includes('everything works')) child.kill('SIGTERM');
  }
  expect(said.join('\n')).toMatch(
    /The bot is running[\s\S]*OK +public address[\s\S]*It is answered[\s\S]*Start it with npm start\./,
  );
  expect(said.join('\n')).not.toContain('FAIL');
});

test('without a terminal, connect says how to go on', async () => {
  await expect(promisify(execFile)(process.execPath, [CONNECT])).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('needs a terminal. Without one, use --from.'),
  });
});
