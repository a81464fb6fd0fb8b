import { describe, expect, test } from 'vitest';
import type { AgentScript } from '../../../sandbox/agent/agent-script.ts';
import type { Channel, Message } from '../../../sandbox/slack/slack-workspace.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { type AppScene, openAppScene } from '../../support/app-scene.ts';
import { newProject, saveChannelSettings, taskOf } from '../../support/channel-settings-scene.ts';

const script: AgentScript = async (turn) => {
  if (turn.text === 'fails') throw new Error('The script says so.');
  turn.write('Here is the answer.');
};
const table = { name: 'table.csv', mime: 'text/csv', bytes: 'a,b\n1,2\n' };

/** A scene whose service can take the operator's key for another account's. */
async function openOperators(): Promise<{ scene: AppScene; change: () => void }> {
  const apiKeys = { 'key-of-the-operator': 'one' };
  const scene = await openAppScene({ agent: { apiKeys, script } });
  return {
    scene,
    change: () => {
      apiKeys['key-of-the-operator'] = 'another';
    },
  };
}

const { scene, change } = await openOperators();
const here = await openOperators();
const leftBehind = strings.fileMissing({ name: 'table.csv', reason: 'left_behind' });
const startTask = 'POST /experimental/tasks';

const retry = async (channel: Channel, reply: Message | undefined) =>
  scene.slack.click({ person: scene.ada, channel, ts: reply?.ts ?? '', actionId: 'retry' });
const made = (on: AppScene, channel: Channel) =>
  on.agent.projects.filter(({ title }) => title === channel.name);

describe('another account of the operator', () => {
  const [talked, kept, chosen] = [scene.channel(), scene.channel(), scene.channel()];
  let waiting: Message;

  test('gets one new project for each channel, and old threads say why they cannot continue', async () => {
    const old = scene.ask(talked, 'before the change');
    const failed = scene.ask(talked, 'fails', { files: [table] });
    waiting = scene.slack.say({ person: scene.ada, channel: kept, text: scene.mention, files: [table] });
    await saveChannelSettings(scene, chosen, {
      channel_project: await newProject(scene, 'Chosen by people'),
    });
    for (const one of [old, failed]) await scene.finished(talked, one);
    await scene.finished(kept, waiting);
    change();
    const both = [scene.ask(talked, 'after the change'), scene.ask(talked, 'at the same time')];
    for (const one of both) await scene.finished(talked, one);
    for (const one of both) expect(scene.shown(talked, one)).toContain('Here is the answer.');
    expect(made(scene, talked).map(({ customer }) => customer)).toEqual(['one', 'another']);

    await scene.finished(talked, scene.reply(talked, old, 'and on with this', { files: [table] }));
    expect(scene.shown(talked, old)).toContain(strings.taskNotFound);
    await retry(talked, scene.replies(talked, old).at(-1));
    await scene.until('a new task starts', () => scene.sentToAgent('and on with this').fileIds.length === 1);
    const sent = scene.sentToAgent('and on with this');
    expect(sent.fileIds).toEqual([[expect.any(String)]]);
    // What was said under the other account is not quoted.
    expect(sent.texts).toEqual(['and on with this']);

    await retry(talked, scene.replies(talked, failed)[0]);
    await scene.until('the thread says which file is missing', () =>
      scene.shown(talked, failed).includes(leftBehind),
    );
    expect(made(scene, talked)).toHaveLength(2);
  });

  test('does not receive ids of files that were shared without text before', async () => {
    await scene.finished(kept, scene.reply(kept, waiting, 'what is in it?'));
    expect(scene.sentToAgent('what is in it?').fileIds).toEqual([[]]);
    expect(scene.shown(kept, waiting)).toContain(leftBehind);
  });

  test('does not replace a project that people chose', async () => {
    const root = scene.ask(chosen, 'in the chosen one');
    await scene.finished(chosen, root);
    expect(scene.shown(chosen, root)).toContain(strings.projectNotFound);
    expect(made(scene, chosen)).toEqual([]);
    const other = await newProject(scene, 'Chosen after that');
    await saveChannelSettings(scene, chosen, { channel_project: other });
    await retry(chosen, scene.replies(chosen, root)[0]);
    const task = await scene.until('it is asked', () => taskOf(scene, 'in the chosen one'));
    expect(task.project.id).toBe(other);
  });

  test('receives files shared without text', async () => {
    const { slack, ada, mention } = here.scene;
    const channel = here.scene.channel();
    await here.scene.finished(channel, here.scene.ask(channel, 'first'));
    here.change();
    const files = slack.say({ person: ada, channel, text: mention, files: [table] });
    await here.scene.finished(channel, files);
    await here.scene.finished(channel, here.scene.reply(channel, files, 'look at it'));
    expect(here.scene.sentToAgent('look at it').fileIds).toEqual([[expect.any(String)]]);
    expect(made(here.scene, channel)).toHaveLength(2);
  });
});

test('a project that still exists is kept when the service fails to start a task in it', async () => {
  const channel = scene.channel();
  await scene.finished(channel, scene.ask(channel, 'fine'));
  const mend = scene.agent.faults.add({ call: startTask, fault: { kind: 'status', status: 404 } });
  const root = scene.ask(channel, 'not found');
  await scene.finished(channel, root);
  expect(scene.shown(channel, root)).toContain(strings.serviceFailed);
  mend();
  expect(made(scene, channel)).toHaveLength(1);
  // A change without fields would touch the project.
  const path = `/projects/${made(scene, channel)[0]?.id}`;
  const changes = scene.agent.calls.filter((call) => call.name.startsWith('PUT') && call.path.endsWith(path));
  expect(changes).toEqual([]);
});

test('a project that the service forgets at once is created again only once for each message', async () => {
  const channel = scene.channel();
  const gone = { kind: 'status', status: 404 } as const;
  const mends = [startTask, 'GET /experimental/tasks'].map((call) =>
    scene.agent.faults.add({ call, fault: gone }),
  );
  const root = scene.ask(channel, 'nowhere');
  await scene.finished(channel, root);
  expect(scene.shown(channel, root)).toContain(strings.serviceFailed);
  for (const mend of mends) mend();
  expect(made(scene, channel)).toHaveLength(2);
});
