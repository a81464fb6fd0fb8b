import pg from 'pg';
import { expect, test, vi } from 'vitest';
import type { AgentScript } from '../../../sandbox/agent/agent-script.ts';
import type { InProcessSandboxOptions } from '../../../sandbox/in-process-sandbox.ts';
import { SharedRateLimits } from '../../../src/store/slack/shared-rate-limits.ts';
import { openAppScene, pause } from '../../support/app-scene.ts';

/**
 * The statements about the thread, its turn and its posts; each costs both sides about a millisecond. The queue, settings,
 * transactions and the permits of calls take some more: `npm run bench -- database` counts them all.
 */
const MOST_STATEMENTS = 11;

test('a turn in a new thread takes few statements', async ({ onTestFinished }) => {
  // Said at once: nothing is edited in between, however long it takes.
  const script: AgentScript = async (turn) => turn.write('All is said.');
  const ended = new Set<string>();
  const onTurnStep: InProcessSandboxOptions['onTurnStep'] = ({ message_ts: ts }, step) =>
    void (step === 'finished' && ended.add(ts));
  const scene = await openAppScene({ agent: { script }, onTurnStep }, onTestFinished);
  const channel = scene.channel();
  await scene.finished(channel, scene.ask(channel, 'the first question creates the project'));
  await pause(500);
  const query = vi.spyOn(pg.Client.prototype, 'query');
  onTestFinished(() => query.mockRestore());
  const texts = () => query.mock.calls.map(([text]: unknown[]) => JSON.stringify(text));
  // What the bot does without a question, whether often or now and then.
  await pause(2_500);
  const idle = new Set(texts());
  const isOfTurn = (text: string) =>
    /acknowledge|messages|turns|threads|posts|record_message/.test(text) && !text.includes('rate_limits');
  const counts: number[] = [];
  for (const text of ['and the second one?', 'the third?', 'the fourth?']) {
    query.mockClear();
    const root = scene.ask(channel, text);
    // Without questions to the database.
    await scene.until('the turn is over', () => ended.has(root.ts));
    await pause(700);
    counts.push(texts().filter((statement) => isOfTurn(statement) && !idle.has(statement)).length);
  }
  // A turn that a busy machine holds up reads more.
  const least = Math.min(...counts);
  expect(least).toBeGreaterThan(8);
  expect(least).toBeLessThanOrEqual(MOST_STATEMENTS);
});

test('the permit for the first reply is asked for while its turn is being recorded', async ({
  onTestFinished,
}) => {
  const scene = await openAppScene({}, onTestFinished);
  const channel = scene.channel();
  const { turns } = scene.sandbox.bot.store;
  const begin = turns.begin.bind(turns);
  const take = vi.spyOn(SharedRateLimits.prototype, 'take');
  onTestFinished(() => take.mockRestore());
  const permits = () => take.mock.calls.filter(([, limit]) => limit === 'chat.postMessage').length;
  const held = vi.spyOn(turns, 'begin').mockImplementation(async (...message) => {
    await scene.until('the permit is asked for', () => permits() === 1);
    return begin(...message);
  });
  const root = scene.ask(channel, 'how soon is the first reply?');
  await scene.finished(channel, root);
  expect([held.mock.calls.length, permits()]).toEqual([1, 1]);
});
