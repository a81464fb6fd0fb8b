import { createHmac } from 'node:crypto';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { ALL_SCOPES } from '../../../sandbox/slack/slack-workspace.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { type AppScene, openAppScene, pause } from '../../support/app-scene.ts';
import { MultiWorkspaceScene } from '../../support/multi-workspace-scene.ts';

const readySchema = z.looseObject({
  database: z.boolean(),
  reason: z.string().optional(),
  missingScopes: z.record(z.string(), z.number()),
  requestsRejectedAt: z.record(z.string(), z.string()),
  slackThrottledAt: z.record(z.string(), z.string()),
  slackTokenRefusedSince: z.string().nullable(),
  service: z.looseObject({ lastSeconds: z.number().nullable() }),
});

/** What an operator sees of a scene's bot. */
function operatorOf(scene: AppScene) {
  const get = (path: string) => fetch(`http://127.0.0.1:${scene.sandbox.bot.port}${path}`);
  return {
    /** What /readyz says, and its status. */
    ready: async () => {
      const response = await get('/readyz');
      return { status: response.status, ...readySchema.parse(await response.json()) };
    },
    /** The value of one figure; undefined if it is not there. */
    figure: async (name: string) => {
      const page = await (await get('/metrics')).text();
      const found = page.split('\n').find((row) => row.startsWith(`taskthread_${name} `));
      return found === undefined ? undefined : Number(found.split(' ').at(-1));
    },
  };
}

const withoutUsersRead = { scopes: ALL_SCOPES.filter((scope) => scope !== 'users:read') };

test.concurrent('a disk without room for messages makes the process unready for as long as there is none', async ({
  onTestFinished,
}) => {
  const scene = await openAppScene({}, onTestFinished);
  const { ready, figure } = operatorOf(scene);
  const { db } = scene.sandbox.bot.store;
  await sql`create function lacks_room() returns trigger language plpgsql as
    $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$`.execute(db);
  await sql`create trigger lacks_room before insert on messages execute function lacks_room()`.execute(db);
  expect(await ready()).toMatchObject({ status: 200, database: true });
  const channel = scene.channel();
  const asked = scene.ask(channel, 'is there room?');
  const full = { status: 503, database: false, reason: 'its disk is full' };
  await scene.until('it is not ready', async () => (await ready()).status === 503);
  expect(await ready()).toMatchObject(full);
  expect(await figure('database_up')).toBe(0);
  await pause(2_000);
  expect(await ready()).toMatchObject(full);
  await sql`drop trigger lacks_room on messages`.execute(db);
  await scene.finished(channel, asked);
  await scene.until('it is ready again', async () => (await ready()).status === 200);
  expect(await ready()).toMatchObject({ database: true });
  expect(await figure('database_up')).toBe(1);
});

test.concurrent('a scope that the token lacks is named at the start, and whoever is refused for it reads what to do', async ({
  onTestFinished,
}) => {
  const scene = await openAppScene({ slack: withoutUsersRead }, onTestFinished);
  const { ready, figure } = operatorOf(scene);
  expect((await ready()).missingScopes).toEqual({ 'users:read': 1 });
  expect(await figure('missing_scopes{scope="users:read"}')).toBe(1);
  const channel = scene.channel();
  scene.ask(channel, 'who am I?');
  const heard = () => JSON.stringify(scene.slack.ephemerals(scene.ada, channel));
  await scene.until('she is told', () => heard().includes(strings.personUnknown));
  expect(strings.personUnknown).toContain('ask an admin to install me again');
});

test.concurrent('a scope that a workspace of OAuth lacks is counted from its first call on', async ({
  onTestFinished,
}) => {
  const teams = ['T1', 'T2'].map((id) => ({ id, name: id }));
  const scene = await openAppScene({ oauth: true, slack: { teams, ...withoutUsersRead } }, onTestFinished);
  const { ready, figure } = operatorOf(scene);
  const tenants = new MultiWorkspaceScene(scene);
  for (const { id } of teams) await tenants.install(id);
  const place = tenants.personAndChannel('T1');
  tenants.ask(place, 'who am I?');
  await scene.until('it is named', async () => Object.keys((await ready()).missingScopes).length > 0);
  expect((await ready()).missingScopes).toEqual({ 'users:read': 1 });
  expect(await figure('missing_scopes{scope="users:read"}')).toBe(1);
});

