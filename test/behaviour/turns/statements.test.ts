import pg from 'pg';
import { expect, test, vi } from 'vitest';
import type { AgentScript } from '../../../sandbox/agent/agent-script.ts';
import { openAppScene, pause } from '../../support/app-scene.ts';

/**
 * The statements about the thread, its turn and its posts; each costs both sides about a millisecond. The queue, settings,
 * transactions and the permits of calls take some more: `npm run bench -- database` counts them all.
 */
const MOST_STATEMENTS = 11;

test('a turn in a new thread takes few statements', async ({ onTestFinished }) => {
  // Said at once: nothing is edited in between, however long it takes.
  const script: AgentScript = async (turn) => turn.write('All is said.');
  const scene = await openAppScene({ agent: { script } }, onTestFinished);
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
    await scene.until('the answer is complete', () => scene.shown(channel, root).includes('Took'));
    await pause(700);
    counts.push(texts().filter((statement) => isOfTurn(statement) && !idle.has(statement)).length);
  }
  // A turn that a busy machine holds up reads more.
  const least = Math.min(...counts);
  expect(least).toBeGreaterThan(8);
  expect(least).toBeLessThanOrEqual(MOST_STATEMENTS);
});
