import { describe, expect, test } from 'vitest';
import type { Person } from '../../src/sandbox/slack/workspace.ts';
import { openScene, pause } from './scene.ts';

const scene = await openScene();
const { slack } = scene;

/** Somebody writes to the bot, at the top of their direct messages or in a thread there. */
async function write(person: Person, text: string, thread?: string) {
  const dm = slack.openDm(person);
  const said = slack.say({ person, channel: dm, text, ...(thread !== undefined && { thread }) });
  await scene.finished(dm, said);
  return { dm, said };
}

describe('direct messages', () => {
  test('work like a channel of one: a project named after the person, a thread for each task', async () => {
    const lise = slack.createPerson({ name: 'lise' });
    const { dm, said } = await write(lise, 'What is in a neutron?');
    await write(lise, 'and in a proton?', said.ts);
    const { texts } = scene.told('What is in a neutron?');
    expect(texts).toEqual(['What is in a neutron?', 'and in a proton?']);
    const projects = scene.agent.projects.filter(({ title }) => title === 'Direct messages with lise');
    expect(projects).toHaveLength(1);
    slack.openHome(lise);
    const home = () => JSON.stringify(slack.home(lise)?.blocks ?? []);
    await scene.until('the task is in the Home tab', () => home().includes('direct message'));
    expect(home()).toContain('What is in a neutron?');
    expect(scene.shown(dm, said)).not.toContain('new task');
  });

  test('a message below a finished thread begins a new task, and that is told once', async () => {
    const otto = slack.createPerson({ name: 'otto' });
    const first = await write(otto, 'a first question of Otto');
    const second = await write(otto, 'a second question of Otto');
    await scene.until('it is told', () => scene.shown(second.dm, second.said).includes('begins a new task'));
    const shown = scene.shown(second.dm, second.said);
    expect(shown).toContain(`/archives/${first.dm.id}/p${first.said.ts.replace('.', '')}`);
    await scene.stage.restartBot();
    const third = await write(otto, 'a third question of Otto');
    await pause(300);
    expect(scene.shown(third.dm, third.said)).not.toContain('begins a new task');
    expect(scene.told('a third question of Otto').texts).toHaveLength(1);
  });

  test('say it again where Slack surely did not take it', async () => {
    const carol = slack.createPerson({ name: 'carol' });
    await write(carol, 'a first question of Carol');
    const before = slack.calls.length;
    const body = { ok: false, error: 'restricted_action' };
    const fault = { kind: 'status', status: 200, body } as const;
    const back = slack.faults.add({ call: 'chat.getPermalink', fault });
    const second = await write(carol, 'a second question of Carol');
    await scene.until('it is told', () =>
      scene.shown(second.dm, second.said).includes('reply in its thread'),
    );
    back();
    expect(slack.calls.length).toBeGreaterThan(before);
  });

  test('have no prompts and titles where the app is no agent', async () => {
    slack.openHome(scene.ada, 'messages');
    await slack.settled();
    await write(scene.ada, 'Nothing but words');
    expect(slack.calls.filter(({ method }) => method.startsWith('assistant.'))).toEqual([]);
  });
});
