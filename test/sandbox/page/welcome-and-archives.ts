import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import * as strings from '../../../src/render/strings/index.ts';
import { seriousFindings } from '../../support/accessibility-findings.ts';
import { closeForm, send, taken } from '../../support/browser-forms.ts';
import { type BrowserScene, goTo, type OpenedPage, threadOf } from '../../support/browser-scene.ts';

const table = { name: 'plates.csv', mime: 'text/csv', bytes: 'well,signal\nA1,12\nA2,7\n' };

/** How people are welcomed, and how they take the files of an answer along. */
export function welcomeAndArchiveTests(opened: () => OpenedPage): void {
  let visit: BrowserScene;
  let page: Page;
  beforeAll(() => {
    ({ visit, page } = opened());
  });
  const form = () => page.getByRole('dialog', { name: 'Ask the agent' });

  test('a channel that invites the bot reads two lines, whose button opens the form', async () => {
    await goTo(page, 'coffee');
    await page.getByRole('button', { name: 'Add Taskthread' }).click();
    const welcome = page.locator('#channel article').last();
    await welcome.getByText(strings.welcome.begin).waitFor();
    expect(await welcome.innerText()).toContain(strings.welcome.who.members);
    await welcome.getByRole('button', { name: strings.buttons.ask_agent.label }).click();
    await form().getByRole('button', { name: 'Start' }).waitFor();
    expect(await form().getByRole('combobox', { name: 'Where' }).locator('option:checked').innerText()).toBe(
      '#coffee',
    );
    await closeForm(page);
    const { slack } = visit.sandbox;
    const coffee = [...slack.team.channels.values()].find(({ name }) => name === 'coffee');
    // Others invite it there, too.
    if (coffee !== undefined) slack.kick(coffee);
    await page.reload();
  });

  test('a person reads three things to try in direct messages; each fills in the form', async () => {
    await goTo(page, 'Taskthread');
    await page.getByRole('tab', { name: 'Messages' }).click();
    const [, review] = strings.prompts.list;
    const greeting = page.locator('#channel article', { hasText: strings.welcome.direct });
    await greeting.getByText(review?.line ?? '-').waitFor();
    const tries = greeting.getByRole('button', { name: strings.labels.tryPrompt });
    expect(await tries.count()).toBe(3);
    expect(await seriousFindings(page)).toEqual([]);
    await tries.nth(1).click();
    const question = form().getByRole('textbox', { name: 'What should the agent do?' });
    await question.waitFor();
    expect(await question.inputValue()).toContain('Review the recent literature');
    await closeForm(page);
  });

  test('Home opens the form, and what is asked there begins a thread in the chosen channel', async () => {
    await goTo(page, 'Taskthread');
    await page.getByRole('tab', { name: 'Home' }).click();
    const home = page.getByRole('region', { name: "Taskthread's Home" });
    await home.getByRole('button', { name: strings.buttons.ask_agent.label }).click();
    const where = form().getByRole('combobox', { name: 'Where' });
    await where.selectOption({ label: '#sequencing' });
    await form().getByRole('textbox', { name: 'What should the agent do?' }).fill('Which wells are empty?');
    await send(page, 'Start', taken);
    await goTo(page, 'sequencing');
    const asked = page.locator('#channel article', { hasText: 'Which wells are empty?' });
    await asked.getByRole('button', { name: /repl(y|ies)/ }).click();
    await threadOf(page).getByText('You wrote 4 words').waitFor();
    expect(await asked.innerText()).toContain('@Ada');
  });

  test('Download all sends the files of an answer as one ZIP file, and the menu the record of its task', async () => {
    const { slack } = visit.sandbox;
    const named = (name: string) =>
      [...slack.team.people.values()].find((one) => one.name === name)?.id ?? '';
    const channel = [...slack.team.channels.values()].find(({ name }) => name === 'sequencing')?.id ?? '';
    const text = `<@${slack.bot.userId}> Which well stands out?`;
    const root = slack.say({ person: named('ada'), channel, text, files: [table] });
    await goTo(page, 'sequencing');
    const question = page.locator('#channel article', { hasText: 'Which well stands out?' });
    await question.getByRole('button', { name: /repl(y|ies)/ }).click();
    const button = threadOf(page).getByRole('button', { name: strings.buttons.download_all.label });
    await button.click({ timeout: 60_000 });
    const told = page.getByRole('dialog', { name: strings.buttons.download_all.label });
    await told.getByText(strings.answerFiles.done).waitFor({ timeout: 60_000 });
    await closeForm(page);
    expect(slack.thread(channel, root.ts).length).toBeGreaterThan(1);
    const reply = threadOf(page).locator('.from-app').first();
    await reply.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: strings.buttons.save_record.label }).click();
    const saving = page.getByRole('dialog', { name: strings.buttons.save_record.label });
    await saving.getByText(strings.taskRecord.done).waitFor({ timeout: 60_000 });
    await closeForm(page);
    await goTo(page, 'Taskthread');
    await page.getByRole('tab', { name: 'Messages' }).click();
    for (const name of [/^files-.*\.zip/, /^task-record-.*\.eln/])
      await page.locator('#channel article').getByText(name).last().waitFor();
    await goTo(page, 'sequencing');
  });
}
