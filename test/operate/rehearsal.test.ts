import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { AgentScript } from '../../sandbox/agent/agent-script.ts';
import type { Channel, Person } from '../../sandbox/slack/slack-workspace.ts';
import {
  hasPassed,
  type PlayedStep,
  type Rehearsal,
  rehearse,
} from '../../src/operate/rehearsal/rehearsal.ts';
import { rehearsalPage, stepLine } from '../../src/operate/rehearsal/report.ts';
import { STEPS } from '../../src/operate/rehearsal/steps.ts';
import { openAppScene } from '../support/app-scene.ts';
import { compiledProgram } from '../support/compiled-programs.ts';

/** The agent makes a file of what it gets, and takes its time for numbers in words. */
const asUsual: AgentScript = async (turn) => {
  turn.write('I begin.');
  if (turn.text.includes('in words')) await turn.sleep(2_000_000);
  if (turn.files.length > 0) await turn.result('sum.csv', 'text/csv', 'sum\n6\n');
  turn.write(' Done.');
};

let script = asUsual;
const scene = await openAppScene({ agent: { script: (turn) => script(turn) } });
const { slack, agent } = scene;
afterEach(async () => {
  script = asUsual;
  await scene.reset();
});

async function play(
  channel: Channel,
  person?: Person,
  onStep: (step: PlayedStep, words?: string) => void = () => undefined,
  interrupted = new AbortController().signal,
): Promise<Rehearsal> {
  const { config, bot } = scene.sandbox;
  const where = { channel: channel.id, person: person?.id };
  return rehearse({ config, store: bot.store, pace: 20, ...where }, interrupted, onStep);
}

/** Steps that did not go as expected, each with its note. */
const amiss = ({ steps }: Rehearsal) =>
  steps.flatMap(({ step, outcome, note }) =>
    outcome === 'as expected' ? [] : [`${step}: ${outcome}: ${note}`],
  );

/** Nothing of it is in Slack or at the service any more, but for what no call can delete. */
function expectDeleted(channel: Channel, played: Rehearsal): void {
  expect(slack.messages(channel)).toEqual([]);
  expect(agent.tasks).toEqual([]);
  expect(played.left.filter((what) => !what.startsWith('project at'))).toEqual([]);
}

