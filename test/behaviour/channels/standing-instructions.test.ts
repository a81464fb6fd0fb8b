import { describe, expect, test } from 'vitest';
import { OAUTH_SECRET_KEY } from '../../../sandbox/bot-settings.ts';
import type { Channel, Message, Person } from '../../../sandbox/slack/slack-workspace.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { auditRows, openChannelSettings } from '../../support/channel-settings-scene.ts';
import { openStartFormScene } from '../../support/start-form-scene.ts';

const starting = await openStartFormScene({
  agent: { behaviour: { skillOnTask: 'runs' } },
  settings: { SECRET_KEY: OAUTH_SECRET_KEY },
});
const { scene } = starting;
const { slack } = scene;
const workspace = slack.team.id;
/** That of the bot that runs now. */
const store = () => scene.sandbox.bot.store;

const INSTRUCTIONS = 'Mouse, GRCm39.\nCite PMIDs.';

/** A new channel whose instructions a newcomer has set. */
async function instructedChannel(text = INSTRUCTIONS): Promise<{ channel: Channel; person: Person }> {
  const { channel, person } = starting.personInChannel();
  const form = await openChannelSettings(scene, person, channel);
  expect(await form.save({ channel_instructions: text })).toBeUndefined();
  return { channel, person };
}

/** What stands below a reply whose message quotes the instructions. */
async function line({ channel, person }: { channel: Channel; person: Person }): Promise<string> {
  const { instructions } = await store().settings.get(workspace, channel.id);
  return strings.withInstructions(person.name, instructions?.set_at ?? new Date(0));
}

/** Ada asks, and reads the answer. */
async function ask(channel: Channel, text: string): Promise<Message> {
  const root = scene.ask(channel, text);
  await scene.finished(channel, root);
  return root;
}

function turnsIn({ id }: Channel) {
  const columns = ['prompt', 'instructions_set_by', 'instructions_set_at'] as const;
  return store().db.selectFrom('turns').select(columns).where('channel', '=', id).execute();
}

