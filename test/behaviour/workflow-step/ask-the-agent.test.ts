import { expect, test } from 'vitest';
import type { AgentScript } from '../../../sandbox/agent/agent-script.ts';
import { workflowStep } from '../../../src/render/strings/index.ts';
import { CHANNEL_LEVEL } from '../../../src/store/jobs/jobs.ts';
import { letJobBeGivenUp } from '../../support/outage.ts';
import { openWorkflowStepScene } from '../../support/workflow-step-scene.ts';

const { failed } = workflowStep;

/** `slowly` in a question makes the agent take its time; `at length` makes it write a lot. */
const script: AgentScript = async (turn) => {
  turn.write('Begun. ');
  if (/\bslowly\b/.test(turn.text)) await turn.sleep(2_000_000);
  if (/\bat length\b/.test(turn.text)) turn.write('<!channel> word '.repeat(400));
  turn.write('All is said.');
};
// One after the other: faults hit whoever calls.
const workflows = await openWorkflowStepScene({ agent: { script } });
const { scene } = workflows;
const { slack } = scene;

test('a step asks in its channel, naming its label and person, and completes once its task has begun', async () => {
  const channel = await workflows.channel();
  const inputs = { label: 'Weekly report', person: scene.ada.id, model: 'max', skill: 'summary' };
  const execution = workflows.run(channel, 'What happened slowly?', inputs);
  const root = await workflows.post(channel, 'What happened slowly?');
  expect(slack.visibleText(root)).toContain(`Weekly report for <@${scene.ada.id}> asks:`);
  expect(slack.visibleText(root)).toContain('Model Max');
  await workflows.over(execution);
  const task = scene.taskOf('What happened slowly');
  expect(execution).toMatchObject({ state: 'succeeded', repeatedCompletions: 0 });
  expect(execution.outputs).toEqual({ state: 'running', task_id: task?.id, link: expect.any(String) });
  expect(execution.outputs?.link).toContain(root.ts.replace('.', ''));
  expect(scene.sentToAgent('What happened slowly').texts).toEqual(['What happened slowly?']);
  // The person whom the step names has asked nothing: the thread belongs to the step.
  const thread = await scene.sandbox.bot.store.threads.get({
    workspace: channel.teamId,
    channel: channel.id,
    thread_ts: root.ts,
  });
  expect(thread?.started_by).toBe('B-WORKFLOW-STEP');
  // People go on there, and stop it.
  const { ts } = await scene.messageWithButton(channel, root, 'stop');
  await slack.click({ person: scene.grace, channel, ts, actionId: 'stop' });
  await scene.finished(channel, root);
  await scene.finished(channel, scene.reply(channel, root, 'and then?', { person: scene.grace }));
  expect(scene.sentToAgent('What happened slowly').texts.at(-1)).toBe('grace: and then?');
});

test('a step that waits completes with the answer, cut to a safe length and without mentions', async () => {
  const channel = await workflows.channel();
  const execution = workflows.run(channel, 'Say it at length', { wait_for_answer: true });
  const root = await workflows.post(channel, 'Say it at length');
  expect(slack.visibleText(root)).toContain(`${workflowStep.unnamed} asks:`);
  await workflows.over(execution);
  expect(execution.outputs).toMatchObject({ state: 'completed', task_id: expect.any(String) });
  const answer = String(execution.outputs?.answer);
  expect(answer).toMatch(/^Begun\. /);
  expect(answer).not.toContain('<!channel>');
  expect(answer.length).toBeLessThan(3_300);
  expect(scene.shown(channel, root)).toContain('All is said.');
});

test('a step fails in a channel in which the bot does not answer, also if it was closed meanwhile', async () => {
  const channel = await workflows.channel();
  const answers = (answers_here: 'on' | 'off') =>
    scene.sandbox.bot.store.settings.set(channel.teamId, channel.id, scene.ada.id, { answers_here });
  const execution = workflows.run(channel, 'What leaves, slowly?', { wait_for_answer: true });
  const root = await workflows.post(channel, 'What leaves, slowly?');
  const { ts } = await scene.messageWithButton(channel, root, 'stop');
  await answers('off');
  await slack.click({ person: scene.grace, channel, ts, actionId: 'stop' });
  expect(await workflows.over(execution)).toMatchObject({ state: 'failed', error: failed.closed });
  expect((await workflows.over(workflows.run(channel, 'Anybody there?'))).error).toBe(failed.closed);
  expect(workflows.posts(channel, 'Anybody there?')).toEqual([]);
});

