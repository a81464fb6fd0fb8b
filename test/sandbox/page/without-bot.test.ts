import { beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, testCommands } from '../../support/bolt-test-app.ts';
import { type BrowserScene, describeInBrowser, openBrowserScene } from '../../support/browser-scene.ts';
import { accessibilityTests } from './accessibility.ts';
import { blockTests } from './blocks.ts';

// A browser costs seconds, so all of it happens in one workspace, in this order.
describeInBrowser('the page beside an app of the tests', () => {
  let visit: BrowserScene;
  let heard: unknown[];
  beforeAll(async () => {
    const slack = { limits: 'off', agent: true } as const;
    visit = await openBrowserScene({ bot: false, slack, manifestCommands: testCommands });
    const started = await startTestApp(visit.sandbox.slack);
    heard = started.heard;
    return async () => {
      await started.app.stop();
      await visit.close();
    };
  });

  describe('for everybody', () => {
    accessibilityTests(() => visit);
  });
  describe('what apps show', () => {
    blockTests(() => ({ visit, heard }));
  });

  test('nothing goes wrong on the page, and nothing is fetched from elsewhere', () => {
    expect(visit.problems).toEqual([]);
    expect([...visit.hosts]).toEqual(['127.0.0.1']);
  });
});
