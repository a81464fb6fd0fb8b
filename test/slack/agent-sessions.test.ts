import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AgentSessions } from '../../src/slack/agent-sessions.ts';
import { silentLog } from '../support/silent-log.ts';
import { type SlackClientScene, startSlackClientScene } from '../support/slack-client-scene.ts';
import { waitFor } from '../support/wait-for.ts';

const METHOD = 'agents.sessions.setStatus';
const thread = { channel: 'D1', threadTs: '1.000001' };

let scene: SlackClientScene;
let sessions: AgentSessions;

beforeEach(async () => {
  scene = await startSlackClientScene();
  sessions = new AgentSessions(scene.client, silentLog);
});
afterEach(() => scene.slack.stop());

const statuses = () => scene.slack.calls.map(({ args }) => args.status);

/** Slack answers the calls so, one after the other, and accepts all later ones. */
function answer(...answers: { status?: number; body?: unknown }[]): void {
  scene.slack.on(METHOD, () => answers.shift() ?? { body: { ok: true } });
}

describe('the end of work', () => {
  test.each([
    ['fails', { status: 503 }],
    ['throttles it', { status: 429, headers: { 'retry-after': '1' } }],
  ])('is told again where Slack %s', async (_what, failure) => {
    answer(failure);
    await sessions.setStatus(thread, 'active');
    expect(statuses()).toEqual(['active', 'active']);
  });

  test('waits for its permit, which the beginning of work does not', async () => {
    answer();
    await scene.rateLimits.pause('T1', METHOD, 3_000);
    const other = { ...thread, channel: 'D2' };
    await Promise.all([sessions.setStatus(thread, 'active'), sessions.setStatus(other, 'processing')]);
    expect(statuses()).toEqual(['active']);
  });

  test('is not told once the next work has begun, in whatever process', async () => {
    answer({ status: 503 });
    const other = new AgentSessions(scene.client, silentLog);
    let isOver = true;
    const ended = sessions.setStatus(thread, 'active', async () => isOver);
    await waitFor(() => expect(statuses()).toEqual(['active']));
    isOver = false;
    await other.setStatus(thread, 'processing');
    await expect(ended).rejects.toThrow('no longer');
    expect(statuses()).toEqual(['active', 'processing']);
  });
});

test('a refusal for good is the last answer that is asked for', async () => {
  answer({ body: { ok: false, error: 'not_authorized' } });
  await sessions.setStatus(thread, 'processing');
  await sessions.setStatus(thread, 'active');
  expect(sessions.isAvailable).toBe(false);
  expect(statuses()).toEqual(['processing']);
});
