import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import * as strings from '../../../src/render/strings/index.ts';
import { allFindings, seriousFindings } from '../../support/accessibility-findings.ts';
import { closed, closeForm, send, taken } from '../../support/browser-forms.ts';
import { type BrowserScene, goTo, type OpenedPage, say, threadOf } from '../../support/browser-scene.ts';
import { unpackedRecord } from '../../support/unpacked-record.ts';

const patience = { timeout: 15_000 };

const table = {
  name: 'genes.csv',
  mimeType: 'text/csv',
  buffer: Buffer.from('gene,reads\nTP53,12\nKRAS,7\n'),
};

/** The form by which a task is begun, once it is there to be filled in. */
async function startForm(page: Page) {
  const form = page.getByRole('dialog', { name: 'Ask the agent' });
  await form.getByRole('button', { name: 'Start' }).waitFor();
  return form;
}

/** What people fill in, in a workspace in which nobody has asked yet. */
export function formTests(opened: () => OpenedPage): void {
  let visit: BrowserScene;
  let page: Page;
  beforeAll(() => {
    ({ visit, page } = opened());
  });
  const lastInChannel = () => page.locator('#channel article').last();

  test('the first view leads to the form, to Home and to the help', async () => {
    const welcome = page.locator('.welcome');
    await welcome.getByRole('button', { name: 'Ask with a form' }).click();
    await startForm(page);
    await closeForm(page);
    // It folds as soon as something is said, and a slow bot may be told of.
    const unfolded = () => welcome.evaluate((details) => details.setAttribute('open', ''));
    await unfolded();
    await welcome.getByRole('button', { name: 'Help' }).click();
    await page.locator('#channel .ephemeral').getByText('/agent status').waitFor();
    await unfolded();
    await welcome.getByRole('button', { name: 'Your tasks' }).click();
    const home = page.getByRole('region', { name: "Taskthread's Home" });
    await home.getByText('Your tasks').waitFor();
    expect(await home.isVisible()).toBe(true);
    await goTo(page, 'sequencing');
  });

  test('/agent new opens a form; what is wrong with it stands at its field, then the thread begins', async () => {
    await say(page, 'channel', '/agent new');
    const form = await startForm(page);
    const where = form.getByRole('combobox', { name: 'Where' });
    expect(await where.locator('option').allInnerTexts()).toEqual([
      '#sequencing',
      '#reading-club',
      '#coffee',
      '#assay-42',
      'Grace, Taskthread',
    ]);
    const question = form.getByRole('textbox', { name: 'What should the agent do?' });
    await form.getByRole('button', { name: 'Start' }).click();
    await form.getByText('This field is required.').waitFor();
    expect(await question.evaluate((field) => field.matches(':focus'))).toBe(true);
    await question.fill('What stands out in this table?');
    await where.selectOption({ label: '#coffee' });
    await form.getByRole('textbox', { name: 'Title' }).fill('Two genes');
    await form.getByRole('radiogroup', { name: 'Model' }).getByLabel('Max').check();
    await form.getByLabel('Files').setInputFiles([table]);
    const complaint = form.locator('[data-block="channel"]').getByText("I'm not in this conversation yet");
    await send(page, 'Start', () => complaint.waitFor(patience));
    await expect.poll(() => where.getAttribute('aria-invalid')).toBe('');
    expect(await seriousFindings(page)).toEqual([]);
    await where.selectOption({ label: '#sequencing' });
    await send(page, 'Start', taken);
    const post = lastInChannel();
    await post.getByText('What stands out in this table?').waitFor();
    expect(await post.innerText()).toContain('@Ada');
    await post.getByRole('button', { name: /repl(y|ies)/ }).click();
    const reply = threadOf(page)
      .locator('.from-app', { has: page.locator('table') })
      .first();
    await reply.locator('table').first().waitFor();
    await expect
      .poll(() => reply.locator('table').first().innerText(), { timeout: 10_000 })
      .toContain('reads');
  });

  test('a thumb below the answer is marked, and a comment goes along', async () => {
    const good = threadOf(page).getByRole('button', { name: 'Good answer' });
    await good.click();
    await expect.poll(() => good.getAttribute('aria-pressed')).toBe('true');
    const thanks = threadOf(page).locator('.ephemeral');
    expect(await thanks.innerText()).toContain('Only visible to you');
    await thanks.getByRole('button', { name: 'Add a comment' }).click();
    const form = page.getByRole('dialog', { name: 'Comment on an answer' });
    await form.getByRole('textbox').fill('Short, and right.');
    await send(page, 'Send', taken);
  });

  test('both shortcuts open the form, the one of a message with the message in it', async () => {
    await page.getByRole('button', { name: 'Shortcuts' }).click();
    await page.getByRole('menuitem', { name: 'Start an agent task' }).click();
    const form = await startForm(page);
    expect(await form.getByRole('combobox', { name: 'Where' }).inputValue()).toBe('');
    await closeForm(page);
    await goTo(page, 'reading-club');
    await say(page, 'channel', 'The paper of this week has 3 figures.');
    await lastInChannel().getByText('3 figures').waitFor();
    await lastInChannel().hover();
    await lastInChannel().getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Ask the agent about this' }).click();
    await startForm(page);
    await form.getByText('About this message: “The paper of this week has 3 figures.”').waitFor();
    await form.getByRole('textbox', { name: /What should the agent do with it/ }).fill('Count them.');
    await form.getByRole('radiogroup', { name: 'Model' }).getByLabel('Fast').check();
    await send(page, 'Start', taken);
    await lastInChannel().getByRole('button', { name: /repl/ }).click();
    await threadOf(page)
      .getByText(/You wrote/)
      .waitFor();
    // Who reads the thread sees who asked what, and with which model.
    const question = threadOf(page).locator('.from-app', { hasText: 'Count them.' }).first();
    expect(await question.innerText()).toMatch(/@Ada asks:.*Count them\..*Model Fast/s);
  });

  test('a question that is asked again with other words and another skill says what was sent', async () => {
    await goTo(page, 'sequencing');
    await say(page, 'channel', '/agent new');
    const form = await startForm(page);
    const question = form.getByRole('textbox', { name: 'What should the agent do?' });
    const skill = form.getByRole('textbox', { name: /kill/ });
    await form.getByRole('combobox', { name: 'Where' }).selectOption({ label: '#sequencing' });
    await question.fill('What is in the old list?');
    await skill.fill('sumary');
    await send(page, 'Start', taken);
    const post = lastInChannel();
    await post.getByText('What is in the old list?').waitFor();
    await post.getByRole('button', { name: /repl(y|ies)/ }).click();
    const thread = threadOf(page);
    await thread.getByRole('button', { name: 'Choose again' }).click();
    await startForm(page);
    await question.fill('What is in the new list?');
    await skill.fill('summary');
    await send(page, 'Start', taken);
    await thread.getByText('Asked again by Ada.').waitFor();
    await thread.getByText(/You wrote/).waitFor();
    for (const place of [post, thread]) {
      expect(await place.innerText()).toMatch(/@Ada asks:.*What is in the new list\?.*Skill summary/s);
      expect(await place.innerText()).not.toMatch(/old list|sumary/);
    }
  });

  test("Home lists the tasks and opens their details; a task's name leads to its thread", async () => {
    await goTo(page, 'Taskthread');
    await page.getByRole('tab', { name: 'Home' }).click();
    const home = page.getByRole('region', { name: "Taskthread's Home" });
    await home.getByRole('link', { name: 'Two genes' }).waitFor();
    const channels = home.getByRole('combobox', { name: 'Choose a channel' });
    expect(await channels.locator('option').allInnerTexts()).not.toContain('Grace, Taskthread');
    await channels.focus();
    await channels.selectOption({ label: '#sequencing' });
    await home.getByRole('button', { name: 'Channel settings' }).waitFor();
    expect(await channels.evaluate((one) => one.matches(':focus'))).toBe(true);
    expect(await seriousFindings(page)).toEqual([]);
    await home.getByRole('button', { name: 'Details' }).last().click();
    const details = page.getByRole('dialog', { name: 'Task' });
    await details.getByText('genes.csv').waitFor();
    await details.getByRole('button', { name: 'Delete task' }).click();
    const sure = page.getByRole('dialog', { name: 'Delete this task?' });
    await sure.getByRole('button', { name: 'Keep it' }).click();
    await details.getByRole('link', { name: 'Open thread' }).click();
    await threadOf(page).getByText('What stands out in this table?').waitFor();
    await closed(page);
    await page.getByRole('main').getByRole('heading', { name: 'sequencing', level: 1 }).waitFor();
  });

  /** Saves the record of the newest or the oldest task in Home, once that lists it, and opens its page. */
  async function openRecord(
    which: 'first' | 'last',
    title?: string,
  ): Promise<{ record: Page; file: string; loaded: string[] }> {
    const { slack } = visit.sandbox;
    const ada = [...slack.team.people.values()].find(({ name }) => name === 'ada');
    const records = () =>
      ada === undefined ? [] : slack.messages(slack.openDm(ada)).flatMap(({ fileIds }) => fileIds ?? []);
    const before = records().length;
    await goTo(page, 'Taskthread');
    await page.getByRole('tab', { name: 'Home' }).click();
    if (title !== undefined) await page.getByRole('main').getByText(title).first().waitFor();
    await page.getByRole('button', { name: 'Details' })[which]().click();
    const details = page.getByRole('dialog', { name: 'Task' });
    await details.getByRole('button', { name: strings.buttons.task_record.label }).click();
    await expect.poll(() => records().length, { timeout: 20_000 }).toBe(before + 1);
    await closeForm(page);
    const { pagePath } = await unpackedRecord(await slack.fileBytes(records().at(-1) ?? ''));
    const file = `file://${pagePath}`;
    const record = await visit.newPage();
    const loaded: string[] = [];
    record.on('request', (request) => loaded.push(request.url()));
    await record.goto(file);
    return { record, file, loaded };
  }

  test('the record of a task loads nothing, and axe finds nothing in it', async () => {
    const { record, file, loaded } = await openRecord('last');
    expect(await record.getByRole('heading', { name: 'Question 1' }).count()).toBe(1);
    expect(await record.getByText(/^Steps \(/).count()).toBe(1);
    expect(await allFindings(record)).toEqual([]);
    expect(loaded).toEqual([file]);
    await record.close();
    await goTo(page, 'sequencing');
  });

  test('the record shows a question as it was sent, what an edit made of it, and the message that it is about', async () => {
    const edited = await openEditedRecord();
    const text = await edited.getByRole('main').innerText();
    expect(text).toMatch(
      /edited after it was sent\s+These were the first words\s+It now says:\s+These are the later words/,
    );
    expect(await allFindings(edited)).toEqual([]);
    await edited.close();
    await goTo(page, 'reading-club');
    await say(page, 'channel', 'The paper of next week has 5 figures.');
    await lastInChannel().getByText('5 figures').waitFor();
    await lastInChannel().hover();
    await lastInChannel().getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Ask the agent about this' }).click();
    await startForm(page);
    await send(page, 'Start', taken);
    await lastInChannel().getByRole('button', { name: /repl/ }).click();
    await threadOf(page)
      .getByText(/You wrote/)
      .waitFor();
    const { record } = await openRecord('first', 'The paper of next week');
    const about = await record.getByRole('main').innerText();
    expect(about).toMatch(/About a message from Ada.*The paper of next week has 5 figures\./s);
    expect(await allFindings(record)).toEqual([]);
    await record.close();
    await goTo(page, 'sequencing');
  });

  /** Ada edits a question that was answered, and opens its record. */
  async function openEditedRecord(): Promise<Page> {
    await goTo(page, 'sequencing');
    await say(page, 'channel', '@Taskthread These were the first words');
    const message = lastInChannel();
    await threadOf(page)
      .getByText(/You wrote/)
      .waitFor();
    await message.hover();
    await message.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Edit message' }).click();
    const box = message.getByRole('textbox', { name: 'Edit your message' });
    await box.fill('@Taskthread These are the later words');
    await box.press('Enter');
    await message.getByText('(edited)').waitFor();
    return (await openRecord('first', 'These were the first words')).record;
  }

  test("a channel's settings are saved, and are there when the form is opened again", async () => {
    const settings = page.getByRole('dialog', { name: 'Channel settings' });
    const model = settings.getByRole('combobox', { name: 'Model for new tasks' });
    const switches = settings.getByRole('group', { name: 'Channel-only settings' });
    const firstSwitch = switches.getByRole('checkbox').first();
    await say(page, 'channel', '/agent settings');
    await model.selectOption({ label: 'Max' });
    await settings.getByText('The most capable model').waitFor();
    await settings.getByRole('textbox', { name: /description/ }).fill('What we sequenced');
    await settings.getByLabel('Every message in the channel').check();
    await firstSwitch.uncheck();
    await send(page, 'Save', taken);
    await say(page, 'channel', '/agent settings');
    await model.waitFor();
    expect(await model.locator('option:checked').innerText()).toBe('Max');
    expect(await settings.getByRole('textbox', { name: /description/ }).inputValue()).toBe(
      'What we sequenced',
    );
    expect(await settings.getByLabel('Every message in the channel').isChecked()).toBe(true);
    expect(await firstSwitch.isChecked()).toBe(false);
    await firstSwitch.check();
    await settings.getByRole('textbox', { name: /description/ }).fill('');
    await settings.getByLabel('Replies that mention me').check();
    await send(page, 'Save', taken);
    await say(page, 'channel', '/agent settings');
    await model.waitFor();
    expect(await settings.getByRole('textbox', { name: /description/ }).inputValue()).toBe('');
    await settings.getByRole('button', { name: 'Cancel' }).click();
    await closed(page);
  });
}

/** What an admin decides; it closes the other channels. */
export function adminFormTests(opened: () => OpenedPage): void {
  test('chooses the channels in which the bot answers, and people read so elsewhere', async () => {
    const { visit, page } = opened();
    for (const person of visit.sandbox.slack.team.people.values()) person.admin = person.name === 'ada';
    await goTo(page, 'Taskthread');
    await page.getByRole('tab', { name: 'Home' }).click();
    const home = page.getByRole('region', { name: "Taskthread's Home" });
    await home.getByRole('button', { name: 'Refresh' }).click();
    const change = home.getByRole('button', { name: strings.buttons.workspace_settings_change.label });
    await change.click();
    const form = page.getByRole('dialog', { name: strings.workspaceSettings.title });
    const where = form.getByRole('combobox', { name: 'Channels', exact: true });
    await where.selectOption({ label: 'Only the chosen channels' });
    const chosen = form.getByRole('group', { name: 'The chosen channels' });
    await chosen.getByLabel('#reading-club').check();
    expect(await seriousFindings(page)).toEqual([]);
    await send(page, 'Save', taken);
    await home.getByText('Only the chosen channels (set for this workspace)').waitFor();
    await change.click();
    expect(await chosen.getByLabel('#reading-club').isChecked()).toBe(true);
    expect(await chosen.getByLabel('#sequencing').isChecked()).toBe(false);
    await form.getByRole('button', { name: 'Cancel' }).click();
    await goTo(page, 'sequencing');
    await say(page, 'channel', '@Taskthread is anybody there?');
    await page.locator('#channel .ephemeral').getByText(strings.closedPlaces.closed_by_admins).waitFor();
  });
}
