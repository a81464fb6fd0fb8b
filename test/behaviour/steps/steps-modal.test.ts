import { describe, expect, test } from 'vitest';
import type { Channel, Message, Person } from '../../../sandbox/slack/slack-workspace.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { openAppScene } from '../../support/app-scene.ts';

const scene = await openAppScene();
const { slack } = scene;
const READ = 'GET /experimental/tasks/{task_id}/messages/{message_id}';

/** What the person's open modal shows. */
function modal(person: Person = scene.ada): string {
  return JSON.stringify(slack.modal(person)?.blocks ?? []);
}

async function pressSteps(channel: Channel, root: Message): Promise<void> {
  const [reply] = scene.replies(channel, root);
  await slack.click({ person: scene.ada.id, channel: channel.id, ts: reply?.ts ?? '', actionId: 'steps' });
}

describe('the steps of a turn', () => {
  test('open in a modal with pages, even after a restart, which says where the service fails', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/tools 12');
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain('12 steps in');
    await scene.sandbox.restartBot();
    await pressSteps(channel, root);
    await scene.until('the first steps are there', () => modal().includes('1. Looked up: entry 1'));
    expect(modal()).toContain('Nothing about entry 10');
    expect(modal()).not.toContain('entry 11');
    await slack.click({ person: scene.ada.id, view: 'modal', actionId: 'steps_next_page' });
    await scene.until('the last steps are there', () => modal().includes('12. Looked up: entry 12'));
    await slack.click({ person: scene.ada.id, view: 'modal', actionId: 'steps_page' });
    await scene.until('the first steps are there again', () => modal().includes('Nothing about entry 10'));
    scene.agent.faults.add({ call: READ, fault: { kind: 'status', status: 403 }, times: 1 });
    await slack.click({ person: scene.ada.id, view: 'modal', actionId: 'steps_next_page' });
    await scene.until('the window says so', () => modal().includes(strings.modalUnavailable));
    await slack.closeView(scene.ada);
  });

  test('are reported as gone where the service has lost them', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/tools 1');
    await scene.finished(channel, root);
    scene.agent.faults.add({ call: READ, fault: { kind: 'status', status: 404 }, times: 1 });
    await pressSteps(channel, root);
    const said = await scene.until('the modal is filled', () => /no longer has|Looked up/.exec(modal())?.[0]);
    expect(said).toBe('no longer has');
  });

  test('open before the person is known, as the comment does, and a refusal is shown in the modal', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/tools 1');
    await scene.finished(channel, root);
    const key = { workspace: slack.team.id, channel: channel.id, ts: root.ts };
    const turn = await scene.sandbox.bot.store.turns.ofMessage(key);
    const [reply] = scene.replies(channel, root);
    const press = { person: scene.grace, channel, ts: reply?.ts ?? '' };
    await slack.click({ ...press, actionId: 'feedback', value: `good/${turn?.id}` });
    const thanks = await scene.until('thanks are there', () => slack.ephemerals(scene.grace, channel)[0]);
    await scene.sandbox.restartBot();
    const mend = slack.faults.add({ call: 'users.info', fault: { kind: 'status', status: 503 } });
    await slack.click({ ...press, actionId: 'steps' });
    await scene.until('the window is there', () => modal(scene.grace).includes(strings.loading));
    const said = strings.controlRefused.unknown;
    await scene.until('the window says so', () => modal(scene.grace).includes(said));
    await slack.closeView(scene.grace);
    await slack.click({ ...press, ts: thanks.ts, actionId: 'feedback_comment' });
    await scene.until('the window says so', () => modal(scene.grace).includes(said));
    mend();
    expect(slack.ephemerals(scene.grace, channel)).toHaveLength(1);
  });

  test('are asked for again where the trigger has expired', async () => {
    const channel = scene.channel();
    const root = scene.ask(channel, '/tools 1');
    await scene.finished(channel, root);
    const body = { ok: false, error: 'expired_trigger_id' };
    scene.slack.faults.add({ call: 'views.open', fault: { kind: 'status', status: 200, body }, times: 1 });
    await pressSteps(channel, root);
    const said = await scene.until('a sentence is there', () => slack.ephemerals(scene.ada, channel)[0]);
    expect(said.text).toContain(strings.controlFailed.late);
  });
});
