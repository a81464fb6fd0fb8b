import { describe, expect, test } from 'vitest';
import type { AgentScript } from '../../../sandbox/agent/agent-script.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { type AppScene, openAppScene } from '../../support/app-scene.ts';

const script: AgentScript = async (turn) => {
  if (turn.text.includes('hold')) {
    await turn.ask('1. Read. 2. Fit. Shall I?');
    await turn.sleep(600_000);
  }
  if (turn.text.includes('wait')) turn.write(`You said: ${await turn.ask('1. Read. 2. Fit. Shall I?')}`);
  else turn.write(`For "${turn.text}": first I read, then I fit.`);
};
const settings = { AGENT_DIALECT: JSON.stringify({ planModeField: 'plan_mode' }) };
const scene = await openAppScene({ agent: { script }, settings });

async function offered(on: AppScene, text: string) {
  const channel = on.channel();
  const root = on.ask(channel, `--plan ${text}`);
  const { ts } = await on.messageWithButton(channel, root, 'go_ahead');
  const press = (actionId: string, person = on.ada) => on.slack.click({ person, channel, ts, actionId });
  const toldOver = (person = on.ada) =>
    on.until('they are told', () =>
      on.slack.ephemerals(person, channel).find((one) => one.text.includes('so nothing changed')),
    );
  return { channel, root, press, toldOver };
}

describe.concurrent('a task that was begun with "Plan first"', () => {
  test('offers to go ahead below a finished answer, once, and records who did', async () => {
    const { channel, root, press, toldOver } = await offered(scene, 'count the genes');
    await scene.finished(channel, root);
    await Promise.all([press('go_ahead'), press('stop_here')]);
    const texts = await scene.until('the agent has it', () => {
      const sent = scene.sentToAgent('count the genes').texts;
      return sent.length > 1 && sent;
    });
    expect(Object.values(strings.planAnswers)).toContain(texts[1]);
    const control = texts[1] === strings.planAnswers.go_ahead ? 'go_ahead' : 'stop_here';
    const late = strings.pressedTooLate(strings.buttonUsed('ada', control));
    expect((await toldOver()).text).toBe(late);
    const [plan] = scene.replies(channel, root);
    await scene.until(
      'the buttons have left',
      () => !/go_ahead|stop_here/.test(JSON.stringify(plan?.blocks)),
    );
    expect(scene.shown(channel, root)).toContain(strings.buttonUsed('ada', control));
    const { store } = scene.sandbox.bot;
    const rows = [];
    for await (const row of store.audit.read({ since: new Date(0) }))
      if (row.channel === channel.id) rows.push(row);
    expect(rows.filter(({ kind }) => kind === 'approval')).toMatchObject([{ user_id: scene.ada.id }]);
    await scene.until('it is answered', () => scene.shown(channel, root).includes(`For "${texts[1]}`));
    expect(scene.sentToAgent('count the genes').texts).toHaveLength(2);
    await scene.until(
      'the second answer is finished',
      () => scene.shown(channel, root).match(/Took/g)?.length === 2,
    );
    const last = scene.replies(channel, root).at(-1);
    expect(JSON.stringify(last?.blocks)).not.toContain('go_ahead');
  });

  test('goes ahead in a run that waits', async () => {
    const { channel, root, press } = await offered(scene, 'wait for me');
    await press('stop_here');
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain(`You said: ${strings.planAnswers.stop_here}`);
    expect(scene.sentToAgent('wait for me').texts).toHaveLength(2);
    // There is no message below which a mark could say that it was taken.
    const isMark = ({ method, args }: (typeof scene.slack.calls)[number]) =>
      method === 'reactions.add' && args.channel === channel.id;
    expect(scene.slack.calls.filter(isMark).filter(({ ok }) => !ok)).toEqual([]);
    expect(scene.shown(channel, root)).toContain(strings.buttonUsed('ada', 'stop_here'));
    expect(JSON.stringify(scene.replies(channel, root).map(({ blocks }) => blocks))).not.toMatch(
      /go_ahead|stop_here/,
    );
  });

  test('goes ahead the moment a run that was told something ends with its plan', async () => {
    const { channel, root } = await offered(scene, 'wait to be told');
    const gate = Promise.withResolvers<void>();
    const task = scene.taskOf('wait to be told');
    const held = { kind: 'hold', until: gate.promise } as const;
    scene.agent.faults.add({ call: /^GET .*results$/, about: task?.id ?? '', fault: held });
    scene.reply(channel, root, 'leave out the mice');
    const { ts } = await scene.until('the plan is finished', () =>
      scene.replies(channel, root).find((one) => /You said.*go_ahead/s.test(JSON.stringify(one.blocks))),
    );
    await scene.slack.click({ person: scene.ada, channel, ts, actionId: 'go_ahead' });
    gate.resolve();
    const texts = await scene.until('the agent has it', () => {
      const sent = scene.sentToAgent('wait to be told').texts;
      return sent.length > 2 && sent;
    });
    expect(texts).toEqual(['wait to be told', 'leave out the mice', strings.planAnswers.go_ahead]);
  });

  test('is settled by any other answer in the thread, also after a restart', async ({ onTestFinished }) => {
    const own = await openAppScene({ agent: { script }, settings }, onTestFinished);
    const { channel, root, press, toldOver } = await offered(own, 'fit a model');
    await own.finished(channel, root);
    await own.finished(channel, own.reply(channel, root, 'leave out the mice'));
    const { ts } = await own.messageWithButton(channel, root, 'go_ahead');
    await own.sandbox.restartBot();
    await press('go_ahead');
    await toldOver();
    await own.slack.click({ person: own.ada, channel, ts, actionId: 'go_ahead' });
    const texts = await own.until('the agent has it', () => {
      const sent = own.sentToAgent('fit a model').texts;
      return sent.length > 2 && sent;
    });
    expect(texts).toEqual(['fit a model', 'leave out the mice', strings.planAnswers.go_ahead]);
  });

  test('leaves Try again usable when it comes too late', async () => {
    const { channel, root, press, toldOver } = await offered(scene, 'hold on');
    // The buttons stay until they are pressed.
    const gate = Promise.withResolvers<void>();
    const held = { kind: 'hold', until: gate.promise } as const;
    scene.slack.faults.add({ call: 'chat.update', about: channel.id, fault: held });
    scene.reply(channel, root, 'leave out the rats');
    await scene.until('the run has it', () => scene.sentToAgent('hold on').texts.length === 2);
    await press('go_ahead');
    gate.resolve();
    await toldOver();
    await press('stop');
    await scene.finished(channel, root);
    await press('retry');
    const texts = await scene.until('it is sent again', () => {
      const sent = scene.sentToAgent('hold on').texts;
      return sent.length > 2 && sent;
    });
    expect(texts).toEqual(['hold on', 'leave out the rats', 'hold on']);
  });

  test('takes an answer only from those who may control it', async () => {
    const guest = scene.slack.createPerson({ name: 'gus', kind: 'guest' });
    const { channel, root, press } = await offered(scene, 'mine alone');
    await scene.finished(channel, root);
    await press('go_ahead', guest);
    await scene.until('they are refused', () => scene.slack.ephemerals(guest, channel).length > 0);
    expect(scene.sentToAgent('mine alone').texts).toHaveLength(1);
  });

  test('offers nothing in other tasks', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, 'no plan here');
    await scene.finished(channel, root);
    expect(JSON.stringify(scene.replies(channel, root).map(({ blocks }) => blocks))).not.toContain(
      'go_ahead',
    );
  });
});
