import { describe, expect, test } from 'vitest';
import type { Person } from '../../../sandbox/slack/slack-workspace.ts';
import { WHOLE_WORKSPACE } from '../../../src/store/workspaces/settings-store.ts';
import { openAppScene } from '../../support/app-scene.ts';

const scene = await openAppScene();
const { slack } = scene;

/** Somebody writes to the bot, at the top of their direct messages or in a thread there. */
async function write(person: Person, text: string, thread?: string) {
  const dm = slack.openDm(person);
  const said = slack.say({ person, channel: dm, text, ...(thread !== undefined && { thread }) });
  await scene.finished(dm, said);
  return { dm, said };
}

describe('direct messages with an app that Slack lists as an agent', () => {
  test('offer prompts when they are opened, and title their threads like the tasks', async ({
    onTestFinished,
  }) => {
    const other = await openAppScene(
      { slack: { agent: true }, settings: { AGENT_SESSIONS: 'true' } },
      onTestFinished,
    );
    const called = (method: string) => other.slack.calls.filter((call) => call.method === method && call.ok);
    // The status that begins the session may come later than the title.
    const body = { ok: false, error: 'session_not_found' };
    const fault = { kind: 'status', status: 200, body } as const;
    other.slack.faults.add({ call: 'agents.sessions.rename', fault, times: 1 });
    other.slack.openHome(other.ada, 'messages');
    await other.until('prompts are set', () => called('assistant.threads.setSuggestedPrompts').length > 0);
    const dm = other.slack.openDm(other.ada);
    const said = other.slack.say({ person: other.ada, channel: dm, text: 'Weigh a proton' });
    await other.finished(dm, said);
    await other.until('the title is set', () => called('agents.sessions.rename').length > 0);
    const [prompts] = called('assistant.threads.setSuggestedPrompts');
    expect(prompts).toMatchObject({ ok: true, args: { channel_id: dm.id } });
    expect(called('agents.sessions.rename')).toMatchObject([
      { ok: true, args: { channel_id: dm.id, thread_ts: said.ts, title: 'Weigh a proton' } },
    ]);
    const channel = other.channel();
    const root = other.ask(channel, 'Not in a direct message');
    await other.finished(channel, root);
    expect(called('agents.sessions.rename')).toHaveLength(1);
    const off = { direct_messages: 'off' } as const;
    await other.sandbox.bot.store.settings.set(other.slack.team.id, WHOLE_WORKSPACE, other.ada.id, off);
    other.slack.openHome(other.grace, 'messages');
    await other.slack.settled();
    await other.expectStays(() => called('assistant.threads.setSuggestedPrompts').length, 1);
  });
});

describe('prompts that Slack suggests', () => {
  const agent = { slack: { agent: true }, settings: { AGENT_SESSIONS: 'true' } };
  const SUGGEST = 'assistant.threads.setSuggestedPrompts';

  test('are not what the greeting depends on', async ({ onTestFinished }) => {
    const other = await openAppScene(agent, onTestFinished);
    const body = { ok: false, error: 'missing_scope', needed: 'assistant:write' };
    other.slack.faults.add({ call: SUGGEST, fault: { kind: 'status', status: 200, body } });
    other.slack.openHome(other.ada, 'messages');
    const dm = other.slack.openDm(other.ada);
    const greeting = await other.until('ada is greeted', () => other.slack.messages(dm)[0]);
    expect(JSON.stringify(greeting.blocks)).toContain('ask_agent');
  });

  test('are not for people who may not use the agent', async ({ onTestFinished }) => {
    const other = await openAppScene(agent, onTestFinished);
    const suggested = () => other.slack.calls.filter(({ method }) => method === SUGGEST);
    other.slack.openHome(other.slack.createPerson({ name: 'gast', kind: 'guest' }), 'messages');
    await other.slack.settled();
    await other.expectStays(() => suggested().length, 0);
    other.slack.openHome(other.ada, 'messages');
    await other.until('prompts are set', () => suggested().length > 0);
    expect(suggested()).toMatchObject([{ ok: true, args: { channel_id: other.slack.openDm(other.ada).id } }]);
  });
});

describe('direct messages', () => {
  test('work like a channel: one project named after the person, and a thread for each task', async () => {
    const lise = slack.createPerson({ name: 'lise' });
    const { dm, said } = await write(lise, 'What is in a neutron?');
    await write(lise, 'and in a proton?', said.ts);
    const { texts } = scene.sentToAgent('What is in a neutron?');
    expect(texts).toEqual(['What is in a neutron?', 'and in a proton?']);
    const projects = scene.agent.projects.filter(({ title }) => title === 'Direct messages with lise');
    expect(projects).toHaveLength(1);
    slack.openHome(lise);
    const home = () => JSON.stringify(slack.home(lise)?.blocks ?? []);
    await scene.until('the task is in the Home tab', () => home().includes('direct message'));
    expect(home()).toContain('What is in a neutron?');
    expect(scene.shown(dm, said)).not.toContain('new task');
  });

  test('say once that a new top-level message starts a new task', async () => {
    const otto = slack.createPerson({ name: 'otto' });
    const first = await write(otto, 'a first question of Otto');
    const second = await write(otto, 'a second question of Otto');
    await scene.until('it is told', () => scene.shown(second.dm, second.said).includes('starts a new task'));
    const shown = scene.shown(second.dm, second.said);
    expect(shown).toContain(`/archives/${first.dm.id}/p${first.said.ts.replace('.', '')}`);
    await scene.sandbox.restartBot();
    const third = await write(otto, 'a third question of Otto');
    await scene.expectStays(() => scene.shown(third.dm, third.said).includes('starts a new task'), false);
    expect(scene.sentToAgent('a third question of Otto').texts).toHaveLength(1);
  });

  test('name the previous thread without a link where Slack gives none', async () => {
    const carol = slack.createPerson({ name: 'carol' });
    await write(carol, 'a first question of Carol');
    const body = { ok: false, error: 'restricted_action' };
    const fault = { kind: 'status', status: 200, body } as const;
    const back = slack.faults.add({ call: 'chat.getPermalink', fault });
    const second = await write(carol, 'a second question of Carol');
    await scene.until('it is told', () =>
      scene.shown(second.dm, second.said).includes('reply in its thread'),
    );
    expect(scene.shown(second.dm, second.said)).not.toContain('/archives/');
    back();
  });

  test('have neither prompts nor titles where Slack does not list the app as an agent', async () => {
    slack.openHome(scene.ada, 'messages');
    await slack.settled();
    await write(scene.ada, 'Nothing but words');
    expect(slack.calls.filter(({ method }) => method.startsWith('assistant.'))).toEqual([]);
  });
});
