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

  test('all but the one that somebody asked about before', async () => {
    const channel = scene.channel();
    const root = begin(channel, 'the plates of Monday');
    const odd = scene.reply(channel, root, 'the odd well', { person: grace });
    scene.reply(channel, root, 'it is B7', { person: grace });
    const { ada: person } = scene;
    await slack.shortcut({ person, callbackId: 'ask_about', channel, ts: odd.ts });
    await scene.until('the form is open', () => slack.modal(person)?.callbackId === 'start');
    await slack.submitView(person, { question: 'is a well odd?' });
    const asked = await scene.until('it is asked', () =>
      scene.replies(channel, root).find(({ text }) => text.includes('is a well odd?')),
    );
    await scene.finished(channel, asked);
    scene.reply(channel, root, 'B8, too', { person: grace });
    const prompt = await promptOf(channel, root, 'which wells are odd?');
    expect(prompt).toMatch(/all 3 messages; .*the plates of Monday.*it is B7.*B8, too.*The question:/);
    expect(prompt).not.toContain('the odd well');
    expect(await promptOf(channel, root, 'and now?')).not.toContain('the plates of Monday');
  });
});
