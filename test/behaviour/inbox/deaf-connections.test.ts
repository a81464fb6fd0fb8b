import { expect, test } from 'vitest';
import { z } from 'zod';
import { openAppScene } from '../../support/app-scene.ts';

const readiness = z.looseObject({ ready: z.boolean(), deafWorkspaces: z.number() });

test('if Slack accepts posts but delivers no events, the app says so, reconnects, and reads back what it missed', async ({
  onTestFinished,
}) => {
  const release = Promise.withResolvers<void>();
  const scene = await openAppScene(
    {
      tls: true,
      agent: {
        script: async (turn) => {
          turn.write('One.');
          if (turn.text.includes('slowly')) await release.promise;
          turn.write('\n\nTwo.');
        },
      },
    },
    onTestFinished,
  );
  const { slack } = scene;
  const { db } = scene.sandbox.bot.store;
  const row = () => db.selectFrom('workspaces').selectAll().executeTakeFirstOrThrow();
  const readyz = async () =>
    readiness.parse(await (await fetch(`http://127.0.0.1:${scene.sandbox.bot.port}/readyz`)).json());
  const opened = () => slack.calls.filter(({ method }) => method === 'apps.connections.open').length;
  /** Replaces one of the connections, which is followed by a heartbeat at once. */
  const beat = async () => {
    const { last_receiving_at: before } = await row();
    const [connections, calls] = [slack.connections, opened()];
    slack.refreshSockets('refresh_requested', 1);
    await scene.until('it is replaced', () => opened() > calls && slack.connections === connections);
    await scene.until('a heartbeat is recorded', async () => {
      const { last_receiving_at: now } = await row();
      return Number(now) > Number(before);
    });
  };
  const age = async (minutes: number) => {
    const { unheard_since, heard_at } = await row();
    const aged = (time: Date | null) => time && new Date(time.getTime() - minutes * 60_000);
    const times = { unheard_since: aged(unheard_since), heard_at: aged(heard_at) };
    await db.updateTable('workspaces').set(times).execute();
  };

  const channel = scene.channel();
  const roots = ['tell me slowly', 'and slowly', 'very slowly'].map((text) => scene.ask(channel, text));
  const [root = scene.ask(channel, 'never')] = roots;
  await scene.until('all replies appear', () =>
    roots.every((one) => scene.shown(channel, one).includes('One.')),
  );
  await slack.settled();
  // The second begins after the first, so that it records all echoes until now.
  await beat();
  await beat();
  expect((await row()).heard_at).not.toBeNull();
  await age(1);

  slack.goDeaf();
  const lost = scene.reply(channel, root, 'said to the deaf');
  release.resolve();
  for (const one of roots) await scene.finished(channel, one);
  await slack.settled();
  await beat();
  await scene.until('the posts are counted', async () => (await row()).unheard_since !== null);
  expect((await readyz()).deafWorkspaces).toBe(0);
  slack.goDeaf();
  await age(2);
  await beat();
  await scene.until('it notices', async () => (await readyz()).deafWorkspaces === 1);
  expect((await readyz()).ready).toBe(true);

  await scene.finished(channel, lost);
  const next = scene.reply(channel, root, 'said to a new connection');
  await scene.finished(channel, next);
  expect(scene.sentToAgent('tell me').texts).toEqual([
    'tell me slowly',
    'said to the deaf',
    'said to a new connection',
  ]);
  await beat();
  await scene.until('posts come back', async () => (await readyz()).deafWorkspaces === 0);
});
