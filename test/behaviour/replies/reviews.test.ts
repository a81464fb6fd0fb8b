import { afterEach, describe, expect, test, vi } from 'vitest';
import type { AgentScript, ReviewPlan } from '../../../sandbox/agent/agent-script.ts';
import type { Channel, Message } from '../../../sandbox/slack/slack-workspace.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { type AppScene, openAppScene, pause } from '../../support/app-scene.ts';
import { withinMs } from '../../support/busy-machine.ts';

const long = Array.from({ length: 240 }, (_, line) => `Finding ${line}: ${'a'.repeat(80)}.`).join('\n\n');
const plans: Record<string, ReviewPlan> = {
  soon: { findings: '## Findings\n\nThe sample is *small*.\n\n<!channel> look', afterMs: 5_000 },
  checked: { findings: 'Checked findings.', afterMs: 5_000, verifyMs: 600_000 },
  failing: { error: 'The reviewer ran out of time' },
  broken: { findings: 'Half of it', error: 'Not verified', afterMs: 5_000, verifyMs: 5_000 },
  doubted: { findings: 'Half of it', error: 'Only half was read', status: 'completed', afterMs: 5_000 },
  long: { findings: long },
  middling: { findings: long.split('\n\n').slice(0, 80).join('\n\n') },
  blank: { findings: ' ' },
  once: { findings: 'Posted only once.', afterMs: 5_000 },
};

const reviewed: AgentScript = async (turn) => {
  for (const [name, plan] of Object.entries(plans)) if (turn.text.includes(name)) turn.review(plan);
  turn.write('An answer.');
};

const limits = { watchIntervalMs: 1_000, maxBackgroundWaitMs: 0 };
const scene = await openAppScene({ agent: { script: reviewed }, limits });

async function asked(stage: AppScene, text: string): Promise<{ channel: Channel; root: Message }> {
  const channel = stage.channel();
  const root = stage.ask(channel, text);
  await stage.finished(channel, root);
  return { channel, root };
}

function reviews(stage: AppScene, channel: Channel, root: Message): string[] {
  return stage
    .replies(channel, root)
    .map((message) => stage.slack.visibleText(message))
    .filter((shown) => /review|Finding/.test(shown));
}

describe.concurrent('a review', () => {
  test('is posted once, rendered like an answer, and pings nobody', async () => {
    const { channel, root } = await asked(scene, 'one soon');
    await scene.until('the findings are there', () => reviews(scene, channel, root).length > 0);
    const [shown = ''] = reviews(scene, channel, root);
    await scene.expectStays(() => reviews(scene, channel, root), [shown]);
    expect(shown).toContain('A review of the work in this thread:');
    expect(shown).toContain('The sample is *small*.');
    expect(shown).not.toContain('<!channel>');
    const post = scene.replies(channel, root).findLast(({ text }) => text.includes('review'));
    expect(post?.blocks?.at(-1)).toMatchObject({ type: 'markdown' });
  });

  test('is posted only once its findings are verified', async () => {
    const { channel, root } = await asked(scene, 'one checked');
    const task = await scene.until('the review begins', () =>
      scene.agent.tasks.findLast(({ title, reviews: all }) => title === 'one checked' && all.length > 0),
    );
    await scene.expectStays(() => [task.reviews[0]?.status, ...reviews(scene, channel, root)], ['running']);
    await scene.until('the findings are there', () => reviews(scene, channel, root).length > 0);
    expect(scene.shown(channel, root)).toContain('Checked findings.');
  });

  test('that failed is reported in one line, once, even after later turns', async () => {
    const { channel, root } = await asked(scene, 'one failing');
    const told = () => reviews(scene, channel, root);
    await scene.until('the line is there', () => told().length > 0);
    const line =
      'A review of the work in this thread failed: “The reviewer ran out of time”. The answer is unchanged.';
    expect(told()).toEqual([line]);
    await scene.finished(channel, scene.reply(channel, root, 'and go on'));
    await scene.expectStays(told, [line]);
  });

  test('with an error has failed, whatever its status', async () => {
    const { channel, root } = await asked(scene, 'one doubted');
    await scene.until('the line is there', () => reviews(scene, channel, root).length > 0);
    expect(scene.shown(channel, root)).toContain('failed: “Only half was read”.');
    expect(scene.shown(channel, root)).not.toContain('Half of it');
  });

  test('that failed after it wrote something shows no findings', async () => {
    const { channel, root } = await asked(scene, 'one broken');
    await scene.until('the line is there', () => reviews(scene, channel, root).length > 0);
    expect(scene.shown(channel, root)).toContain('failed: “Not verified”.');
    expect(scene.shown(channel, root)).not.toContain('Half of it');
  });

  test('without text is reported as one without findings', async () => {
    const { channel, root } = await asked(scene, 'one blank');
    await scene.until('the line is there', () => reviews(scene, channel, root).length > 0);
    expect(reviews(scene, channel, root)).toEqual([
      'A review of the work in this thread finished without findings.',
    ]);
  });

  test('whose Markdown Slack refuses is shown in full', async ({ onTestFinished }) => {
    const slack = { refusedBlocks: ['markdown'] };
    const own = await openAppScene({ agent: { script: reviewed }, slack, limits }, onTestFinished);
    const { channel, root } = await asked(own, 'one middling');
    await own.until('the findings are there', () => reviews(own, channel, root).length > 0);
    const shown = own.shown(channel, root);
    for (let line = 0; line < 80; line += 1) expect(shown.split(`Finding ${line}: `)).toHaveLength(2);
  });

  test('of many messages is shown in full, each line once', async () => {
    const { channel, root } = await asked(scene, 'one long');
    await scene.until('the end is there', () => scene.shown(channel, root).includes('Finding 239:'));
    const shown = scene.shown(channel, root);
    for (let line = 0; line < 240; line += 1) expect(shown.split(`Finding ${line}: `)).toHaveLength(2);
  });

  test('of each turn is posted', async () => {
    const { channel, root } = await asked(scene, 'one soon');
    await scene.until('the first is there', () => reviews(scene, channel, root).length === 1);
    await scene.finished(channel, scene.reply(channel, root, 'one more soon'));
    await scene.until('the second is there', () => reviews(scene, channel, root).length === 2);
    await scene.expectStays(() => reviews(scene, channel, root).length, 2);
  });
});

