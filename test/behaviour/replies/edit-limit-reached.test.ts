import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { AgentTurn } from '../../../sandbox/agent/agent-script.ts';
import type { Channel, Message } from '../../../sandbox/slack/slack-workspace.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { SharedRateLimits } from '../../../src/store/slack/shared-rate-limits.ts';
import { openAppScene, pause } from '../../support/app-scene.ts';

/** How long Slack allows no edits (ms). */
const HOLD_MS = 12_000;

/** After so many failures in a row, the next attempt would come after 15 s or more. */
const SCATTERED_FAILURES = 6;
const MAX_RECOVERY_MS = 12_000;

const paragraphs = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `Paragraph ${from + index} stands here.\n\n`).join('');
const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `line ${from + index} is here\n`).join('');

/** What the agent writes before and after the budget runs dry. */
const answers: Record<string, (turn: AgentTurn, dry: () => Promise<void>) => Promise<void>> = {
  blocks: async (turn, dry) => {
    turn.write(`${paragraphs(1, 5)}This one is half wri`);
    await dry();
    turn.write(`tten.\n\n${paragraphs(5, 8)}`);
  },
  lines: async (turn, dry) => {
    turn.write(lines(1, 20));
    await dry();
    turn.write(lines(20, 30));
  },
  fence: async (turn, dry) => {
    turn.write(`\`\`\`r\n${lines(1, 20)}`);
    await dry();
    turn.write(`${lines(20, 30)}\`\`\`\n`);
  },
  nothing: async (turn, dry) => {
    await dry();
    turn.write(paragraphs(1, 4));
  },
  rewritten: async (turn, dry) => {
    turn.write(paragraphs(1, 5));
    await dry();
    turn.rewrite(`It is all different. ${paragraphs(5, 8)}`);
  },
  long: async (turn, dry) => {
    turn.write(paragraphs(1, 300));
    await dry();
    turn.write(paragraphs(300, 800));
  },
};

let isGrowing = true;
/** Writes more for as long as the test looks at it. */
async function grow(turn: AgentTurn): Promise<void> {
  for (let count = 1; isGrowing; count += 1) {
    turn.write(`Step ${count} is done. `);
    await pause(100);
  }
}

const gates = new Map<string, PromiseWithResolvers<void>>(
  Object.keys(answers).map((name) => [name, Promise.withResolvers<void>()]),
);
const scene = await openAppScene({
  agent: {
    script: async (turn) => {
      if (turn.text === 'growing') await grow(turn);
      await answers[turn.text]?.(turn, async () => gates.get(turn.text)?.promise);
    },
  },
});
const { slack } = scene;

/** Lets no edit be allowed for another while, however slow the machine is. */
async function holdOn(): Promise<void> {
  const { db } = scene.sandbox.bot.store;
  const blocked_until = sql<Date>`clock_timestamp() + ${HOLD_MS} * interval '1 ms'`;
  await db.updateTable('rate_limits').set({ blocked_until }).where('limit_key', '=', 'chat.update').execute();
}

/** Lets no edit be allowed; returns how many there were, once the process knows. */
async function stopEdits(): Promise<number> {
  await new SharedRateLimits(scene.sandbox.bot.store.db).pause(slack.team.id, 'chat.update', HOLD_MS);
  await scene.until('the process knows that there are no edits', async () => {
    const then = editCount();
    await holdOn();
    await pause(1_000);
    return editCount() === then;
  });
  return editCount();
}

const editCount = () => slack.calls.filter(({ method }) => method === 'chat.update').length;

/** Waits until the end of an answer shows, while no edit is allowed. */
function endShows(name: string, { channel, root }: { channel: Channel; root: Message }): Promise<unknown> {
  const ends = { lines: 'line 29', fence: 'line 29', nothing: 'Paragraph 3', long: 'Paragraph 799' };
  const end = new Map(Object.entries(ends)).get(name) ?? 'Paragraph 7';
  return scene.until(`the end of ${name} shows`, async () => {
    if (scene.shown(channel, root).includes(end)) return true;
    await holdOn();
    return false;
  });
}

