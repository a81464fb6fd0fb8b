import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { noteDatabaseTime } from '../../../src/calls/clocks.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { openAppScene, pause } from '../../support/app-scene.ts';

describe.concurrent.each([-3, 3])('with Slack and the service %i minutes ahead', async (minutes) => {
  const now = () => Date.now() + minutes * 60_000;
  const scene = await openAppScene({ slack: { clock: { now }, clientMsgIdDedupe: false }, agent: { now } });

  test('a task that was started without an answer is found', async () => {
    const title = `started at ${minutes}`;
    const lost = { times: 1, fault: { kind: 'lost' } } as const;
    scene.agent.faults.add({ call: 'POST /experimental/tasks', about: title, ...lost });
    const channel = scene.channel();
    await scene.finished(channel, scene.ask(channel, title));
    expect(scene.agent.tasks.filter((task) => task.title === title)).toHaveLength(1);
  });

  test('a reply that was posted without an answer is found', async () => {
    const channel = scene.channel();
    const lost = { times: 1, fault: { kind: 'lost' } } as const;
    scene.slack.faults.add({ call: 'chat.postMessage', about: channel.id, ...lost });
    const root = scene.ask(channel, `posted at ${minutes}`);
    await scene.finished(channel, root);
    expect(scene.replies(channel, root)).toHaveLength(1);
  });
});

describe('where our clock is minutes ahead of that of the database', async () => {
  const scene = await openAppScene();

  test('an answer that came soon is said to have taken seconds, and its asker is not mentioned', async () => {
    const our = Date.now;
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => our() + 4 * 60_000);
    onTestFinished(() => {
      clock.mockRestore();
      noteDatabaseTime(new Date(), Date.now());
    });
    const channel = scene.channel();
    const earlier = scene.ask(channel, 'the time is told');
    await scene.finished(channel, earlier);
    await pause(1_100);
    const root = scene.ask(channel, '/slow 60');
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toMatch(/Took \d+ s/);
    expect(scene.shown(channel, root)).not.toContain(`<@${scene.ada.id}>`);
  });

  test('a turn that a short crash loop took up often is not abandoned', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/slow 300');
    await scene.until('the answer begins', () => scene.replies(channel, root).length > 0);
    const attempts = { attempts: 7, attempts_since: new Date() };
    const { db } = scene.sandbox.bot.store;
    await db.updateTable('turns').set(attempts).where('message_ts', '=', root.ts).execute();
    const our = Date.now;
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => our() + 15 * 60_000);
    onTestFinished(() => {
      clock.mockRestore();
      noteDatabaseTime(new Date(), Date.now());
    });
    await scene.sandbox.restartBot();
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).not.toContain(strings.retriesExhausted);
  });
});
