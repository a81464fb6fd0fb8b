import { afterEach, describe, expect, test } from 'vitest';
import { textOf } from '../../../sandbox/agent/records.ts';
import type { Fault } from '../../../sandbox/faults.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { openAppScene, pause } from '../../support/app-scene.ts';
import { withinMs } from '../../support/busy-machine.ts';
import { untilNothingIsTried } from '../../support/outage.ts';

const READ = 'GET /experimental/tasks/{task_id}/messages/{message_id}';
const LIST = 'GET /experimental/tasks/{task_id}/messages';
const TASK = 'GET /experimental/tasks/{task_id}';
const SEND = 'POST /experimental/tasks/{task_id}/messages';
const GATEWAY_PAGE: Fault = { kind: 'status', status: 200, body: '<html><body>Back soon.</body></html>' };
const answer = (status: number): Fault => ({ kind: 'status', status });

/** How often the app tries a refused key, unless it is told otherwise. */
const UNSCALED_PROBE_MS = 10_000;

describe('a reply that is read until its end', async () => {
  const scene = await openAppScene({ limits: { refusalMs: 60_000 }, probeMs: 100 });
  afterEach(() => scene.reset());

  test.for([
    { what: 'is not found', fault: answer(404) },
    { what: 'is refused', fault: answer(400) },
    { what: 'is answered with the page of a gateway', fault: GATEWAY_PAGE },
  ])('arrives where one read $what', async ({ what, fault }) => {
    const channel = scene.channel();
    scene.agent.faults.add({ call: READ, fault, times: 1 });
    const root = scene.ask(channel, `/slow 60 ${what}`);
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('Second 60 of 60');
    expect(scene.replies(channel, root)).toHaveLength(1);
    expect(scene.sentToAgent(`/slow 60 ${what}`).texts).toHaveLength(1);
  });

  test('arrives soon where the key was refused once and may be tried again', async () => {
    const channel = scene.channel();
    scene.agent.faults.add({ call: READ, fault: answer(401), times: 1 });
    const root = scene.ask(channel, '/slow 2 the key is refused once');
    await scene.finished(channel, root, withinMs(UNSCALED_PROBE_MS));
    expect(scene.shown(channel, root)).toContain('Second 2 of 2');
    expect(scene.shown(channel, root)).not.toContain(strings.waits.service_key);
  });

  test('arrives where the answer to the message is unreadable', async () => {
    const channel = scene.channel();
    let pages = 0;
    scene.agent.behaviour.misbehaviour = (call) => {
      if (call !== SEND || pages > 0) return undefined;
      pages += 1;
      return { kind: 'body', body: '<html><body>Back soon.</body></html>' };
    };
    const root = scene.ask(channel, 'sent to a gateway');
    await scene.finished(channel, root);
    expect(pages).toBe(1);
    expect(scene.sentToAgent('sent to a gateway').texts).toEqual(['sent to a gateway']);
    expect(scene.shown(channel, root)).not.toContain(strings.retriesExhausted);
    expect(scene.shown(channel, root)).not.toContain(strings.serviceFailed);
  });
});

/** Fields that no answer needs, as a service could send them. */
const ODD_FIELDS: Record<string, (value: unknown) => unknown> = {
  created_at: () => null,
  updated_at: () => 5,
  started_at: () => [],
  project_id: () => null,
  task_id: () => ({}),
  platform: () => 5,
  mime_type: () => null,
  reviews: () => [{ message_id: null }, 5],
  file_ids: () => ['file_1', null],
  size_bytes: (bytes) => String(bytes),
  content: (content) => (typeof content === 'string' ? [{ type: 'text', text: content }, {}] : content),
  data: (items) => (Array.isArray(items) ? [...items, null, { id: 5 }] : items),
};