test.concurrent('requests that are rejected for their signature or the clock are counted, and /readyz says when', async ({
  onTestFinished,
}) => {
  const scene = await openAppScene({ transport: 'http' }, onTestFinished);
  const { ready, figure } = operatorOf(scene);
  const send = (secondsAgo: number, isSigned = true) => {
    const body = '{"type":"event_callback"}';
    const at = String(Math.floor(Date.now() / 1_000) - secondsAgo);
    const signature = createHmac('sha256', 'another secret').update(`v0:${at}:${body}`).digest('hex');
    return fetch(`http://127.0.0.1:${scene.sandbox.bot.port}/slack/events`, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        'x-slack-request-timestamp': at,
        ...(isSigned && { 'x-slack-signature': `v0=${signature}` }),
      },
    });
  };
  expect((await ready()).requestsRejectedAt).toEqual({});
  for (const rejected of [await send(0), await send(400), await send(400), await send(0, false)])
    expect(rejected.status).toBe(401);
  expect(await figure('requests_rejected_total{reason="signature"}')).toBe(1);
  expect(await figure('requests_rejected_total{reason="clock"}')).toBe(2);
  expect(await figure('requests_rejected_total{reason="unsigned"}')).toBe(1);
  expect(Object.keys((await ready()).requestsRejectedAt).sort()).toEqual(['clock', 'signature', 'unsigned']);
  const channel = scene.channel();
  await scene.finished(channel, scene.ask(channel, 'is this one accepted?'));
  expect(await figure('requests_rejected_total{reason="signature"}')).toBe(1);
});

test.concurrent('/readyz says when Slack last limited a method, and how long the service took', async ({
  onTestFinished,
}) => {
  const scene = await openAppScene({}, onTestFinished);
  const { ready } = operatorOf(scene);
  const headers = { 'retry-after': '1' };
  const throttled = { kind: 'status', status: 429, headers } as const;
  scene.slack.faults.add({ call: 'chat.postMessage', times: 1, fault: throttled });
  scene.agent.faults.add({ call: /^GET/, fault: { kind: 'latency', ms: 300 } });
  const channel = scene.channel();
  await scene.finished(channel, scene.ask(channel, 'slowly'));
  const { slackThrottledAt, service } = await ready();
  expect(Object.keys(slackThrottledAt)).toEqual(['chat.postMessage']);
  expect(service.lastSeconds).toBeGreaterThan(0.25);
});

test.concurrent('while Slack refuses the token, commands and presses answer what to do', async ({
  onTestFinished,
}) => {
  const scene = await openAppScene({ probeMs: 50 }, onTestFinished);
  const { slack, ada } = scene;
  const { ready, figure } = operatorOf(scene);
  const channel = scene.channel();
  const asked = scene.ask(channel, '/tools');
  const withSteps = await scene.messageWithButton(channel, asked, 'steps');
  await scene.finished(channel, asked);
  slack.team.installation.state = 'revoked';
  await slack.command({ person: ada, channel, command: '/agent', text: 'new' });
  const heard = () => slack.ephemerals(ada, channel).map((message) => slack.visibleText(message));
  await scene.until('the command is answered', () => heard().includes(strings.command.installAgain));
  expect((await ready()).slackTokenRefusedSince).not.toBeNull();
  expect(await figure('credential_refused{setting="SLACK_BOT_TOKEN"}')).toBe(1);
  await slack.click({ person: ada, channel, ts: withSteps.ts, actionId: 'steps' });
  await scene.until(
    'the press is answered',
    () => heard().filter((text) => text === strings.command.installAgain).length === 2,
  );
});