test('a step fails where its channel does not let steps in, and where it can ask nothing', async () => {
  const closed = scene.channel();
  expect(await workflows.over(workflows.run(closed, 'May I?'))).toMatchObject({
    state: 'failed',
    error: failed.not_allowed,
  });
  expect(workflows.posts(closed, 'May I?')).toEqual([]);
  const trail = await scene.sandbox.bot.store.db
    .selectFrom('audit_events')
    .select(['kind', 'user_id', 'details'])
    .where('channel', '=', closed.id)
    .execute();
  const details = { control: 'workflow_step', why: 'not_allowed' };
  expect(trail).toEqual([{ kind: 'refusal', user_id: 'B-WORKFLOW-STEP', details }]);

  const channel = await workflows.channel();
  expect((await workflows.over(workflows.run(channel, '  '))).error).toBe(failed.invalid);
  // The service takes no such model, as the thread says.
  const odd = workflows.run(channel, 'Which model?', { model: 'gigantic' });
  expect((await workflows.over(odd)).error).toBe(failed.refused);
  expect(scene.shown(channel, await workflows.post(channel, 'Which model?'))).toContain('gigantic');
  slack.archive(channel);
  expect((await workflows.over(workflows.run(channel, 'Into the archive?'))).error).toBe(failed.not_posted);

  // A channel that changes its mind before the turn begins: the question is posted, and not sent.
  const wary = await workflows.channel();
  const forbidden = Promise.withResolvers<void>();
  const hold = { kind: 'hold', until: forbidden.promise } as const;
  slack.faults.add({ call: 'chat.postMessage', times: 1, fault: hold });
  const execution = workflows.run(wary, 'Too late?');
  await slack.settled();
  await workflows.allow(wary, false);
  forbidden.resolve();
  expect((await workflows.over(execution)).error).toBe(failed.not_allowed);
  expect(scene.sentToAgent('Too late?').texts).toEqual([]);
});

test('a step reads no linked message, because its answer may leave the channel', async () => {
  const channel = await workflows.channel();
  const linked = slack.say({ person: scene.grace, channel, text: 'the linked words' });
  const question = `What is at ${slack.permalink(linked)}?`;
  await workflows.over(workflows.run(channel, question, { wait_for_answer: true }));
  expect(scene.sentToAgent('What is at').texts.join()).not.toContain('the linked words');
  const root = await workflows.post(channel, 'What is at');
  expect(scene.shown(channel, root)).toContain('a workflow asked, and people elsewhere may read the answer.');
});

test("the workspace's limits count for steps, and nobody's own", async ({ onTestFinished }) => {
  const settings = { TURNS_PER_HOUR_PERSON: '1', TURNS_PER_HOUR_WORKSPACE: '2' };
  const limited = await openWorkflowStepScene({ agent: { script }, settings }, onTestFinished);
  const channel = await limited.channel();
  for (const question of ['First?', 'Second?'])
    expect((await limited.over(limited.run(channel, question, { wait_for_answer: true }))).state).toBe(
      'succeeded',
    );
  expect((await limited.over(limited.run(channel, 'Third?'))).error).toBe(failed.limit);
});

test('a step that Slack sends again, or whose call was lost, asks once and completes once', async () => {
  const channel = await workflows.channel();
  slack.delivery.duplicateChance = 1;
  // Slack took both, but nobody heard of it.
  slack.faults.add({ call: 'chat.postMessage', times: 1, fault: { kind: 'lost' } });
  slack.faults.add({ call: 'functions.completeSuccess', times: 1, fault: { kind: 'lost' } });
  const execution = workflows.run(channel, 'Only once?', { wait_for_answer: true });
  await slack.settled();
  slack.delivery.duplicateChance = 0;
  await scene.until('the question is posted', () => workflows.posts(channel, 'Only once?').length > 0);
  await scene.sandbox.restartBot();
  await workflows.over(execution);
  const isRecorded = () =>
    scene.sandbox.bot.store.db
      .selectFrom('jobs')
      .select('key')
      .where('channel', '=', channel.id)
      .where('done_at', 'is not', null)
      .executeTakeFirst();
  await scene.until('the completion is recorded', isRecorded);
  expect(execution).toMatchObject({ state: 'succeeded', repeatedCompletions: 1 });
  expect(workflows.posts(channel, 'Only once?')).toHaveLength(1);
  expect(scene.sentToAgent('Only once?').texts).toEqual(['Only once?']);
});

