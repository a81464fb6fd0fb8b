import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { OAUTH_SECRET_KEY } from '../../../sandbox/bot-settings.ts';
import * as strings from '../../../src/render/strings/index.ts';
import { openChannelSettings } from '../../support/channel-settings-scene.ts';
import { openStartFormScene } from '../../support/start-form-scene.ts';

const folder = await mkdtemp(path.join(tmpdir(), 'prompts-'));
afterAll(() => rm(folder, { recursive: true }));
const file = path.join(folder, 'prompts.json');
await writeFile(
  file,
  JSON.stringify([
    { title: 'Annotate variants', line: 'With the skill of the lab', skill: 'summary' },
    { title: 'Plot a volcano', line: 'From a table of genes', prompt: 'Plot a volcano from the table' },
  ]),
);
const starting = await openStartFormScene({
  agent: { behaviour: { skillOnTask: 'runs' } },
  settings: { SECRET_KEY: OAUTH_SECRET_KEY, PROMPTS_FILE: file },
});
const { scene } = starting;
const { slack } = scene;

const OWN = 'Check a plate | For edge effects | Check the attached plate for edge effects';

/** A channel with its own prompt, and a person in it. */
async function promptedPlace() {
  const place = starting.personInChannel();
  const form = await openChannelSettings(scene, place.person, place.channel);
  expect(await form.save({ channel_prompts: OWN })).toBeUndefined();
  return place;
}

describe.concurrent('prompts', () => {
  test("are offered in the form: the channel's, then the operator's, and go before what is typed", async () => {
    const { person, channel } = await promptedPlace();
    await slack.command({ person, channel, command: '/agent', text: 'new' });
    await scene.until('the form is there', () => starting.modalText(person).includes('Check a plate'));
    const shown = starting.modalText(person);
    expect(shown.indexOf('Check a plate')).toBeLessThan(shown.indexOf('Annotate variants'));
    expect(shown).toContain('For edge effects');
    await slack.submitView(person, {
      ...starting.filled(person),
      prompt: 'Check a plate',
      question: 'Plate 7',
    });
    await scene.until('it is asked', () =>
      scene.sentToAgent('Check the attached').texts.some((text) => text.includes('Plate 7')),
    );
    expect(scene.sentToAgent('Check the attached').texts[0]).toMatch(
      /^Check the attached plate for edge effects\s+Plate 7$/,
    );
  });

  test("are offered in the form that the button below the bot's welcome opens", async () => {
    const { person, channel } = await promptedPlace();
    slack.kick(channel);
    slack.invite(channel);
    const welcome = () =>
      slack.messages(channel).find(({ blocks }) => JSON.stringify(blocks ?? []).includes('"ask_agent"'));
    const { ts } = await scene.until('the bot says how to begin', welcome);
    await slack.click({ person, channel, ts, actionId: 'ask_agent' });
    await starting.form(person);
    for (const title of ['Check a plate', 'Annotate variants'])
      expect(starting.modalText(person)).toContain(title);
  });

  test('that are no longer offered are named beside the list of prompts', async () => {
    const { person, channel } = await promptedPlace();
    await slack.command({ person, channel, command: '/agent', text: 'new' });
    await scene.until('the form is there', () => starting.modalText(person).includes('Check a plate'));
    await scene.sandbox.bot.store.settings.set(slack.team.id, channel.id, person.id, { prompts: null });
    const filled = { ...starting.filled(person), prompt: 'Check a plate', question: 'Plate 8' };
    const refused = await slack.submitView(person, filled);
    const errors = { prompt: strings.startForm.promptGone };
    expect(refused.body).toEqual({ response_action: 'errors', errors });
    await slack.closeView(person);
  });

  test('may run a skill, with a question typed beside them', async () => {
    const { person, channel } = starting.personInChannel();
    await slack.command({ person, channel, command: '/agent', text: 'new' });
    await scene.until('the form is there', () => starting.modalText(person).includes('Annotate variants'));
    expect(starting.modalText(person)).not.toContain('Check a plate');
    await slack.submitView(person, {
      ...starting.filled(person),
      prompt: 'Annotate variants',
      question: 'these rare ones',
    });
    const skill = async () => {
      const turn = scene.sandbox.bot.store.db.selectFrom('turns').select(['skill', 'finished_at']);
      return (await turn.where('channel', '=', channel.id).executeTakeFirst())?.skill ?? undefined;
    };
    expect(await scene.until('the turn has a skill', skill)).toBe('summary');
  });

  test('of a channel need a title, a line and a prompt each, and go with who has set them', async () => {
    const { person, channel } = await promptedPlace();
    const form = await openChannelSettings(scene, person, channel);
    expect(form.shown).toContain('Check a plate');
    expect(form.shown).toContain(`Set by <@${person.id}> on `);
    for (const typed of [
      'Only a title',
      `${'T'.repeat(76)} | Line | Prompt`,
      `T | Line | ${'p'.repeat(1_001)}`,
    ]) {
      const refused = await form.save({ channel_prompts: typed });
      expect(JSON.stringify(refused)).toContain(strings.settings.prompts.invalid);
    }
    // The sentence is right about the longest that may be saved.
    expect(strings.settings.prompts.invalid).toContain('at most 75, 75 and 1,000 characters');
    const { store } = scene.sandbox.bot;
    const row = store.db.selectFrom('settings').selectAll().where('channel', '=', channel.id);
    expect(JSON.stringify(await row.execute())).not.toContain('edge effects');
    await store.personErasure.eraseUser(slack.team.id, person.id);
    expect((await store.settings.get(slack.team.id, channel.id)).prompts).toBeNull();
  });

  test('say that a skill leaves out the standing instructions, in the form and below the reply', async () => {
    const { person, channel } = starting.personInChannel();
    const form = await openChannelSettings(scene, person, channel);
    expect(await form.save({ channel_instructions: 'Mouse only.' })).toBeUndefined();
    await slack.command({ person, channel, command: '/agent', text: 'new' });
    const { skillWithoutInstructions } = strings.startForm;
    await scene.until('it says so', () => starting.modalText(person).includes(skillWithoutInstructions));
    const root = scene.ask(channel, '--skill summary which ones?');
    await scene.finished(channel, root);
    expect(scene.shown(channel, root)).toContain(strings.withoutInstructions);
    await scene.finished(channel, scene.reply(channel, root, '--skill summary and then?'));
    expect(scene.shown(channel, root).split(strings.withoutInstructions)).toHaveLength(2);
    const plain = scene.channel();
    const other = scene.ask(plain, '--skill summary and which here?');
    await scene.finished(plain, other);
    expect(scene.shown(plain, other)).not.toContain(strings.withoutInstructions);
  });
});
