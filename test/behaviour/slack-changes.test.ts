import { describe, expect, test } from 'vitest';
import { openScene } from './scene.ts';

const scene = await openScene();
const { slack, agent } = scene;

/** Begins a long turn and waits until its reply grows. */
async function begin(text: string) {
  const channel = scene.channel();
  const root = scene.ask(channel, `${text}\n/slow 2000`);
  const reply = await scene.until('the reply grows', () =>
    scene.replies(channel, root).find(({ versions }) => versions.length > 1),
  );
  return { channel, root, reply };
}

/** What the bot told Ada directly. */
function toldAda(): string {
  const dm = slack.openDm(scene.ada);
  return slack
    .messages(dm)
    .map((message) => slack.shown(message))
    .join('\n');
}

function statusOf(title: string): string | undefined {
  return agent.tasks.find((task) => task.title.startsWith(title))?.status;
}

describe.concurrent('Slack changes under a live turn', () => {
  test('the reply is deleted: the run is stopped and the asker told', async () => {
    const { channel, root, reply } = await begin('one to delete');
    slack.remove(channel.id, reply.ts);
    await scene.finished(channel, root);
    await scene.until('the run is stopped', () => statusOf('one to delete') === 'cancelled');
    expect(toldAda()).toContain(`<#${channel.id}>`);
    expect(scene.replies(channel, root)).toHaveLength(0);
  });

  test('the channel is archived: the run is stopped and the asker told', async () => {
    const { channel, root } = await begin('one to archive');
    slack.archive(channel);
    await scene.finished(channel, root);
    await scene.until('the run is stopped', () => statusOf('one to archive') === 'cancelled');
    expect(toldAda()).toContain(`<#${channel.id}>`);
  });

  test('the bot is removed from the channel: the run is stopped and the asker told', async () => {
    const { channel, root } = await begin('one to leave');
    slack.kick(channel);
    await scene.finished(channel, root);
    await scene.until('the run is stopped', () => statusOf('one to leave') === 'cancelled');
    expect(toldAda()).toContain(`<#${channel.id}>`);
  });
});

describe('a refused edit', () => {
  test('the reply cannot be edited any more: it goes on once in a new message', async () => {
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
    expect(slack.shown(next)).toContain('Stopped by ada.');
  });
});