/** Words in another spelling, and no content where there is none. */
function respelt(name: string, value: unknown): unknown {
  if (name === 'content' && Array.isArray(value) && value.length === 0) return null;
  if (value === 'cancelled') return 'Canceled';
  return ['status', 'role', 'stop_reason'].includes(name) ? String(value).toUpperCase() : value;
}

describe('a service that answers oddly', async () => {
  const scene = await openAppScene({ limits: { watchIntervalMs: 3_000 } });
  afterEach(() => scene.reset());

  test('an answer and its results arrive where fields that nobody needs are odd', async () => {
    const change = (call: string, name: string, value: unknown): unknown => {
      if (call === READ && name === 'user_message_id') return 'something_new';
      return (ODD_FIELDS[name] ?? (() => value))(value);
    };
    scene.agent.behaviour.misbehaviour = (call, body) => ({
      kind: 'body',
      body: JSON.parse(JSON.stringify(body), (name, value) => change(call, name, value)),
    });
    const channel = scene.channel();
    const root = scene.ask(channel, '/files 2\n/tools 2\n/system a note\n/slow 2');
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('Second 2 of 2');
    expect(scene.shown(channel, root)).toContain('a note');
    expect(scene.shown(channel, root)).not.toContain(strings.resultsUnavailable);
    expect(scene.shown(channel, root)).not.toContain(strings.unsupportedBlock('tool result'));
    const result = scene.agent.files.findLast(({ purpose }) => purpose === 'output');
    expect(scene.shown(channel, root)).toContain(result?.name);
  });

  test('a turn ends where statuses are spelt otherwise or new, and an error needs no content', async () => {
    const change = (name: string, value: unknown) =>
      name === 'status' && value === 'completed' ? 'succeeded' : respelt(name, value);
    scene.agent.behaviour.misbehaviour = (call, body) => ({
      kind: 'body',
      body: JSON.parse(JSON.stringify(body), call === READ ? change : respelt),
    });
    const ask = (text: string) => {
      const channel = scene.channel();
      const root = scene.ask(channel, text);
      return { channel, root, shown: () => scene.shown(channel, root) };
    };
    const answered = ask('/slow 2');
    const failed = ask('/fail Out of disk');
    const stopped = ask('/slow 9000');
    await scene.until('the reply grows', () => stopped.shown().includes('Second'));
    scene.reply(stopped.channel, stopped.root, 'stop');
    for (const { channel, root } of [answered, failed, stopped]) await scene.finished(channel, root);
    expect(answered.shown()).toContain('Second 2 of 2');
    expect(failed.shown()).toContain('Out of disk');
    expect(stopped.shown()).toContain('Stopped');
  });

  test('a stop that the service refuses is said below the answer', async () => {
    const channel = scene.channel();
    scene.agent.faults.add({ call: /cancel$/, fault: answer(400) });
    const root = scene.ask(channel, '/slow 9000 unstopped');
    await scene.until('the reply grows', () => scene.shown(channel, root).includes('Second'));
    const post = scene.replies(channel, root)[0];
    await scene.slack.click({ person: scene.ada, channel, ts: post?.ts ?? '', actionId: 'stop' });
    const isRefused = () =>
      scene.agent.calls.some(({ name, status }) => /cancel$/.test(name) && status === 400);
    await scene.until('the stop is refused', isRefused);
    await scene.hurry('/slow 9000 unstopped');
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('Second 9000 of 9000');
    expect(scene.shown(channel, root)).toContain(strings.finishedUnstopped);
  });

  test.for(['user_message', 'assistant_message'])(
    'an answer arrives where the response to its message names another %s',
    async (field) => {
      scene.agent.behaviour.misbehaviour = (call, body) =>
        call === SEND
          ? {
              kind: 'body',
              body: { ...body, [field]: { ...Object(new Map(Object.entries(body)).get(field)), id: '5' } },
            }
          : undefined;
      const channel = scene.channel();
      const root = scene.ask(channel, '/slow 2 elsewhere');
      await scene.finished(channel, root);
      expect(scene.shown(channel, root)).toContain('Second 2 of 2');
    },
  );

  describe('messages that are no answer to the message before them', () => {
    test('where the response to a message holds the reply before, each question gets its own answer', async () => {
      scene.agent.behaviour.input = 'null';
      let first: object | undefined;
      scene.agent.behaviour.misbehaviour = (call, body) => {
        if (call !== SEND || !('assistant_message' in body)) return undefined;
        first ??= Object(body.assistant_message);
        return { kind: 'body', body: { ...body, assistant_message: { ...first, status: 'completed' } } };
      };
      const channel = scene.channel();
      const root = scene.ask(channel, '/slow 2 first');
      await scene.finished(channel, root);
      const next = scene.reply(channel, root, '/slow 4 second');
      await scene.finished(channel, next);
      expect(scene.shown(channel, root)).toContain('Second 4 of 4');
    });

    test('the findings of a review that the service lists as a system message come once', async () => {
      scene.agent.behaviour.misbehaviour = (call, body) => {
        const findings = scene.agent.tasks
          .flatMap(({ messages }) => messages)
          .find(({ role, content }) => role === 'system' && JSON.stringify(content).includes('THE FINDINGS'));
        if (call !== TASK || findings === undefined) return undefined;
        return {
          kind: 'body',
          body: { ...body, reviews: [{ status: 'completed', message_id: findings.id }] },
        };
      };
      const channel = scene.channel();
      const root = scene.ask(channel, '/system THE FINDINGS\n/system A NOTE\n/slow 2');
      await scene.until('the findings are posted', () => scene.replies(channel, root).length === 2);
      expect(scene.shown(channel, root).split('THE FINDINGS')).toHaveLength(2);
      expect(scene.shown(channel, root)).toContain('A NOTE');
    });
  });

  describe('an answer arrives in full, and once,', () => {
    test('where the list after a message is refused', async () => {
      scene.agent.behaviour.refusal = (call, { query }) =>
        call === LIST && query.after_id !== undefined ? 400 : undefined;
      const channel = scene.channel();
      const root = scene.ask(channel, '/slow 3 listed');
      await scene.finished(channel, root);
      expect(scene.shown(channel, root)).toContain('Second 3 of 3');
      expect(scene.shown(channel, root)).not.toContain(strings.serviceFailed);
    });

    test('where the list ignores which message it is asked to follow', async () => {
      scene.agent.behaviour.input = 'null';
      scene.agent.behaviour.messageCursors = 'ignored';
      const channel = scene.channel();
      const root = scene.ask(channel, '/system A NOTE\n/slow 2 first');
      await scene.finished(channel, root);
      const next = scene.reply(channel, root, '/slow 4 second');
      await scene.finished(channel, next);
      expect(scene.shown(channel, root).split('A NOTE')).toHaveLength(2);
      expect(scene.shown(channel, root)).toContain('Second 4 of 4');
    });
  });
});

