import { sql } from 'kysely';
import { expect, onTestFinished, test, vi } from 'vitest';
import { DatabaseProxy } from '../../../sandbox/chaos/database-proxy.ts';
import { connectionUrl } from '../../../sandbox/postgres-server.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { openAppScene } from '../../support/app-scene.ts';
import { withinMs } from '../../support/busy-machine.ts';
import { copyTemplateDatabase, dropDatabase } from '../../support/fresh-database.ts';

test('an event that the database takes longer to write than Slack waits is written all the same', async () => {
  const scene = await openAppScene({}, onTestFinished);
  await sql`
    create function take_long() returns trigger language plpgsql as $$ begin
      if new.content::text like '%heavy%' then perform pg_sleep(3); end if;
      return new;
    end $$;
    create trigger take_long before insert on messages for each row execute function take_long()`.execute(
    scene.sandbox.bot.store.db,
  );
  const channel = scene.channel();
  await scene.finished(channel, scene.ask(channel, 'heavy'));
  expect(scene.sentToAgent('heavy').texts).toEqual(['heavy']);
});

test('an event that the database always fails to take holds up no other, is told, and is read back later', async () => {
  const connection = await copyTemplateDatabase();
  onTestFinished(() => dropDatabase(connection));
  const proxy = await DatabaseProxy.start(() => connection);
  onTestFinished(() => proxy.stop());
  const scene = await openAppScene(
    {
      databaseUrl: connectionUrl(proxy.connection),
      limits: { badThingMs: 500 },
      transport: 'http',
      slack: { retryScale: 1 },
    },
    onTestFinished,
  );
  const { store } = scene.sandbox.bot;
  await sql`
    create function fail_at_poison() returns trigger language plpgsql as $$ begin
      if new.content::text like '%poison%' then
        raise exception 'canceling statement due to statement timeout' using errcode = '57014';
      end if;
      return new;
    end $$;
    create trigger fail_at_poison before insert on messages for each row execute function fail_at_poison()`.execute(
    store.db,
  );
  const reads = vi.spyOn(store.backfills, 'addThread');
  const channels = [scene.channel(), scene.channel(), scene.channel()] as const;
  const failures = () => scene.slack.deliveryStats.retries;
  const poison = scene.ask(channels[0], 'poison');
  await scene.until('the poison is kept', () => failures() > 0);
  const before = failures();
  proxy.reset('closed');
  const others = channels.slice(1).map((channel) => ({ channel, root: scene.ask(channel, 'hello') }));
  await scene.until('the others are kept', () => failures() >= before + others.length);
  proxy.restore();
  for (const { channel, root } of others) await scene.finished(channel, root, withinMs(30_000));
  // Each write of another event shows that the database is there.
  await scene.until('what was lost is to be read back', async () => {
    await scene.finished(channels[1], scene.ask(channels[1], 'still there?'));
    return reads.mock.calls.some(([{ thread_ts }]) => thread_ts === poison.ts);
  });
  await scene.until('its writer is told', () =>
    scene.slack.ephemerals(scene.ada, channels[0]).some(({ text }) => text === strings.messageGivenUp),
  );
  await sql`drop trigger fail_at_poison on messages`.execute(store.db);
  await scene.finished(channels[0], poison);
  expect(scene.sentToAgent('poison').texts).toEqual(['poison']);
});