test('scattered failures of edits hold up a growing answer no longer than the first one', async () => {
  const channel = scene.channel();
  const root = scene.ask(channel, 'growing');
  const edits = () => scene.replies(channel, root).reduce((sum, { versions }) => sum + versions.length, 0);
  const untilTwoMoreEdits = (withinMs?: number) => {
    const before = edits();
    return scene.until('it is edited twice more', () => edits() >= before + 2, withinMs);
  };
  const call = 'chat.update';
  const error = { ok: false, error: 'internal_error' };
  // The answer grows during each edit, so that another one follows at once.
  const slowDown = () => slack.faults.add({ call, fault: { kind: 'latency', ms: 300 } });
  let speedUp = slowDown();
  await untilTwoMoreEdits();
  for (let times = 1; times <= SCATTERED_FAILURES; times += 1) {
    speedUp();
    slack.faults.add({ call, fault: { kind: 'status', status: 200, body: error }, times: 1 });
    speedUp = slowDown();
    // One edit may be under way: the next one fails, and the one after that succeeds.
    await untilTwoMoreEdits(times === SCATTERED_FAILURES ? MAX_RECOVERY_MS : undefined);
  }
  speedUp();
  isGrowing = false;
  await scene.finished(channel, root);
  expect(scene.shown(channel, root)).toContain('Step 1 is done.');
});

describe('an answer that ends while Slack allows no edits', () => {
  const threads = new Map<string, { channel: Channel; root: Message }>();
  const thread = (name: string) => {
    const found = threads.get(name);
    if (found === undefined) throw new Error(`No thread for ${name}.`);
    return found;
  };
  const draft = new Map<string, string | undefined>();

  test('is readable in full at once', async () => {
    for (const name of Object.keys(answers)) {
      const channel = scene.channel();
      threads.set(name, { channel, root: scene.ask(channel, name) });
    }
    for (const [name, { channel, root }] of threads) {
      const seen = { nothing: 'Stop', fence: 'line 19', lines: 'line 19' }[name] ?? 'Paragraph 4';
      await scene.until(`the beginning of ${name} shows`, () => scene.shown(channel, root).includes(seen));
      draft.set(name, scene.replies(channel, root)[0]?.ts);
    }
    const before = await stopEdits();
    for (const gate of gates.values()) gate.resolve();
    for (const [name, place] of threads) await endShows(name, place);
    expect(editCount()).toBe(before);
  });

  test('is shown once and in order when edits are allowed again', async () => {
    for (const { channel, root } of threads.values()) await scene.finished(channel, root);
    const numbers = (name: string) => {
      const { channel, root } = thread(name);
      const shown = scene.shown(channel, root);
      return [...shown.matchAll(/(?:Paragraph|line) (\d+) /g)].map(([, number]) => Number(number));
    };
    const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
    expect(numbers('blocks')).toEqual(range(1, 8));
    expect(numbers('lines')).toEqual(range(1, 30));
    expect(numbers('fence')).toEqual(range(1, 30));
    expect(numbers('nothing')).toEqual(range(1, 4));
    expect(numbers('rewritten')).toEqual(range(5, 8));
    expect(numbers('long')).toEqual(range(1, 800));
    const { channel, root } = thread('blocks');
    expect(scene.shown(channel, root).match(/This one is half/g)).toHaveLength(1);
    expect(scene.shown(channel, root)).toContain('This one is half written.');
  });

  test.each(Object.keys(answers))('leaves neither a Stop button nor a progress line (%s)', (name) => {
    const { channel, root } = thread(name);
    const replies = scene.replies(channel, root);
    expect(JSON.stringify(replies.map(({ blocks }) => blocks))).not.toContain('"stop"');
    for (const line of [strings.phases.starting, strings.phases.working])
      expect(scene.shown(channel, root)).not.toContain(line);
  });

  test('continues below what is already shown, between blocks and between lines', () => {
    for (const name of ['blocks', 'lines']) {
      const { channel, root } = thread(name);
      const [first, ...more] = scene.replies(channel, root);
      expect(first?.ts).toBe(draft.get(name));
      expect(more).toHaveLength(1);
    }
  });

  test.each(['fence', 'nothing', 'rewritten'])(
    'is posted again in full where it cannot continue below (%s)',
    (name) => {
      const { channel, root } = thread(name);
      const replies = scene.replies(channel, root);
      expect(replies).toHaveLength(1);
      expect(replies[0]?.ts).not.toBe(draft.get(name));
    },
  );
});

test('an answer whose beginning another process has shown is posted again where no edit is allowed', async () => {
  gates.set('blocks', Promise.withResolvers());
  const channel = scene.channel();
  const root = scene.ask(channel, 'blocks');
  await scene.until('its beginning shows', () => scene.shown(channel, root).includes('Paragraph 4'));
  await stopEdits();
  await scene.sandbox.restartBot();
  gates.get('blocks')?.resolve();
  await endShows('blocks', { channel, root });
  await scene.finished(channel, root);
  const numbers = [...scene.shown(channel, root).matchAll(/Paragraph (\d+) /g)].map(([, number]) => number);
  expect(numbers).toEqual(['1', '2', '3', '4', '5', '6', '7']);
});