/** How much faster than its own the limits of these bots pass. */
const SCALE = 1 / 150;
const SCALED_LIMITS = { refusalMs: 60_000 * SCALE, badThingMs: 600_000 * SCALE };
const FIFTEEN_MINUTES_MS = 15 * 60_000 * SCALE;

describe('a service that fails for minutes', async () => {
  const scene = await openAppScene({ limits: SCALED_LIMITS });
  afterEach(() => scene.reset());

  describe('a quarter of an hour', () => {
    test.for([
      { what: 'server errors', fault: answer(503) },
      { what: 'server errors behind a gateway', fault: undefined },
      { what: 'pages of a gateway', fault: GATEWAY_PAGE },
      { what: 'nothing being found', fault: answer(404) },
    ])('of $what costs no answer', async ({ what, fault }) => {
      const channel = scene.channel();
      const [before, meanwhile] = [`/slow 9000 before ${what} ended`, `/slow 2 while ${what} went on`];
      const begun = scene.ask(channel, before);
      await scene.until('the reply grows', () => scene.shown(channel, begun).includes('Second'));
      scene.agent.behaviour.refusal = fault === undefined ? () => 503 : null;
      const back = fault && scene.agent.faults.add({ call: /./, fault });
      const asked = scene.ask(channel, meanwhile);
      await pause(FIFTEEN_MINUTES_MS);
      await untilNothingIsTried(scene, scene.agent.calls);
      back?.();
      scene.agent.behaviour.refusal = null;
      await scene.hurry(before);
      for (const root of [begun, asked]) await scene.finished(channel, root);
      expect(scene.shown(channel, begun)).toContain('Second 9000 of 9000');
      expect(scene.shown(channel, asked)).toContain('Second 2 of 2');
      for (const text of [before, meanwhile]) expect(scene.sentToAgent(text).texts).toEqual([text]);
      const projects = scene.agent.projects.filter(({ title }) => title === channel.name);
      expect(projects).toHaveLength(1);
    });
  });

  test('what stays unreadable is given up after a minute, and the thread says which part is lost', async () => {
    const odd: Record<string, object> = {
      'POST /experimental/files': { id: 'file_1', upload_url: 5 },
      'GET /experimental/tasks/{task_id}/results': { data: 5 },
    };
    scene.agent.behaviour.misbehaviour = (call) => {
      const body = odd[call];
      return body && { kind: 'body', body };
    };
    const channel = scene.channel();
    const root = scene.ask(channel, '/slow 2 with a file', {
      files: [{ name: 'a.csv', mime: 'text/csv', bytes: 'a,b' }],
      table: [['gene'], ['TP53']],
    });
    await scene.finished(channel, root);
    const shown = scene.shown(channel, root);
    expect(shown).toContain('Second 2 of 2');
    for (const name of ['a.csv', 'table-1.csv'])
      expect(shown).toContain(strings.fileMissing({ name, reason: 'service_failed' }));
    expect(shown).toContain(strings.resultsUnavailable);
    expect(shown).not.toContain(strings.waits.service_unreachable);
  });

  test('a finished task that stays busy is given up, and **Try again** goes on in another', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/slow 2 and no more');
    await scene.finished(channel, root);
    const about = scene.taskOf('/slow 2 and no more')?.id ?? '?';
    scene.agent.faults.add({ call: SEND, about, fault: answer(409) });
    const next = scene.reply(channel, root, 'one more question');
    await scene.finished(channel, next);
    expect(scene.shown(channel, root)).toContain(strings.taskClosed);
    const { ts } = await scene.messageWithButton(channel, root, 'retry');
    await scene.slack.click({ person: scene.ada, channel, ts, actionId: 'retry' });
    const isFirst = ({ messages: [first] }: (typeof scene.agent.tasks)[number]) =>
      first !== undefined && textOf(first.content).endsWith('one more question');
    await scene.until('another task has it', () => scene.agent.tasks.filter(isFirst).length === 1);
  });

  test('a file that is always busy is left out, and the question is answered without it', async () => {
    scene.agent.faults.add({ call: 'POST /experimental/files/{file_id}/finalize', fault: answer(409) });
    scene.agent.faults.add({ call: 'GET /experimental/files/{file_id}', fault: answer(409) });
    const channel = scene.channel();
    const root = scene.ask(channel, '/slow 2 with a busy file', {
      files: [{ name: 'a.csv', mime: 'text/csv', bytes: 'a,b' }],
    });
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('Second 2 of 2');
    expect(scene.shown(channel, root)).toContain(
      strings.fileMissing({ name: 'a.csv', reason: 'service_failed' }),
    );
  });

  test('a reply whose task is gone ends after a minute, and one that alone is gone after ten', async () => {
    const channel = scene.channel();
    const lost = scene.ask(channel, '/slow 9000 lost');
    const alone = scene.ask(channel, '/slow 9000 alone');
    for (const root of [lost, alone])
      await scene.until('the reply grows', () => scene.shown(channel, root).includes('Second'));
    const { AGENT_BASE_URL, AGENT_API_KEY } = scene.sandbox.config;
    const task = scene.taskOf('/slow 9000 lost');
    const url = `${AGENT_BASE_URL}/experimental/tasks/${task?.id ?? ''}`;
    await fetch(url, { method: 'DELETE', headers: { authorization: `Bearer ${AGENT_API_KEY}` } });
    const since = performance.now();
    scene.agent.faults.add({ call: READ, fault: answer(404) });
    await scene.finished(channel, lost);
    expect(scene.shown(channel, lost)).toContain(strings.taskNotFound);
    await scene.finished(channel, alone);
    expect(performance.now() - since).toBeGreaterThan(SCALED_LIMITS.badThingMs);
    expect(scene.shown(channel, alone)).toContain(strings.taskNotFound);
  });
});

