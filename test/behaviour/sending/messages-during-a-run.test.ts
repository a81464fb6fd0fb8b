import { afterEach, describe, expect, test } from 'vitest';
import { TAKEN_EMOJI, WAITING_EMOJI } from '../../../src/relay/runtime/incoming-message.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { openAppScene } from '../../support/app-scene.ts';

const behaviour = { refusedTypes: ['.exe'] };
const scene = await openAppScene({
  agent: { behaviour },
  limits: { silenceMs: 1_000, settledTaskMs: 4_000 },
});

/** A thread whose agent asked something and waits. */
async function asked(question: string) {
  const channel = scene.channel();
  const root = scene.ask(channel, question);
  await scene.until('the agent asks', () =>
    scene.shown(channel, root).includes(question.slice('/ask '.length)),
  );
  return { channel, root };
}

describe.concurrent('a run that is silent and waits for a person', () => {
  test('receives the next message at once, and continues in the same reply', async () => {
    const { channel, root } = await asked('/ask Which one?');
    const answer = scene.reply(channel, root, 'the treated group', { person: scene.grace });
    await scene.finished(channel, answer);
    const replies = scene.replies(channel, root);
    expect(replies).toHaveLength(2);
    expect(replies[0]?.blocks?.[0]).toMatchObject({
      ...{ type: 'context', elements: [{ text: strings.inAnswerTo(['ada', 'grace']) }] },
    });
    expect(scene.shown(channel, root)).toContain('grace: the treated group". Thank you');
    expect(scene.shown(channel, root)).not.toMatch(/No news|Passed on/);
    // Below the answer: that it was taken, and where the reply goes on; and in the end, that it is complete.
    await scene.until('the answer has its mark', () => answer.reactions.get(TAKEN_EMOJI)?.length);
    const end = replies.at(-1);
    expect(Number(end?.ts)).toBeGreaterThan(Number(answer.ts));
    expect(end?.text).toContain('the answer is ready');
    expect(scene.sentToAgent('/ask Which one?').texts).toEqual([
      '/ask Which one?',
      `${strings.unnamedWriter('ada')}\n\ngrace: the treated group`,
    ]);
    await scene.until('the waiting reaction is gone', () => !answer.reactions.get(WAITING_EMOJI)?.length);
  });

  test('says that the answer is ready, also where it went on before the service had answered', async () => {
    const { channel, root } = await asked('/ask Which of the two?');
    const task = scene.taskOf('/ask Which of the two');
    const call = 'POST /experimental/tasks/{task_id}/messages';
    scene.agent.faults.add({ call, about: task?.id ?? '-', fault: { kind: 'lost' }, times: 1 });
    const answer = scene.reply(channel, root, 'the second', { person: scene.grace });
    await scene.finished(channel, answer);
    expect(scene.shown(channel, root)).toContain('grace: the second". Thank you');
    expect(scene.replies(channel, root).at(-1)?.text).toContain('the answer is ready');
  });

  test('answers the next message some seconds later, though its task shows itself settled meanwhile', async ({
    onTestFinished,
  }) => {
    const behaviour = { messageToRunning: 'accepted', send: 'at-once-without-reply' } as const;
    const limits = { silenceMs: 1_000, settledTaskMs: 60_000 };
    const own = await openAppScene({ agent: { behaviour }, limits }, onTestFinished);
    const hidden = () => {
      const [first, later] = own.agent.tasks[0]?.messages.filter(({ role }) => role === 'assistant') ?? [];
      const end = first?.completedAt ?? null;
      return end !== null && Date.now() < end + 6_000 ? later?.id : undefined;
    };
    own.agent.behaviour.misbehaviour = (call, body) => {
      const id = hidden();
      if (id === undefined) return undefined;
      if (call === 'GET /experimental/tasks/{task_id}')
        return { kind: 'body', body: { ...body, status: 'completed' } };
      if (!('data' in body) || !Array.isArray(body.data)) return undefined;
      return { kind: 'body', body: { ...body, data: body.data.filter((message) => message.id !== id) } };
    };
    const channel = own.channel();
    const root = own.ask(channel, '/silent 9000');
    await own.until('the reply says that the agent is silent', () =>
      own.shown(channel, root).includes('No news'),
    );
    const next = own.reply(channel, root, '/slow 3 queued');
    await own.until('it is sent', () => own.sentToAgent('/silent 9000').texts.length === 2);
    await own.hurry('/silent 9000');
    await own.finished(channel, next);
    // The first reply went on above the message: before the second one, the thread says that it is complete.
    const [, end, ...later] = own.replies(channel, root);
    expect(end?.text).toContain('the answer is ready');
    expect(later).toHaveLength(1);
    expect(own.shown(channel, root)).toContain('Second 3 of 3');
  });

  test('receives attachments too, and the thread names those left out', async () => {
    const { channel, root } = await asked('/ask Which groups?');
    const files = [
      { name: 'groups.csv', mime: 'text/csv', bytes: 'a,b\n1,2\n' },
      { name: 'setup.exe', mime: 'application/x-msdownload', bytes: 'MZ' },
    ];
    const answer = scene.reply(channel, root, 'these', { files });
    await scene.finished(channel, answer);
    expect(scene.shown(channel, root)).toContain('You answered "these');
    expect(scene.shown(channel, root)).toMatch(/setup\.exe.* was left out/);
  });

  test('does not receive a message whose files are all left out, and its writer is told why', async () => {
    const { channel, root } = await asked('/ask Which files?');
    const files = [
      { name: 'setup.exe', mime: 'application/x-msdownload', bytes: 'MZ' },
      { name: 'empty.csv', mime: 'text/csv', bytes: '' },
      { name: 'bench.exe', mime: 'application/x-msdownload', bytes: 'MZ' },
    ];
    const wrong = scene.reply(channel, root, '', { files });
    const toldTexts = () => scene.slack.ephemerals(scene.ada, channel).map(({ text }) => text);
    const told = await scene.until('the writer is told', () =>
      toldTexts().find((text) => text.includes(strings.noUsableFiles)),
    );
    // Each line says what helps there.
    expect(told.split('\n')).toEqual([
      strings.noUsableFiles,
      expect.stringMatching(/^“setup\.exe” was left out: the agent service rejected it/),
      strings.fileMissing({ name: 'empty.csv', reason: 'empty' }),
      expect.stringMatching(/^“bench\.exe” was left out: the agent service rejected it/),
    ]);
    await scene.finished(channel, scene.reply(channel, root, 'the treated group'));
    await scene.finished(channel, wrong);
    const [, ...texts] = scene.sentToAgent('/ask Which files?').texts;
    expect(texts.map((text) => text.split('\n'))).toEqual([
      ['the treated group', '', strings.leftOut, ...files.map(({ name }) => expect.stringContaining(name))],
    ]);
    await scene.until('the waiting reaction is gone', () => !wrong.reactions.get(WAITING_EMOJI)?.length);
  });

  test('leaves a message waiting that the service does not accept, and the thread says so', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/silent 9006');
    await scene.until('the reply says that the agent is silent', () =>
      scene.shown(channel, root).includes('No news'),
    );
    const next = scene.reply(channel, root, '/files 1');
    await scene.until('the thread says that it waits', () =>
      scene.shown(channel, root).includes("can't read the next message"),
    );
    const key = { workspace: scene.slack.team.id, channel: channel.id, ts: next.ts };
    expect((await scene.sandbox.bot.store.messages.get(key))?.state).toBe('waiting');
    expect(await scene.sandbox.bot.store.turns.ofMessage(key)).toBeUndefined();
    await scene.until('it has the waiting reaction', () => next.reactions.get(WAITING_EMOJI)?.length);
    await scene.hurry('/silent 9006');
    await scene.finished(channel, next);
    expect(scene.sentToAgent('/silent 9006').texts).toEqual(['/silent 9006', '/files 1']);
    expect(scene.shown(channel, root)).toContain('That was the silence.');
    expect(scene.replies(channel, root).length).toBeGreaterThanOrEqual(2);
  });

  test('ends without waiting for a file that cannot be uploaded', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/silent 9045');
    await scene.until('the reply says that the agent is silent', () =>
      scene.shown(channel, root).includes('No news'),
    );
    const fault = { kind: 'status', status: 503 } as const;
    const mend = scene.agent.faults.add({ call: 'POST /experimental/files', about: 'one.csv', fault });
    const files = [{ name: 'one.csv', mime: 'text/csv', bytes: 'a,b\n1,2\n' }];
    const next = scene.reply(channel, root, '/files 1', { files });
    const key = { workspace: scene.slack.team.id, channel: channel.id, ts: next.ts };
    await scene.until('it is being passed on', () => scene.sandbox.bot.store.turns.ofMessage(key));
    await scene.hurry('/silent 9045');
    await scene.finished(channel, root);
    mend();
    await scene.finished(channel, next);
    expect(scene.sentToAgent('/silent 9045').texts).toEqual(['/silent 9045', '/files 1']);
  });

  test('leaves a message to a turn of its own if its reply can no longer be read', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/silent 9044');
    await scene.until('the reply says that the agent is silent', () =>
      scene.shown(channel, root).includes('No news'),
    );
    const gate = Promise.withResolvers<void>();
    const held = { kind: 'hold', until: gate.promise } as const;
    scene.agent.faults.add({ call: 'POST /experimental/files', about: 'two.csv', fault: held, times: 1 });
    const files = [{ name: 'two.csv', mime: 'text/csv', bytes: 'a,b\n1,2\n' }];
    const next = scene.reply(channel, root, '/files 1', { files });
    const key = { workspace: scene.slack.team.id, channel: channel.id, ts: next.ts };
    const { turns } = scene.sandbox.bot.store;
    const passing = await scene.until('it is being passed on', () => turns.ofMessage(key));
    const call = 'GET /experimental/tasks/{task_id}/messages/{message_id}';
    const about = scene.agent.tasks.findLast(({ title }) => title === '/silent 9044')?.id ?? '?';
    scene.agent.faults.add({ call, about, fault: { kind: 'status', status: 404 }, times: 1 });
    const isRefused = () =>
      scene.agent.calls.some(({ path, status }) => path.includes(about) && status === 404);
    await scene.until('one read finds nothing', isRefused);
    await scene.hurry('/silent 9044');
    await scene.finished(channel, root);
    gate.resolve();
    const isOver = async () => (await turns.get(passing.workspace, passing.id)) === undefined;
    await scene.until('its message is left to a turn of its own', isOver);
    await scene.finished(channel, next);
    const { texts, fileIds } = scene.sentToAgent('/silent 9044');
    expect(texts).toEqual(['/silent 9044', '/files 1']);
    expect(fileIds.at(-1)).toHaveLength(1);
  });

  /** A run that asks a question of its own, and an answer to it whose file is uploaded for ever. */
  async function passingOnFor(question: string, name: string) {
    const { channel, root } = await asked(question);
    await scene.until('the reply says that the agent asks', () =>
      scene.shown(channel, root).includes(strings.agentAsks),
    );
    scene.agent.faults.add({
      call: 'POST /experimental/files',
      about: name,
      fault: { kind: 'latency', ms: 600_000 },
    });
    const files = [{ name, mime: 'text/csv', bytes: 'a,b\n1,2\n' }];
    const wrong = scene.reply(channel, root, 'the wrong group', { files });
    const key = { workspace: scene.slack.team.id, channel: channel.id, ts: wrong.ts };
    await scene.until('its own turn has begun', () => scene.sandbox.bot.store.turns.ofMessage(key));
    return { channel, root, wrong, key };
  }

  test('never receives a message that was deleted while it was being passed on', async () => {
    const { channel, root, wrong } = await passingOnFor('/ask Which row?', 'three.csv');
    scene.slack.remove(channel.id, wrong.ts);
    await scene.finished(channel, wrong);
    const right = scene.reply(channel, root, 'the right group');
    await scene.finished(channel, right);
    expect(scene.sentToAgent('/ask Which row?').texts).toEqual(['/ask Which row?', 'the right group']);
  });

  test('never receives a message that was deleted just before a stop', async () => {
    const { channel, root, wrong, key } = await passingOnFor('/ask Which line?', 'four.csv');
    const { messages } = scene.sandbox.bot.store;
    const reply = scene.replies(channel, root)[0];
    if (reply === undefined) throw new Error('There is no reply.');
    scene.slack.remove(channel.id, wrong.ts);
    await scene.until('it is taken back', async () => (await messages.get(key))?.state === 'withdrawn');
    await scene.slack.click({ person: scene.ada, channel, ts: reply.ts, actionId: 'stop' });
    await scene.finished(channel, root);
    expect((await messages.get(key))?.state).toBe('withdrawn');
    expect(scene.shown(channel, root)).not.toContain(strings.messagesPaused(1));
    const right = scene.reply(channel, root, 'the right group');
    await scene.finished(channel, right);
    expect(scene.sentToAgent('/ask Which line?').texts).toEqual(['/ask Which line?', 'the right group']);
  });
});

describe('a run that waits for a person', () => {
  afterEach(() => scene.reset());

  test('receives the next message at once, and answers in a new reply', async () => {
    scene.agent.behaviour.afterAsk = 'new-reply';
    const { channel, root } = await asked('/ask Which two?');
    const answer = scene.reply(channel, root, 'the treated group');
    await scene.finished(channel, answer);
    const [first, second, ...more] = scene
      .replies(channel, root)
      .map((reply) => scene.slack.visibleText(reply));
    expect(more).toEqual([]);
    expect(first).toContain('Which two?');
    expect(first).not.toContain('You answered');
    expect(second).toContain('You answered "the treated group"');
  });
});
