import { describe, expect, test } from 'vitest';
import { runDrift } from '../../../sandbox/fuzz/drift-run.ts';
import { fuzzCases, SILENT_CHANNEL_PREFIX } from '../../../sandbox/fuzz/fuzz-case.ts';
import { parseFuzzOptions } from '../../../sandbox/fuzz/fuzz-options.ts';
import { runFuzz } from '../../../sandbox/fuzz/fuzz-run.ts';
import { isOfRegistry, runRegistryDrift, runRegistryFuzz } from '../../../sandbox/fuzz/registry-run.ts';
import { runServiceFuzz } from '../../../sandbox/fuzz/service-fuzz-run.ts';
import { seededRandom } from '../../../sandbox/slack/slack-workspace.ts';
import { copyTemplateDatabase } from '../../support/fresh-database.ts';

const identities = { workspace: 'T1', botUser: 'UBOT', botId: 'BBOT' };

function some(count: number, seed: number): string[] {
  const stream = fuzzCases(identities, seededRandom(seed));
  return Array.from({ length: count }, () => JSON.stringify(stream.next().value));
}

describe('the cases', () => {
  test('are the same for the same seed, and others for another', () => {
    expect(some(200, 7)).toEqual(some(200, 7));
    expect(some(200, 7)).not.toEqual(some(200, 8));
  });

  test('mutate nothing into a mention of the bot in a channel that must stay silent', () => {
    const stream = fuzzCases(identities, seededRandom(3));
    let mutants = 0;
    for (let index = 0; index < 3_000; index += 1) {
      const { value } = stream.next();
      const text = JSON.stringify(value?.body);
      if (value?.kind !== 'event' || value.signature !== 'valid' || !text.includes(SILENT_CHANNEL_PREFIX))
        continue;
      if (text.includes('"TSTRANGER"') || !text.includes('"event":')) continue;
      mutants += 1;
      const written = text.split('"event":').at(-1) ?? '';
      const silentAnyway = /bot_id|channel_join|"yesterday"/.test(written);
      expect(silentAnyway || !written.includes('<@UBOT>')).toBe(true);
    }
    expect(mutants).toBeGreaterThan(1_000);
  });
});

test('the command line is checked', () => {
  expect(parseFuzzOptions(['--events', '100000', '--seed', '4'])).toEqual({ events: 100_000, seed: 4 });
  expect(parseFuzzOptions(['--service', '--answers', '200'])).toEqual({ answers: 200, seed: 1 });
  expect(parseFuzzOptions(['--registries', '--answers', '300'])).toEqual({
    ...{ registries: true, answers: 300, seed: 1 },
  });
  const only = 'POST /projects.id';
  expect(parseFuzzOptions(['--drift', '--cases', '9', '--only', only])).toEqual({ cases: 9, only, seed: 1 });
  expect(() => parseFuzzOptions(['--events', 'many'])).toThrow('--events');
  expect(() => parseFuzzOptions(['--kills', '1'])).toThrow('Usage: npm run fuzz');
});

test('a service that answers wrongly in every way does no harm to workspaces of another one', async () => {
  const noBars = {
    honestDoneLagP95Seconds: 60,
    eventLoopP99Ms: 60_000,
    eventLoopMaxMs: 60_000,
    peakMemoryMiB: 768,
  };
  const { harm, questions, answers } = await runServiceFuzz(
    { answers: 15, seed: 5, database: await copyTemplateDatabase() },
    undefined,
    noBars,
  );
  expect(harm).toEqual([]);
  expect(questions).toBeGreaterThan(1);
  expect(answers).toBeGreaterThanOrEqual(15);
});

// What is wrong beside others is played again by itself, which takes a busy machine minutes.
test('a service that differs from its document a little costs nobody an answer', {
  timeout: 600_000,
}, async () => {
  const MESSAGE = '/experimental/tasks/{task_id}/messages';
  const names = [
    'POST /projects.403',
    `POST ${MESSAGE}.500`,
    `POST ${MESSAGE}.user_message.id.missing`,
    `GET ${MESSAGE}/{message_id}.401`,
    `GET ${MESSAGE}/{message_id}.content.[].text.missing`,
    `GET ${MESSAGE}/{message_id}.error.object`,
    `POST ${MESSAGE}/{message_id}/cancel.403`,
    'GET /experimental/tasks/{task_id}.reviews.missing',
    'GET /experimental/tasks/{task_id}/results.data.[].name.null',
    'POST /experimental/files.id.unknownWord',
    'PUT part.503',
    'GET download.html',
  ];
  const database = await copyTemplateDatabase();
  const { harm, cases, answerMissing } = await runDrift({ names, seed: 1, database });
  expect(harm).toEqual([]);
  expect(cases).toBe(names.length);
  expect(answerMissing).toEqual(['block of text.text']);
});

test('registries that answer wrongly cost nobody an answer, and nothing is said that they did not say', async () => {
  const database = await copyTemplateDatabase();
  const { harm, answers, questions } = await runRegistryFuzz({
    ...{ registries: true, answers: 15, seed: 3, database },
  });
  expect(harm).toEqual([]);
  expect(answers).toBeGreaterThanOrEqual(15);
  expect(questions).toBeGreaterThan(3);
});

test('registries whose answers are other than recorded cost nobody an answer, and nothing found becomes missing', async () => {
  const names = [
    'GET /works.message.items.[].DOI.unknownWord',
    'GET /works.message.items.[].updated-by.[].type.object',
    'GET /works.message.items.empty',
    'GET /works.404',
    'GET /works/{doi}.503',
    'GET /works/{doi}.message.title.null',
    'GET /doiRA.[].status.missing',
    'GET /doiRA.html',
    'GET esummary.result.9500320.pubtype.missing',
    'GET esummary.result.99999999.error.unknownWord',
    'GET esummary.torn',
  ];
  expect(names.every(isOfRegistry)).toBe(true);
  const { harm, cases } = await runRegistryDrift({ names, seed: 1, database: await copyTemplateDatabase() });
  expect(harm).toEqual([]);
  expect(cases).toBe(names.length);
});

test('a hundred and fifty random and mutated events do no harm, and real questions are answered meanwhile', async () => {
  const { harm, questions, answered, statuses } = await runFuzz({
    ...{ events: 150, seed: 11, heapSamples: 3, questions: 5 },
    database: await copyTemplateDatabase(),
  });
  expect(harm).toEqual([]);
  expect(questions).toBeGreaterThan(3);
  expect(answered).toBe(questions);
  expect(statuses[200]).toBeGreaterThan(25);
  expect(statuses[401]).toBeGreaterThan(0);
});