test('a project that may have been created without an answer is created ever more rarely, and not for long', async ({
  onTestFinished,
}) => {
  const scene = await openAppScene({ limits: { ...SCALED_LIMITS, badThingMs: 3_000 } }, onTestFinished);
  scene.agent.faults.add({ call: 'POST /projects', fault: { kind: 'lost' } });
  const channel = scene.channel();
  const root = scene.ask(channel, 'the answer is lost');
  await scene.finished(channel, root);
  expect(scene.shown(channel, root)).toContain(strings.serviceFailed);
  // Each pause is at least as long as all before: of pauses that do not grow, there would be 20.
  expect(scene.agent.projects.length).toBeLessThanOrEqual(8);
  scene.agent.faults.clear();
  const later = scene.ask(channel, 'another');
  await scene.finished(channel, later);
  expect(scene.shown(channel, later)).toContain('You wrote 1 word');
});

test('what fails for ten minutes while the service answers other calls is given up, and the thread says what', async ({
  onTestFinished,
}) => {
  const scene = await openAppScene({ limits: { ...SCALED_LIMITS, resendMs: 1_000 } }, onTestFinished);
  const fault = answer(500);
  scene.agent.faults.add({ call: 'GET /experimental/tasks/{task_id}/results', fault });
  scene.agent.faults.add({ call: 'POST /experimental/files', fault });
  scene.agent.behaviour.refusal = (call, { body }) =>
    call === SEND && JSON.stringify(body).includes('unsent') ? 500 : undefined;
  const ask = (text: string, files: { name: string; mime: string; bytes: string }[] = []) => {
    const channel = scene.channel();
    const root = scene.ask(channel, text, { files });
    return { channel, root, shown: () => scene.shown(channel, root) };
  };
  const unsent = ask('unsent');
  const unread = ask('/slow 9000 unread');
  const answered = ask('/slow 300 answered', [{ name: 'a.csv', mime: 'text/csv', bytes: 'a,b' }]);
  for (const { shown } of [unread, answered])
    await scene.until('the reply grows', () => shown().includes('Second'));
  const taskOf = (text: string) => scene.taskOf(text)?.id ?? '?';
  scene.agent.faults.add({ call: READ, about: taskOf('/slow 9000'), fault });
  scene.agent.faults.add({ call: LIST, about: taskOf('/slow 300'), fault });
  for (const { channel, root } of [unsent, unread, answered]) await scene.finished(channel, root);
  expect(unsent.shown()).toContain(strings.retriesExhausted);
  expect(unread.shown()).toContain(strings.answerUnreadable(''));
  expect(answered.shown()).toContain('Second 300 of 300');
  expect(answered.shown()).toContain(strings.fileMissing({ name: 'a.csv', reason: 'service_failed' }));
  expect(answered.shown()).toContain(strings.resultsUnavailable);
  expect(answered.shown()).not.toContain(strings.answerUnreadable(''));
  for (const { shown } of [unsent, unread, answered])
    expect(shown()).not.toContain(strings.waits.service_unreachable);
});
