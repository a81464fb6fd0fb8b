import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import * as strings from '../../../src/render/strings/index.ts';
import { StoreError } from '../../../src/store/errors.ts';
import { type AppScene, openAppScene, pause } from '../../support/app-scene.ts';

/** How often what is refused is tried: far more seldom than in the pauses below, and sooner than people would wait. */
const PROBE_MS = 6_000;

const scene = await openAppScene({ probeMs: PROBE_MS });
afterEach(() => scene.reset());

describe('a turn', () => {
  test('waits, and says so, while the service is down at the mention', async () => {
    const channel = scene.channel();
    const back = scene.agent.faults.add({ call: /./, fault: { kind: 'status', status: 503 } });
    const root = scene.ask(channel, 'are you there?');
    await scene.until('the thread says that the service is away', () =>
      scene.shown(channel, root).includes("can't reach"),
    );
    back();
    await scene.finished(channel, root);
    expect(scene.sentToAgent('are you there?').texts).toEqual(['are you there?']);
    expect(scene.shown(channel, root)).not.toContain("can't reach");
    expect(scene.replies(channel, root)).toHaveLength(1);
  });

  test('says that the service is down in the middle of an answer, until it is back, and that it is being stopped', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/slow 9000');
    const reply = await scene.until('the reply grows', () =>
      scene.replies(channel, root).find((message) => scene.slack.visibleText(message).includes('Second')),
    );
    const leave = () => scene.agent.faults.add({ call: /./, fault: { kind: 'status', status: 503 } });
    const returns = leave();
    const saysTrouble = () => scene.shown(channel, root).includes("can't reach");
    await scene.until('the reply says that the service is away', saysTrouble);
    expect(scene.shown(channel, root)).toContain(strings.waitEnds);
    returns();
    await scene.until('the reply, which is not over, says so no more', () => !saysTrouble());
    const back = leave();
    await scene.until('the reply says it again', saysTrouble);
    await scene.slack.click({ person: scene.ada, channel, ts: reply.ts, actionId: 'stop' });
    await scene.until('the reply says that it is being stopped', () =>
      scene.shown(channel, root).includes('ada asked me to stop. Stopping…'),
    );
    expect(saysTrouble()).toBe(true);
    expect(scene.shown(channel, root)).not.toContain(strings.waitEnds);
    back();
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('Stopped by ada.');
    expect(saysTrouble()).toBe(false);
  });

  test('repeats a failed edit even if no further text comes', async () => {
    const channel = scene.channel();
    const mend = scene.slack.faults.add({ call: 'chat.update', fault: { kind: 'status', status: 500 } });
    const root = scene.ask(channel, '/stubborn');
    await scene.until('an edit with the text has failed', () =>
      scene.slack.calls.some(
        ({ method, args }) =>
          method === 'chat.update' && JSON.stringify(args).includes('I do not stop when I am asked to.'),
      ),
    );
    mend();
    await scene.until('the text is shown', () =>
      scene.shown(channel, root).includes('I do not stop when I am asked to.'),
    );
    expect(scene.replies(channel, root)).toHaveLength(1);
  });

  test('sends its message once where the result of the commit that records it is lost', async ({
    onTestFinished,
  }) => {
    const { turns } = scene.sandbox.bot.store;
    const channel = scene.channel();
    const whole = turns.recordSent.bind(turns);
    onTestFinished(() => {
      turns.recordSent = whole;
    });
    let recorded = 0;
    turns.recordSent = async (...sent) => {
      const row = await whole(...sent);
      recorded += 1;
      if (recorded === 1) throw new StoreError('unavailable', 'The connection broke off.');
      return row;
    };
    const root = scene.ask(channel, 'only once');
    await scene.finished(channel, root);
    expect(recorded).toBe(1);
    expect(scene.sentToAgent('only once').texts).toEqual(['only once']);
  });

  test('says once that the service key is refused, and continues once it works', async () => {
    const channel = scene.channel();
    const mend = scene.agent.faults.add({ call: /./, fault: { kind: 'status', status: 401 } });
    const root = scene.ask(channel, 'does the key fit?');
    await scene.until('the thread says that the key is not accepted', () =>
      scene.shown(channel, root).includes("API key for the agent service doesn't work"),
    );
    mend();
    await scene.finished(channel, root);
    expect(scene.sentToAgent('does the key fit?').texts).toEqual(['does the key fit?']);
    expect(scene.replies(channel, root)).toHaveLength(1);
  });

  test('makes no further calls with a refused service key, and /readyz reports it', async () => {
    const mend = scene.agent.faults.add({ call: /./, fault: { kind: 'status', status: 401 } });
    const roots = [1, 2, 3, 4, 5].map((question) => {
      const channel = scene.channel();
      return { channel, root: scene.ask(channel, `question ${question}`) };
    });
    await scene.until('every thread says so', () =>
      roots.every(({ channel, root }) =>
        scene.shown(channel, root).includes("API key for the agent service doesn't work"),
      ),
    );
    const before = scene.agent.calls.length;
    await pause(PROBE_MS / 2);
    expect(scene.agent.calls.length - before).toBeLessThanOrEqual(1);
    expect(await readiness(scene)).toMatchObject({ ready: true, agentKeyRefusedSince: expect.any(String) });
    const metrics = await (await fetch(`http://127.0.0.1:${scene.sandbox.bot.port}/metrics`)).text();
    expect(metrics).toContain('taskthread_credential_refused{setting="AGENT_API_KEY"} 1');
    mend();
    for (const { channel, root } of roots) await scene.finished(channel, root);
    expect(await readiness(scene)).toMatchObject({ agentKeyRefusedSince: null });
  });

  test('makes no further calls with a refused Slack token, and completes its answer once it works', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/slow 9000');
    await scene.until('the reply has begun', () => scene.shown(channel, root).includes('Second'));
    const dead = { kind: 'status', status: 200, body: { ok: false, error: 'token_revoked' } } as const;
    const mend = scene.slack.faults.add({ call: /^(chat|reactions)\./, fault: dead });
    await scene.until('the operator is told', async () => {
      const { slackTokenRefusedSince } = await readiness(scene);
      return slackTokenRefusedSince !== null;
    });
    const before = scene.slack.calls.length;
    await pause(PROBE_MS / 2);
    expect(scene.slack.calls.length - before).toBeLessThanOrEqual(1);
    mend();
    await scene.hurry('/slow 9000');
    await scene.finished(channel, root);
    expect(scene.replies(channel, root)).toHaveLength(1);
    expect(scene.shown(channel, root)).toContain('Second 9000 of 9000');
    expect(await readiness(scene)).toMatchObject({ slackTokenRefusedSince: null });
  });

  test('is followed by replies that came before their thread had a task', async () => {
    const channel = scene.channel();
    const root = scene.slack.say({ person: scene.ada, channel, text: 'forgot to mention the bot' });
    const reply = scene.reply(channel, root, 'and one more thing', { person: scene.grace });
    await scene.slack.settled();
    scene.slack.edit(channel.id, root.ts, `${scene.mention} forgot to mention the bot`);
    await scene.finished(channel, root);
    await scene.finished(channel, reply);
    expect(scene.sentToAgent('forgot to mention the bot').texts).toEqual([
      'forgot to mention the bot',
      `${strings.unnamedWriter('ada')}\n\ngrace: and one more thing`,
    ]);
  });
});

const report = z.looseObject({
  ready: z.boolean(),
  slackTokenRefusedSince: z.string().nullable(),
  agentKeyRefusedSince: z.string().nullable(),
});

async function readiness(scene: AppScene): Promise<z.output<typeof report>> {
  const answer = await fetch(`http://127.0.0.1:${scene.sandbox.bot.port}/readyz`);
  return report.parse(await answer.json());
}