describe.concurrent("a channel's standing instructions", () => {
  test('are quoted before the first message of each new task, and named below its reply', async () => {
    const set = await instructedChannel();
    const { channel, person } = set;
    const root = await ask(channel, 'which genome?');
    const heading = strings.standingInstructions(person.name, new Date());
    const quoted = `${heading}\n\n> Mouse, GRCm39.\n> Cite PMIDs.\n\n---\n\n${strings.messageBelow}\n\n`;
    expect(scene.sentToAgent('which genome').texts).toEqual([`${quoted}which genome?`]);
    expect(scene.shown(channel, root)).toContain(await line(set));
    expect(scene.shown(channel, root)).not.toContain(strings.conversationQuoted);
    await scene.finished(channel, scene.reply(channel, root, 'and of rats?'));
    expect(scene.sentToAgent('which genome').texts[1]).toBe('and of rats?');
    expect(scene.shown(channel, root).split(await line(set))).toHaveLength(2);
    const atOnce = [scene.ask(channel, 'which exome?')];
    for (const more of ['with which kit?', 'and how deep?'])
      atOnce.push(scene.reply(channel, atOnce[0] ?? root, more));
    for (const one of atOnce) await scene.finished(channel, one);
    const texts = [`${quoted}which exome?`, 'with which kit?', 'and how deep?'];
    expect(scene.sentToAgent('which exome').texts.join('\n\n')).toBe(texts.join('\n\n'));
  });

  test('are encrypted, and the audit trail tells who set them and how long they are', async () => {
    const { channel, person } = await instructedChannel();
    const row = store().db.selectFrom('settings').selectAll().where('channel', '=', channel.id);
    expect(JSON.stringify(await row.execute())).not.toMatch(/GRCm39|PMID/);
    const again = await openChannelSettings(scene, scene.grace, channel);
    expect(again.shown).toContain('GRCm39');
    expect(again.shown).toContain(`Set by <@${person.id}> on `);
    expect(await again.save({ channel_instructions: INSTRUCTIONS, channel_model: 'max' })).toBeUndefined();
    expect((await store().settings.get(workspace, channel.id)).instructions?.set_by).toBe(person.id);
    const last = await openChannelSettings(scene, scene.grace, channel);
    expect(await last.save({ channel_instructions: ' ' })).toBeUndefined();
    expect(await auditRows(scene, channel, 'setting')).toEqual([
      { user_id: person.id, details: { instructions: { characters: INSTRUCTIONS.length } } },
      { user_id: scene.grace.id, details: { model: 'max' } },
      { user_id: scene.grace.id, details: { instructions: null } },
    ]);
  });

  test('go neither with a skill nor to another channel', async () => {
    const { channel } = await instructedChannel();
    const root = await ask(channel, '--skill summary what is in the freezer?');
    expect(scene.sentToAgent('what is in the freezer').texts).toEqual(['what is in the freezer?']);
    await ask(scene.channel(), 'what is in the fridge?');
    expect(scene.sentToAgent('what is in the fridge').texts).toEqual(['what is in the fridge?']);
    expect(scene.shown(channel, root)).toContain(strings.withoutInstructions);
    expect(scene.shown(channel, root)).not.toContain(strings.withInstructions('', new Date()).slice(0, 30));
  });

  test('stand in the start form, but not before people of whom Slack does not say who they are', async () => {
    const { channel, person } = await instructedChannel();
    const { instructions } = await store().settings.get(workspace, channel.id);
    await starting.command(person, channel, 'new');
    await starting.form(person);
    expect(starting.modalText(person)).toContain('Cite PMIDs.');
    const setAt = instructions?.set_at ?? new Date(0);
    expect(starting.modalText(person)).toContain(strings.instructionsSetBy(channel.id, person.id, setAt));

    const stranger = slack.createPerson({ name: 'stranger', kind: 'stranger' });
    const unknown = slack.createPerson({ name: 'unknown' });
    for (const one of [stranger, unknown]) channel.members.add(one.id);
    const failed = { kind: 'status', status: 200, body: { ok: false, error: 'internal_error' } } as const;
    slack.faults.add({ call: 'users.info', about: unknown.id, fault: failed });
    await starting.command(stranger, channel, 'new');
    await starting.command(unknown, channel, 'new');
    await starting.form(unknown);
    await scene.until('the stranger is refused', () => {
      const shown = starting.modalText(stranger);
      return shown !== '[]' && !shown.includes(strings.loading);
    });
    expect(starting.modalText(unknown)).toContain('"question"');
    for (const one of [stranger, unknown]) expect(starting.modalText(one)).not.toContain('PMIDs');
  });

  test('are gone once the person who set them is forgotten, with the prompts that quote them', async () => {
    const { channel, person } = await instructedChannel();
    await ask(channel, 'which strain?');
    expect(await store().personErasure.eraseUser(workspace, person.id)).toBeDefined();
    expect(await store().personErasure.eraseUser(workspace, person.id)).toBeUndefined();
    expect((await store().settings.get(workspace, channel.id)).instructions).toBeNull();
    expect(await turnsIn(channel)).toEqual([
      { prompt: null, instructions_set_by: '', instructions_set_at: expect.any(Date) },
    ]);
    await ask(channel, 'which diet?');
    expect(scene.sentToAgent('which diet').texts).toEqual(['which diet?']);
  });

  test('move with their channel, and are deleted with it', async () => {
    const { channel } = await instructedChannel();
    slack.changeId(channel)();
    await slack.settled();
    await ask(channel, 'which buffer?');
    expect(scene.sentToAgent('which buffer').texts[0]).toContain('> Cite PMIDs.');
    slack.deleteChannel(channel);
    await slack.settled();
    const rows = store().db.selectFrom('settings').select('channel').where('channel', '=', channel.id);
    await scene.until('they are gone', async () => (await rows.execute()).length === 0);
  });
});

test('a message that is tried again leaves out the instructions that its task has', async () => {
  const { channel } = await instructedChannel();
  const root = scene.ask(channel, 'count slowly, again');
  await scene.until('it is sent', () => scene.sentToAgent('count slowly, again').texts.length === 1);
  await starting.press(scene.ada, channel, root, 'stop');
  await scene.finished(channel, root);
  await starting.press(scene.ada, channel, root, 'retry');
  const [, again] = await scene.until('it is sent again', () => {
    const { texts } = scene.sentToAgent('count slowly, again');
    return texts.length === 2 && texts;
  });
  expect(again).toBe('count slowly, again');
});

test('the reply names the instructions also after a restart', async () => {
  const set = await instructedChannel();
  const { channel } = set;
  const named = await line(set);
  const root = scene.ask(channel, 'count slowly');
  await scene.until('they are named', () => scene.shown(channel, root).includes(named));
  await scene.sandbox.restartBot();
  await starting.press(scene.ada, channel, root, 'stop');
  await scene.finished(channel, root);
  expect(scene.shown(channel, root)).toContain(named);
});
