import { closeSync, openSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openProcessScene } from '../../support/process-scene.ts';

/** More lines than a socket holds that nobody reads, at the level of the test. */
const MESSAGES = 20;

test.concurrent.for(['has a reader that has stopped', 'is on a full disk'])(
  'a process whose log %s answers, and stops in time',
  async (why, { onTestFinished }) => {
    const crew = await openProcessScene(onTestFinished);
    const isFull = why.includes('disk');
    // Every write to it fails as on a full disk.
    const full = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(full));
    const bot = crew.spawn(undefined, { LOG_LEVEL: 'trace' }, isFull ? full : undefined);
    await crew.until('it takes events', () => crew.slack.connections > 0);
    bot.stopReading();
    const roots = Array.from({ length: MESSAGES }, (_, index) => crew.ask(`number ${index}`));
    await crew.until('everything is answered', () =>
      roots.every((root) => JSON.stringify(crew.replies(root)).includes('End of')),
    );
    expect(await bot.stop()).toBe(true);
  },
);
