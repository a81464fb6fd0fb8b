import { describe, expect, test } from 'vitest';
import type { AgentScript } from '../../../sandbox/agent/agent-script.ts';
import { openProcessScene } from '../../support/process-scene.ts';

const LINE = 'Compared with the earlier answer: 1 of 2 figures agree within 1 %; n of A differs: 1, 2.';

/** Another number at each run. */
function counting(): AgentScript {
  let runs = 0;
  return async (turn) => {
    runs += 1;
    turn.write(`| Gene | n |\n|---|---|\n| A | ${runs} |\n| B | 7 |\n`);
  };
}

describe.concurrent('a process that is killed', () => {
  test.each([
    ['while it reads the earlier answer', 'slack', /^conversations\.replies$/],
    ['while it shows the comparison', 'slack', /^chat\.update$/],
  ] as const)('%s is followed by one that shows the comparison once', async (_, place, call) => {
    const closing: (() => Promise<void>)[] = [];
    const crew = await openProcessScene((close) => void closing.push(close), 'shared', counting());
    try {
      const bot = await crew.start();
      const root = crew.ask('which genes change?');
      const { user: person } = root;
      const channel = crew.slack.channel(crew.said[0]?.channel ?? '');
      const menu = () =>
        crew.replies(root).flatMap(({ ts, blocks }) => {
          const value = /"(ask_again\/[^"]+)"/.exec(JSON.stringify(blocks ?? []))?.[1];
          return value === undefined ? [] : [{ ts, value }];
        })[0];
      await crew.until('the answer has a menu', () => menu() !== undefined);
      await crew.slack.click({ person, channel, actionId: 'menu', ...menu() });
      const form = () => crew.slack.modal(person);
      await crew.until('the form is open', () => form()?.callbackId === 'start');
      const heard = crew.waitForCall(place, call);
      crew.slack.faults.add({ call, times: 1, fault: { kind: 'latency', ms: 1_000 } });
      const question = JSON.stringify(form()?.blocks).match(/"initial_value":"([^"]*)"/)?.[1] ?? '';
      await crew.slack.submitView(person, { question });
      await heard;
      await bot.kill();
      await crew.start();
      const posts = () =>
        crew.slack
          .messages(channel)
          .filter(({ user, threadTs }) => user === crew.slack.bot.userId && threadTs === undefined);
      const lines = () =>
        posts().flatMap((post) =>
          crew.slack.thread(channel.id, post.ts).filter((one) => crew.slack.visibleText(one).includes(LINE)),
        );
      await crew.until('the comparison is shown', () => lines().length > 0);
      expect(posts()).toHaveLength(1);
      expect(lines()).toHaveLength(1);
    } finally {
      for (const close of closing.toReversed()) await close();
    }
  });
});
