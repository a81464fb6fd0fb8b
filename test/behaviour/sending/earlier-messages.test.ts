import { describe, expect, test } from 'vitest';
import type { Channel, Message } from '../../../sandbox/slack/slack-workspace.ts';
import { openAppScene } from '../../support/app-scene.ts';

const scene = await openAppScene({ limits: { maxTranscriptMessages: 4 } });
const { grace, slack } = scene;

/** Grace begins a thread of people. */
function begin(channel: Channel, text: string, files?: Parameters<typeof slack.say>[0]['files']): Message {
  return slack.say({ person: grace, channel, text, ...(files && { files }) });
}

/** What the agent gets of a mention in a thread of people. */
async function promptOf(channel: Channel, root: Message, question: string): Promise<string> {
  await scene.finished(channel, scene.reply(channel, root, `${scene.mention} ${question}`));
  const texts = scene.agent.tasks.flatMap(({ messages }) =>
    messages.map((one) => JSON.stringify(one.content)),
  );
  return texts.find((text) => text.includes(question)) ?? '';
}

describe.concurrent('of the messages before a mention, the agent gets', () => {
  test('none that was deleted, and no notice of that', async () => {
    const channel = scene.channel();
    const root = begin(channel, 'the wrong plate');
    scene.reply(channel, root, 'the right plate', { person: grace });
    slack.remove(channel.id, root.ts);
    const prompt = await promptOf(channel, root, 'which plate?');
    expect(prompt).toContain('(quoted: the newest message; times in UTC)');
    expect(prompt).toContain('the right plate');
    expect(prompt).not.toMatch(/the wrong plate|USLACKBOT|deleted/);
  });
});
