import { describe, expect, test, vi } from 'vitest';
import type { AgentScript } from '../../../sandbox/agent/agent-script.ts';
import { textOf } from '../../../sandbox/agent/records.ts';
import type { Channel, Message } from '../../../sandbox/slack/slack-workspace.ts';
import { ReplyState } from '../../../src/relay/replies/reply-state.ts';
import { RenderQueue } from '../../../src/relay/runtime/render-queue.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { openAppScene } from '../../support/app-scene.ts';

const scene = await openAppScene({ limits: { maxReplyMessages: 2 } });

/** What the agent wrote last. */
function answerOf(): string {
  const said = scene.agent.tasks
    .flatMap(({ messages }) => messages)
    .filter(({ role }) => role === 'assistant');
  return textOf(said.at(-1)?.content ?? []);
}

/** The texts of the files that the bot put into a thread. */
async function filesIn(channel: Channel, root: Message): Promise<string[]> {
  const ids = scene.replies(channel, root).flatMap(({ fileIds }) => fileIds);
  return Promise.all(ids.map(async (id) => (await scene.slack.fileBytes(id)).toString('utf8')));
}

describe('an answer longer than its messages may be', () => {
  test("ends with a file that holds the rest, and is rendered within its workspace's share", async ({
    onTestFinished,
  }) => {
    const rendered = vi.spyOn(RenderQueue.prototype, 'run');
    const steps = (['discardRendered', 'renderNext', 'render'] as const).map((name) => ({
      name,
      spy: vi.spyOn(ReplyState.prototype, name),
    }));
    onTestFinished(() => void vi.restoreAllMocks());
    // An edit that fails is shown again later.
    const fault = { kind: 'status', status: 500 } as const;
    scene.slack.faults.add({ call: 'chat.update', fault, times: 2 });
    const channel = scene.channel();
    const root = scene.ask(channel, '/long 60000');
    await scene.finished(channel, root);
    const order = steps.flatMap(({ name, spy }) => spy.mock.invocationCallOrder.map((at) => ({ name, at })));
    const names = order.sort((a, b) => a.at - b.at).map(({ name }) => name);
    // What was discarded is rendered in a slice.
    expect(names.join()).toContain('discardRendered,renderNext');
    expect(names.join()).not.toContain('discardRendered,render,');
    expect(rendered.mock.calls.map(([workspace]) => workspace)).toContain(scene.slack.team.id);
    await scene.until('the file is shown', async () => (await filesIn(channel, root)).length > 0);
    const [file = ''] = await filesIn(channel, root);
    const answer = answerOf();
    expect(answer.length).toBeGreaterThanOrEqual(60_000);
    expect(file.length).toBeGreaterThan(38_000);
    expect(answer.endsWith(file.slice(-38_000))).toBe(true);
    expect(scene.replies(channel, root).filter(({ fileIds }) => fileIds.length === 0)).toHaveLength(2);
    expect(scene.shown(channel, root)).toContain(strings.restInFile);
  });

  test('has one file, even where the response to the upload was lost', async () => {
    const channel = scene.channel();
    scene.slack.faults.add({ call: 'files.completeUploadExternal', fault: { kind: 'lost' }, times: 1 });
    const root = scene.ask(channel, '/long 30000');
    await scene.finished(channel, root);
    await scene.slack.settled();
    expect(await filesIn(channel, root)).toHaveLength(1);
  });

  test('continues in further messages where Slack accepts no file', async () => {
    const channel = scene.channel();
    const body = { ok: false, error: 'file_uploads_disabled' };
    const fault = { kind: 'status', status: 200, body } as const;
    scene.slack.faults.add({ call: 'files.getUploadURLExternal', fault, times: 1 });
    const root = scene.ask(channel, '/long 40000');
    await scene.finished(channel, root);
    const last = answerOf().trimEnd().slice(-30);
    expect(scene.shown(channel, root)).toContain(last);
    expect(scene.replies(channel, root).length).toBeGreaterThan(3);
    expect(scene.shown(channel, root)).not.toContain(strings.restInFile);
    for (const message of scene.replies(channel, root).slice(0, -1))
      expect(scene.slack.visibleText(message)).not.toContain('Stop');
  });
});

describe('where Slack accepts a file and shows it to nobody', () => {
  test('the rest of an answer comes in further messages, and never in a file that appears late', async ({
    onTestFinished,
  }) => {
    onTestFinished(() => void Object.assign(scene.slack.settings, { shareDelayMs: 20 }));
    // Later than the last look, which comes 20 times as soon as at Slack.
    scene.slack.settings.shareDelayMs = 4_000;
    const channel = scene.channel();
    const root = scene.ask(channel, '/long 40000');
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain(answerOf().trimEnd().slice(-30));
    expect(scene.shown(channel, root)).not.toContain(strings.restInFile);
    await scene.slack.settled();
    expect(await filesIn(channel, root)).toEqual([]);
  });
});

test('an answer whose Markdown Slack refuses is shown in full as plain text', async ({ onTestFinished }) => {
  const own = await openAppScene({ slack: { refusedBlocks: ['markdown'] } }, onTestFinished);
  const channel = own.channel();
  const root = own.ask(channel, '/long 9000');
  await own.finished(channel, root);
  const [task] = own.agent.tasks;
  const answer = textOf(task?.messages.at(-1)?.content ?? []);
  const bare = (text: string) => text.replaceAll(/[\s\u2060]/g, '');
  expect(answer.length).toBeGreaterThanOrEqual(9_000);
  expect(bare(own.shown(channel, root))).toContain(bare(answer));
});

test('an answer of headings, HGVS, XML and a picture as base64 keeps its form, and its end is read', async ({
  onTestFinished,
}) => {
  const line = (at: number) =>
    `## Variant ${at}\n\nc.${at}A>T <v a="&amp;"/> and c.${at + 1}G>C, both seen in the same reads.\n\n`;
  const picture = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * at * 31) % 251));
  const script: AgentScript = async (turn) => {
    turn.write(Array.from({ length: 150 }, (_, at) => line(at + 1)).join(''));
    turn.write(`![volcano](data:image/png;base64,${picture.toString('base64')})\n\n`);
    turn.write('\u001B[32mTwo variants\u001B[0m stand out.');
  };
  const own = await openAppScene({ agent: { script } }, onTestFinished);
  const channel = own.channel();
  const root = own.ask(channel, 'which variants');
  await own.finished(channel, root);
  expect(own.slack.calls.filter(({ error }) => error === 'msg_blocks_too_long')).toEqual([]);
  const shown = own.shown(channel, root);
  expect(shown).toContain('## Variant 150\n');
  expect(shown).toContain('volcano (picture)\n\nTwo variants stand out.');
  expect(own.replies(channel, root).length).toBeLessThan(8);
});
