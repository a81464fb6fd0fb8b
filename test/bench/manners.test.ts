import { expect, onTestFinished, test } from 'vitest';
import { HARM, playHour } from '../../bench/manners.ts';
import { connectionUrl } from '../../sandbox/postgres-server.ts';
import { copyTemplateDatabase, dropDatabase } from '../support/fresh-database.ts';

/** The shortest hour in which nothing is left out but repeats (s). */
const SECONDS = 8;

test('an hour among people does no harm', { timeout: 900_000 }, async () => {
  const connection = await copyTemplateDatabase();
  onTestFinished(() => dropDatabase(connection));
  const seen = await playHour(SECONDS, connectionUrl(connection));
  expect(HARM.filter((kind) => seen[kind] !== 0)).toEqual([]);
  expect(seen.questions).toBeGreaterThan(50);
  expect(seen.presses).toBeGreaterThan(30);
  expect(seen.reminders).toBeGreaterThan(0);
  expect(seen.botMessagesPerQuestion).toBeLessThanOrEqual(2.5);
});