test('a step that Slack sends once more while its thread is answered asks nothing again', async () => {
  const channel = await workflows.channel();
  const heard: unknown[] = [];
  slack.onAcknowledged((payload) => void heard.push(payload));
  const execution = workflows.run(channel, 'Sent late, slowly?', { wait_for_answer: true });
  const { ts } = await workflows.post(channel, 'Sent late, slowly?');
  const { jobs, db } = scene.sandbox.bot.store;
  const job = {
    workspace: slack.team.id,
    kind: 'workflow_step',
    channel: channel.id,
    thread_ts: CHANNEL_LEVEL,
    key: execution.id,
  } as const;
  const knowsThread = async () => (await jobs.get(job))?.payload.thread_ts === ts;
  await scene.until('its job knows the thread', knowsThread);
  await slack.deliverRaw(
    'events_api',
    heard.find((payload) => JSON.stringify(payload).includes(execution.id)),
  );
  const known = db.selectFrom('jobs').select('key').where('key', '=', execution.id);
  expect(await known.execute()).toHaveLength(1);
  await scene.expectStays(() => workflows.posts(channel, 'Sent late, slowly?').length, 1);
});

test('a step that cannot be completed for a day fails in Slack, and says so', async () => {
  const channel = await workflows.channel();
  const mend = slack.faults.add({
    call: 'functions.completeSuccess',
    fault: { kind: 'status', status: 200, body: { ok: false, error: 'internal_error' } },
  });
  const execution = workflows.run(channel, 'Never completed?');
  await letJobBeGivenUp(scene, 'workflow_step', channel.id);
  expect(await workflows.over(execution)).toMatchObject({ state: 'failed', error: failed.given_up });
  mend();
});

test('a step that Slack has closed still ends well in its thread', async () => {
  const channel = await workflows.channel();
  const execution = workflows.run(channel, 'Who waits?', { wait_for_answer: true });
  slack.steps.close(execution.id);
  const root = await workflows.post(channel, 'Who waits?');
  await scene.finished(channel, root);
  expect(scene.shown(channel, root)).toContain('All is said.');
  await scene.until('the bot takes it for done', () => execution.repeatedCompletions > 0);
  expect(execution).toMatchObject({ state: 'closed', repeatedCompletions: 1 });
});

test('a step whose post is deleted while it waits completes without a link', async () => {
  const channel = await workflows.channel();
  const execution = workflows.run(channel, 'Deleted slowly?', { wait_for_answer: true });
  const root = await workflows.post(channel, 'Deleted slowly?');
  // A step that is stopped before it has a task fails.
  await scene.until('the agent has begun', () => scene.shown(channel, root).includes('Begun.'));
  const { ts } = await scene.messageWithButton(channel, root, 'stop');
  await slack.click({ person: scene.ada, channel, ts, actionId: 'stop' });
  for (const one of scene.replies(channel, root)) slack.remove(channel, one.ts);
  await workflows.over(execution);
  expect(execution).toMatchObject({ state: 'succeeded', outputs: { state: expect.any(String) } });
  expect(execution.outputs).not.toHaveProperty('link');
});

test('a step with outputs that the app at Slack does not have fails, and says how to mend it', async () => {
  const channel = await workflows.channel();
  const { manifest } = slack.app;
  const step = manifest?.functions?.ask_agent;
  if (manifest === undefined || step === undefined) throw new Error('There is a manifest.');
  const { link: _, ...output_parameters } = step.output_parameters;
  slack.app.update({ ...manifest, functions: { ask_agent: { ...step, output_parameters } } });
  expect((await workflows.over(workflows.run(channel, 'Old manifest?'))).error).toBe(failed.outputs);
  slack.app.update(manifest);
});
