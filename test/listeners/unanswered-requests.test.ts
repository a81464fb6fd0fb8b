import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { listenLocally } from '../../sandbox/local-server.ts';
import { registerForms } from '../../src/listeners/interactions.ts';
import { SlackApp } from '../../src/listeners/slack-app.ts';
import { notInstalled } from '../../src/relay/installations/installed-workspaces.ts';
import { command } from '../../src/render/strings/index.ts';
import { StoreError } from '../../src/store/errors.ts';
import { localServer } from '../support/local-server.ts';
import { silentLog } from '../support/silent-log.ts';

const SECRET = 'a-signing-secret';
const question = { type: 'input', block_id: 'question', element: { type: 'plain_text_input' } };
const line = { type: 'section', block_id: 'line', text: { type: 'mrkdwn', text: 'Sure?' } };

interface AppParts {
  handle?: () => Promise<undefined>;
  authorize?: () => Promise<object>;
}

/** Sends a request of Slack's to an app with a handler for the form `start`; returns the text of the answer. */
async function answerToRequest(fields: Record<string, string>, parts: AppParts): Promise<string> {
  const slackApp = new SlackApp({
    transport: { kind: 'http', signingSecret: SECRET },
    authorize: parts.authorize ?? (async () => ({ botToken: 'xoxb-nobody', botUserId: 'U0', botId: 'B0' })),
    slackApiUrl: 'http://127.0.0.1:9/',
    log: silentLog,
  });
  const deps = { workspace: () => undefined };
  const handle = parts.handle ?? (async () => undefined);
  registerForms({ app: slackApp.bolt, log: silentLog, deps }, { start: handle });
  const server = createServer(slackApp.requestListener);
  const port = await listenLocally(server);
  onTestFinished(() => void server.close());
  const body = new URLSearchParams(fields).toString();
  const at = String(Math.floor(Date.now() / 1_000));
  const signature = `v0=${createHmac('sha256', SECRET).update(`v0:${at}:${body}`).digest('hex')}`;
  const response = await fetch(`http://127.0.0.1:${port}/slack/events`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-slack-request-timestamp': at,
      'x-slack-signature': signature,
    },
    body,
  });
  expect(response.status).toBe(200);
  return await response.text();
}

/** Sends a form; returns what Slack is answered. */
async function answerTo(view: Record<string, unknown>, parts: AppParts): Promise<unknown> {
  const whole = { id: 'V1', callback_id: 'start', private_metadata: '', title: { text: 'Ask' }, ...view };
  const payload = {
    type: 'view_submission',
    team: { id: 'T1' },
    user: { id: 'U1', team_id: 'T1' },
    view: whole,
  };
  const text = await answerToRequest({ payload: JSON.stringify(payload) }, parts);
  return text === '' ? 'closed' : JSON.parse(text);
}

const typed = { state: { values: { question: { question: { type: 'plain_text_input', value: 'why?' } } } } };
const form = { blocks: [line, question], ...typed };
const stays = { response_action: 'errors', errors: { question: command.unavailable } };

test.each([
  ['its handler throws', { handle: () => Promise.reject(new Error('a mistake')) }],
  [
    'the database is away',
    { handle: () => Promise.reject(new StoreError('unavailable', 'The database is away.')) },
  ],
  ['its authorization throws', { authorize: () => Promise.reject(new Error('no such workspace')) }],
])('a form stays open with a sentence where %s', async (_what, parts) => {
  expect(await answerTo(form, parts)).toEqual(stays);
});

test('a form that cannot be read stays open, and so does one that nobody handles', async () => {
  expect(await answerTo({ ...form, state: null }, {})).toEqual(stays);
  expect(await answerTo({ ...form, callback_id: 'another' }, {})).toEqual(stays);
});

test('a form without inputs shows the sentence above itself', async () => {
  const answer = await answerTo(
    { blocks: [line], state: { values: {} } },
    { handle: () => Promise.reject(new Error('a mistake')) },
  );
  expect(answer).toMatchObject({ response_action: 'push', view: { type: 'modal' } });
  expect(JSON.stringify(answer)).toContain(command.unavailable);
});

test('a form that was handled closes', async () => {
  expect(await answerTo(form, {})).toBe('closed');
});

const actions = [{ type: 'button', action_id: 'stop', block_id: 'b', action_ts: '1.000000' }];
const press = { type: 'block_actions', team: { id: 'T1' }, user: { id: 'U1' }, actions };
const typedCommand = { command: '/agent', text: 'status', team_id: 'T1', user_id: 'U1', channel_id: 'C1' };
const away = new StoreError('unavailable', 'The database is away.');

test.each([
  ['a command', 'the app is not installed', notInstalled(), command.installAgain],
  ['a press', 'the app is not installed', notInstalled(), command.installAgain],
  ['a command', 'nobody knows whether the app is installed', away, command.unavailable],
])('%s is answered with a sentence where %s', async (what, _where, refusal, sentence) => {
  const told = Promise.withResolvers<unknown>();
  await using slack = await localServer(async (request, response) => {
    told.resolve(await json(request));
    response.end();
  });
  const response_url = slack.origin;
  const fields =
    what === 'a command'
      ? { ...typedCommand, response_url }
      : { payload: JSON.stringify({ ...press, response_url }) };
  expect(await answerToRequest(fields, { authorize: () => Promise.reject(refusal) })).toBe('');
  expect(await told.promise).toEqual({
    response_type: 'ephemeral',
    replace_original: false,
    text: sentence,
  });
});