describe('a rehearsal', () => {
  test('plays every step as expected, with its times and protocols, and deletes what it left, also a second time', async () => {
    const channel = scene.channel();
    const dm = slack.openDm(scene.ada);
    for (let times = 0; times < 2; times += 1) {
      const played = await play(channel, scene.ada);
      expect(amiss(played)).toEqual([]);
      expect(played.steps.map(({ step }) => step)).toEqual(STEPS.map(({ name }) => name));
      expect(hasPassed(played)).toBe(true);
      expect(played.steps.every(({ ms, calls }) => ms > 0 && calls.length > 0)).toBe(true);
      expect(played).toMatchObject({ isComplete: true, protocols: { Slack: ['HTTP/1.1'] } });
      // It is off by default, and works here.
      expect(played.steps.find(({ step }) => step.includes('stream'))).toMatchObject({
        settings: ['DM_STREAMS'],
      });
      expectDeleted(channel, played);
      expect(slack.messages(dm)).toEqual([]);
    }
  });

  test('leaves no sign of work in the direct messages', async ({ onTestFinished }) => {
    const settings = { AGENT_SESSIONS: 'true' };
    const { sandbox, ada } = await openAppScene({ slack: { agent: true }, settings }, onTestFinished);
    const channel = sandbox.slack.createChannel({ name: 'rehearsed' }).id;
    const { config, bot } = sandbox;
    const options = { config, store: bot.store, pace: 20, channel, person: ada.id };
    await rehearse(options, new AbortController().signal, () => undefined);
    const { args } = sandbox.slack.calls.find(({ method }) => method === 'chat.startStream') ?? {};
    expect(sandbox.slack.status(String(args?.channel), String(args?.thread_ts))?.status).toBe('active');
  });

  test('names the fallback of what Slack takes in a simpler form, and the code of what is refused', async () => {
    const channel = scene.channel();
    const refuse = (call: string, error: string, about?: string) =>
      slack.faults.add({
        call,
        ...(about !== undefined && { about }),
        fault: { kind: 'status', status: 200, body: { ok: false, error } },
      });
    refuse('chat.postMessage', 'invalid_blocks', JSON.stringify('"type":"plan"').slice(1, -1));
    refuse('files.getUploadURLExternal', 'not_allowed_token_type');
    agent.faults.add({
      call: /^POST .*\/messages$/,
      fault: { kind: 'status', status: 422, body: { error: { message: 'No such field.' } } },
    });
    const played = await play(channel);
    expect(amiss(played)).toEqual([
      'a plan block: degraded: without plan',
      expect.stringMatching(
        /^a picture block with a file: refused: files\.getUploadURLExternal: not_allowed_token_type/,
      ),
      expect.stringMatching(/^an upload, shared in the thread: refused: files\.getUploadURLExternal/),
      expect.stringMatching(/^a stream in a direct message: skipped: No person was given/),
      'a small task with a file each way: refused: rejected (422)',
      'a stop: refused: rejected (422)',
    ]);
    const task = played.steps.find(({ step }) => step.startsWith('a small task'));
    expect(task?.settings).toContain('sendMessagePath');
    slack.faults.clear();
    expectDeleted(channel, played);
  });

  test('that is interrupted deletes what it has left so far, and says so', async () => {
    const channel = scene.channel();
    const interrupted = new AbortController();
    const played = await play(
      channel,
      undefined,
      ({ step }) => {
        if (step === 'an upload, shared in the thread') interrupted.abort(new Error('Interrupted.'));
      },
      interrupted.signal,
    );
    expect(played.isComplete).toBe(false);
    expect(hasPassed(played)).toBe(false);
    expect(played.steps.at(-1)).toMatchObject({ step: 'an upload, shared in the thread' });
    expectDeleted(channel, played);
  });

  test('reports no token, name, id or text, and what could not be deleted', async () => {
    const channel = scene.channel('secret-lab');
    slack.faults.add({
      call: 'chat.delete',
      fault: { kind: 'status', status: 200, body: { ok: false, error: 'cant_delete_message' } },
    });
    const played = await play(channel, scene.ada);
    const reports = `${JSON.stringify(played)}\n${rehearsalPage(played)}`;
    for (const secret of [
      ...[slack.botToken, agent.apiKey, channel.id, channel.name, scene.ada.id, scene.ada.name],
      ...[slack.bot.userId, slack.team.id, 'Add up the counts', 'Words of this part'],
    ])
      expect(reports).not.toContain(secret);
    expect(played.left).toContain('message');
    expect(rehearsalPage(played)).toContain('Not deleted: ');
  });

  test('reports of a refusal the codes alone, and shows its words in the terminal', async () => {
    const channel = scene.channel();
    const names = ['18f3a9c2-0d4e-4c1b-9a77-5f2e8d6b1c03', 'task-18f3a9', 'proj_abcdefgh'];
    const said = `${names.join(' ')} ada@lab.example files.lab.example \u001b[31mkey-7`;
    const refuse = (call: RegExp, status: number) =>
      agent.faults.add({ call, fault: { kind: 'status', status, body: { error: { message: said } } } });
    refuse(/^POST .*\/messages$/, 422);
    const lines: string[] = [];
    const played = await play(channel, undefined, (step, words) => lines.push(stepLine(step, words)));
    const reports = `${JSON.stringify(played)}\n${rehearsalPage(played)}`;
    for (const secret of [...names, 'lab.example', 'key-7']) expect(reports).not.toContain(secret);
    expect(amiss(played)).toContain('a small task with a file each way: refused: rejected (422)');
    const line = lines.find((one) => one.includes('a small task'));
    expect(line).toContain(names.join(' '));
    expect(line).not.toContain('\u001b');
  });

  test('reports of an error that nobody foresaw its name and code alone', async () => {
    const channel = scene.channel();
    const { config, bot } = scene.sandbox;
    const unknown = Object.assign(new Error('getaddrinfo files.lab.example'), { code: 'ENOTFOUND' });
    const interrupted = new AbortController();
    const played = await rehearse(
      { config, store: bot.store, pace: 20, channel: channel.id },
      interrupted.signal,
      ({ step }) => {
        // The next step is in the middle of its calls then.
        if (step === 'an edit') setTimeout(() => interrupted.abort(unknown), 1);
      },
    );
    expect(played.steps.at(-1)).toMatchObject({ outcome: 'refused', note: 'Error ENOTFOUND' });
    expect(JSON.stringify(played)).not.toContain('lab.example');
  });

  const slackRefuses = (call: string, times?: number) =>
    slack.faults.add({
      call,
      ...(times !== undefined && { times }),
      fault: { kind: 'status', status: 200, body: { ok: false, error: 'no_permission' } },
    });

  test('has not passed if a message stays, or nobody knows whether one does', async () => {
    for (const call of ['chat.delete', 'conversations.replies']) {
      slackRefuses(call);
      const played = await play(scene.channel());
      slack.faults.clear();
      expect(amiss(played).filter((one) => one.includes('refused'))).toEqual([]);
      expect(played.left).toContain(
        call === 'chat.delete' ? 'message' : 'messages of the thread (it could not be read)',
      );
      expect(hasPassed(played)).toBe(false);
    }
  });

  test('plays nothing in the channel if its first post is refused', async () => {
    const channel = scene.channel();
    slackRefuses('chat.postMessage', 1);
    const played = await play(channel, scene.ada);
    const [first, ...others] = played.steps.filter(({ step }) => !/task|stop/.test(step));
    expect(first).toMatchObject({ step: 'a post', outcome: 'refused' });
    for (const step of others)
      expect(step).toMatchObject({ outcome: 'skipped', note: 'The first post was refused.', calls: [] });
    expect(amiss(played)).toHaveLength(1 + others.length);
    expectDeleted(channel, played);
  });

  test('deletes a first post whose response was lost', async () => {
    const channel = scene.channel();
    slack.faults.add({ call: 'chat.postMessage', times: 1, fault: { kind: 'lost' } });
    const played = await play(channel);
    expect(played.steps[0]).toMatchObject({ step: 'a post', outcome: 'refused' });
    expectDeleted(channel, played);
  });

  test.each<[string, string, AgentScript]>([
    ['task', 'the agent made no file', async (turn) => turn.write('Six.')],
    ['task', 'its file is empty', async (turn) => turn.result('sum.csv', 'text/csv', '')],
    ['task', 'the answer ended as failed', () => Promise.reject(new Error('Out of order.'))],
    [
      'stop',
      'the answer was complete before the stop',
      async (turn) => {
        if (turn.files.length > 0) await asUsual(turn);
        else turn.write('One, two.');
      },
    ],
  ])('refuses a %s of which %s', async (step, note, other) => {
    script = other;
    const channel = scene.channel();
    const played = await play(channel);
    expect(
      played.steps.find(({ step: name }) => name.startsWith(`a ${step === 'task' ? 'small' : step}`)),
    ).toMatchObject({
      outcome: 'refused',
      note,
    });
    expect(hasPassed(played)).toBe(false);
    expectDeleted(channel, played);
  });

  test('stops a run before it deletes the task, and tries again while the service is busy or fails', async () => {
    const channel = scene.channel();
    script = (turn) => turn.sleep(2_000_000);
    const interrupted = new AbortController();
    const task = 'DELETE /experimental/tasks/{task_id}';
    const before = agent.calls.length;
    for (const status of [409, 409, 500])
      agent.faults.add({ call: task, times: 1, fault: { kind: 'status', status, body: {} } });
    const playing = play(channel, undefined, () => undefined, interrupted.signal);
    await scene.until('the agent works', () => agent.tasks.some(({ status }) => status === 'running'));
    interrupted.abort(new Error('Interrupted.'));
    expectDeleted(channel, await playing);
    const names = agent.calls.slice(before).map(({ name }) => name);
    const stopped = names.indexOf('POST /experimental/tasks/{task_id}/cancel');
    expect(stopped).toBeGreaterThan(-1);
    expect(names.indexOf(task)).toBeGreaterThan(stopped);
  });

  test.each([
    ['SIGINT', 'writes its report', []],
    ['SIGTERM', 'prints the page that it cannot write', ['rehearsal.json']],
  ] as const)('that gets %s twice deletes all, and %s', async (signal, _, folders) => {
    const channel = scene.channel();
    const cwd = await mkdtemp(path.join(tmpdir(), 'rehearsal-'));
    // A file of this name cannot be written, whoever runs this.
    for (const name of folders) await mkdir(path.join(cwd, name));
    const doctor = path.resolve(compiledProgram('src/operate/doctor.ts'));
    const env = { ...process.env, ...scene.sandbox.settings };
    const child = spawn(process.execPath, [doctor, '--rehearse', channel.id, '--yes'], { cwd, env });
    let printed = '';
    child.stdout.on('data', (data: Buffer) => {
      printed += data.toString();
    });
    const ended = once(child, 'exit');
    const deletion = Promise.withResolvers<void>();
    slack.faults.add({ call: 'chat.delete', fault: { kind: 'hold', until: deletion.promise } });
    await scene.until('two posts are there', () => slack.messages(channel).length >= 2);
    const isPrinted = folders.length > 0;
    expect(printed.startsWith("The report can't be written here")).toBe(isPrinted);
    child.kill(signal);
    await scene.until('it says so', () => printed.includes('is being deleted'));
    child.kill(signal);
    child.kill('SIGTERM');
    deletion.resolve();
    expect(await ended).toEqual([1, null]);
    expect(printed.match(/is being deleted/g)).toHaveLength(1);
    const page = isPrinted ? printed : await readFile(path.join(cwd, 'rehearsal.md'), 'utf8');
    expect(page).toContain('# Rehearsal');
    expect(page).toContain('All that it left was deleted.');
    expect(slack.messages(channel)).toEqual([]);
    await rm(cwd, { recursive: true });
  });
});
