import { afterEach, describe, expect, test } from 'vitest';
import type { AgentScript } from '../../sandbox/agent/agent-script.ts';
import type { Channel, Person } from '../../sandbox/slack/slack-workspace.ts';
import { type PlayedStep, type Rehearsal, rehearse } from '../../src/operate/rehearsal/rehearsal.ts';
import { rehearsalPage } from '../../src/operate/rehearsal/report.ts';
import { STEPS } from '../../src/operate/rehearsal/steps.ts';
import { openAppScene } from '../support/app-scene.ts';
import { silentLog } from '../support/silent-log.ts';

/** The agent makes a file of what it gets, and takes its time for numbers in words. */
const script: AgentScript = async (turn) => {
  turn.write('I begin.');
  if (turn.text.includes('in words')) await turn.sleep(2_000_000);
  if (turn.files.length > 0) await turn.result('sum.csv', 'text/csv', 'sum\n6\n');
  turn.write(' Done.');
};

const scene = await openAppScene({ agent: { script } });
const { slack, agent } = scene;
afterEach(() => scene.reset());

async function play(
  channel: Channel,
  person?: Person,
  onStep: (step: PlayedStep) => void = () => undefined,
  interrupted = new AbortController().signal,
): Promise<Rehearsal> {
  const { config, bot } = scene.sandbox;
  const where = { channel: channel.id, person: person?.id };
  return rehearse({ config, store: bot.store, log: silentLog, pace: 20, ...where }, interrupted, onStep);
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

  test('names the fallback of what Slack takes in a simpler form, and the words of what is refused', async () => {
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
      'a small task with a file each way: refused: 422 No such field.',
      'a stop: refused: 422 No such field.',
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
});