describe.concurrent('the reviews of a task', () => {
  test('end with a file where one takes too many messages, or in more of them where Slack takes or shows none', async ({
    onTestFinished,
  }) => {
    const short = await openAppScene(
      { agent: { script: reviewed }, limits: { ...limits, maxReplyMessages: 2 } },
      onTestFinished,
    );
    const { channel, root } = await asked(short, 'one long');
    const file = await short.until('the file is there', () =>
      short
        .replies(channel, root)
        .flatMap(({ fileIds }) => fileIds)
        .at(-1),
    );
    const text = `${short.shown(channel, root)}${(await short.slack.fileBytes(file)).toString('utf8')}`;
    for (let line = 0; line < 240; line += 1) expect(text.split(`Finding ${line}: `)).toHaveLength(2);
    expect(short.slack.file(file).name).toBe('rest-of-the-review.md');
    const body = { ok: false, error: 'file_uploads_disabled' };
    const fault = { kind: 'status', status: 200, body } as const;
    short.slack.faults.add({ call: 'files.getUploadURLExternal', fault, times: 1 });
    const wholeReview = async () => {
      const { channel, root } = await asked(short, 'one long');
      const shown = () => short.shown(channel, root);
      await short.until('the last finding is there', () => shown().includes('Finding 239: '));
      for (let line = 0; line < 240; line += 1) expect(shown().split(`Finding ${line}: `)).toHaveLength(2);
    };
    await wholeReview();
    short.slack.settings.unshownFiles = /^rest-of-the-review/;
    await wholeReview();
  });
});

describe('reviews where a call fails or means something else', () => {
  afterEach(() => scene.reset());

  test('whose findings cannot be read is reported in one line', async () => {
    scene.agent.behaviour.misbehaviour = (_call, body) =>
      'reviews' in body
        ? { kind: 'body', body: { ...body, reviews: [{ status: 'completed', message_id: null }] } }
        : undefined;
    const { channel, root } = await asked(scene, 'one soon');
    await scene.until('the line is there', () => reviews(scene, channel, root).length > 0);
    await scene.expectStays(() => reviews(scene, channel, root), [strings.reviewUnreadable]);
  });

  test('is posted where nobody can read which files the agent made', async () => {
    scene.agent.behaviour.misbehaviour = (call) =>
      call.endsWith('/results') ? { kind: 'body', body: { data: 'something new' } } : undefined;
    const { channel, root } = await asked(scene, 'one soon');
    await scene.until('the findings are there', () => reviews(scene, channel, root).length > 0);
    expect(reviews(scene, channel, root).join()).not.toContain(strings.reviewUnreadable);
  });

  test('are both reported when two failed for the same reason', async () => {
    scene.agent.behaviour.reviewsKept = true;
    const { channel, root } = await asked(scene, 'one failing');
    const told = () => reviews(scene, channel, root).length;
    await scene.until('the first is said', () => told() === 1);
    await scene.finished(channel, scene.reply(channel, root, 'and one more failing'));
    await scene.until('the second is said', () => told() === 2);
    await scene.expectStays(told, 2);
  });

  test.for([
    ['was made', 'lost'],
    ['was not made', 'cut'],
  ] as const)('are posted once, even if a post %s when the bot stopped', async ([, kind]) => {
    scene.slack.faults.add({
      call: 'chat.postMessage',
      about: 'Posted only once',
      fault: { kind },
      times: 1,
    });
    const { channel, root } = await asked(scene, 'one once');
    await scene.until('the post is tried', async () => {
      const posts = await scene.sandbox.bot.store.db
        .selectFrom('posts')
        .select('part')
        .where('thread_ts', '=', root.ts)
        .execute();
      return posts.some(({ part }) => part.startsWith('review:'));
    });
    await pause(300);
    await scene.sandbox.restartBot();
    const { db } = scene.sandbox.bot.store;
    await scene.until('the review is known to be there', async () =>
      (await db.selectFrom('posted_results').selectAll().where('thread_ts', '=', root.ts).execute()).some(
        (row) => row.posted_at !== null,
      ),
    );
    await scene.expectStays(() => reviews(scene, channel, root).length, 1);
  });

  test('a check that the service does not answer times out after a minute and is retried', async ({
    onTestFinished,
  }) => {
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    const short = (ms: number) => timeout(ms === 60_000 ? 1_500 : ms);
    const mock = vi.spyOn(AbortSignal, 'timeout').mockImplementation(short);
    onTestFinished(() => mock.mockRestore());
    const { channel, root } = await asked(scene, 'one soon to wait for');
    const call = /^GET .*\/tasks\/[^/]+$/;
    const about = scene.agent.tasks.findLast(({ title }) => title === 'one soon to wait for')?.id ?? '?';
    scene.agent.faults.add({ call, about, fault: { kind: 'latency', ms: 600_000 }, times: 1 });
    const isThere = () => reviews(scene, channel, root).length > 0;
    // Without the limit, the call itself ends only after half a minute.
    await scene.until('the findings are there', isThere, withinMs(25_000));
    expect(reviews(scene, channel, root)).toHaveLength(1);
  });
});
