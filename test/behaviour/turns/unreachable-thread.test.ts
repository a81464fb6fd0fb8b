import { describe, expect, test } from 'vitest';
import type { AgentScript } from '../../../sandbox/agent/agent-script.ts';
import { Faults } from '../../../sandbox/faults.ts';
import { openAppScene } from '../../support/app-scene.ts';

// An answer of many messages grows for a while.
const scene = await openAppScene({ agent: { writingPace: 1 } });
const { slack, agent } = scene;

/** Begins a long turn and waits until its reply grows. */
async function begin(text: string, command = '/slow 9000') {
  const channel = scene.channel();
  const root = scene.ask(channel, `${text}\n${command}`);
  const reply = await scene.until('the reply grows', () =>
    scene.replies(channel, root).find(({ versions }) => versions.length > 1),
  );
  return { channel, root, reply };
}

/** What the bot told Ada directly. */
function toldAda({ slack, ada } = scene): string {
  const dm = slack.openDm(ada);
  return slack
    .messages(dm)
    .map((message) => slack.visibleText(message))
    .join('\n');
}

function statusOf(title: string): string | undefined {
  return agent.tasks.findLast((task) => task.title.startsWith(title))?.status;
}

describe.concurrent('a running turn', () => {
  test('is stopped when its reply is deleted, and the asker is told', async () => {
    const { channel, root, reply } = await begin('one to delete');
    slack.remove(channel.id, reply.ts);
    await scene.finished(channel, root);
    await scene.until('the run is stopped', () => statusOf('one to delete') === 'cancelled');
    expect(toldAda()).toContain(`<#${channel.id}>`);
    expect(scene.replies(channel, root)).toHaveLength(0);
  });

  test('is stopped when its channel is archived, and the asker is told', async () => {
    const { channel, root } = await begin('one to archive');
    slack.archive(channel);
    await scene.finished(channel, root);
    await scene.until('the run is stopped', () => statusOf('one to archive') === 'cancelled');
    expect(toldAda()).toContain(`<#${channel.id}>`);
  });

  test('is stopped when the bot is removed from the channel, and the asker is told', async () => {
    // Slack lets the bot edit on: only the next message is refused.
    const { channel, root } = await begin('one to leave', '/long 60000\n/slow 9000');
    slack.kick(channel);
    await scene.finished(channel, root);
    await scene.until('the run is stopped', () => statusOf('one to leave') === 'cancelled');
    expect(toldAda()).toContain(`<#${channel.id}>`);
  });
});

test.concurrent('an empty mention where the bot may not write is answered directly to its writer', async () => {
  const body = { ok: false, error: 'restricted_action_read_only_channel' };
  const fault = { kind: 'status', status: 200, body } as const;
  const channel = scene.channel();
  slack.faults.add({ call: 'chat.postMessage', about: channel.id, fault, times: 1 });
  const root = scene.ask(channel, '');
  await scene.finished(channel, root);
  expect(toldAda()).toContain(`<#${channel.id}>`);
  expect(scene.replies(channel, root)).toEqual([]);
});

test.concurrent('the asker of a deleted reply is told even where the run has ended by itself', async ({
  onTestFinished,
}) => {
  const goesOn = Promise.withResolvers<void>();
  const agent = {
    behaviour: { cancelSettled: 409 as const },
    script: async (turn: { write(text: string): void }) => {
      turn.write('A beginning.');
      await goesOn.promise;
      turn.write(' An end.');
    },
  };
  const own = await openAppScene({ agent }, onTestFinished);
  const channel = own.channel();
  const root = own.ask(channel, 'one to settle first');
  const reply = await own.until('the reply shows text', () =>
    own.replies(channel, root).find((message) => own.slack.visibleText(message).includes('A beginning.')),
  );
  own.slack.remove(channel.id, reply.ts);
  const task = () => own.taskOf('one to settle first');
  goesOn.resolve();
  await own.finished(channel, root);
  expect(task()?.status).toBe('completed');
  expect(toldAda(own)).toContain(`<#${channel.id}>`);
});

describe('a reply', () => {
  test('continues in one new message once Slack refuses its edits', async () => {
    const { channel, root, reply } = await begin('one to go on');
    const refused = { ok: false, error: 'edit_window_closed' };
    slack.faults.add({
      call: 'chat.update',
      fault: { kind: 'status', status: 200, body: refused },
      times: 1,
    });
    const next = await scene.until('a new message goes on', () =>
      scene.replies(channel, root).find(({ ts }) => ts !== reply.ts),
    );
    await slack.click({ person: scene.ada.id, channel: channel.id, ts: next.ts, actionId: 'stop' });
    await scene.finished(channel, root);
    expect(scene.replies(channel, root)).toHaveLength(2);
    expect(scene.shown(channel, root)).toContain('Stopped by ada.');
  });
});

test.concurrent.each([
  ['', []],
  [' even where the response to it was lost', [{ kind: 'lost' as const }]],
])('a post into a deleted thread is taken back%s, and the asker is told', async (when, lost) => {
  const { channel, root, reply } = await begin(`one whose thread goes${when}`);
  // The reply has to go on in a new message, and its thread goes with it.
  const body = { ok: false, error: 'edit_window_closed' };
  const fault = { kind: 'status', status: 200, body } as const;
  slack.faults.add({ call: 'chat.update', about: channel.id, fault, times: 1 });
  for (const loss of lost)
    slack.faults.add({ call: 'chat.postMessage', about: channel.id, fault: loss, times: 1 });
  slack.remove(channel.id, reply.ts);
  slack.remove(channel.id, root.ts);
  await scene.finished(channel, root);
  const tasks = agent.tasks.filter(({ project }) => project.title === channel.name);
  expect(tasks.map(({ status }) => status)).toEqual(['cancelled']);
  expect(toldAda()).toContain(`<#${channel.id}>`);
  const posts = [...channel.messages.values()].filter(({ botId }) => botId !== undefined);
  const strays = posts.filter(({ threadTs }) => threadTs === undefined);
  expect(strays.map(({ deletedAt }) => deletedAt)).toEqual([expect.any(Number)]);
});

test.concurrent('a file that Slack shows outside its deleted thread is taken back, and the asker is told', async ({
  onTestFinished,
}) => {
  const faults = new Faults();
  const script: AgentScript = async (turn) => {
    await turn.result('chart.png', 'image/png', Buffer.alloc(2_000, 1));
    turn.write('A chart.');
  };
  const own = await openAppScene({ agent: { script }, slack: { faults } }, onTestFinished);
  const deleted = Promise.withResolvers<void>();
  const hold = { kind: 'hold', until: deleted.promise } as const;
  faults.add({ call: 'files.completeUploadExternal', fault: hold, times: 1 });
  const channel = own.channel();
  const root = own.ask(channel, 'draw a chart');
  await own.until('the file is uploaded', () =>
    own.slack.calls.some(({ method }) => method === 'files.getUploadURLExternal'),
  );
  for (const { ts } of own.replies(channel, root)) own.slack.remove(channel.id, ts);
  own.slack.remove(channel.id, root.ts);
  deleted.resolve();
  await own.finished(channel, root);
  expect(toldAda(own)).toContain(`<#${channel.id}>`);
  const strays = [...channel.messages.values()].filter(({ fileIds }) => fileIds.length > 0);
  expect(strays.map(({ threadTs, deletedAt }) => [threadTs, deletedAt])).toEqual([
    [undefined, expect.any(Number)],
  ]);
});
