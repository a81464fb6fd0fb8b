import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { type BrowserScene, goTo, type OpenedPage, say, threadOf } from '../../support/browser-scene.ts';

/** Drops a file onto a pane, as from the desktop. */
async function drop(page: Page, pane: string, name: string, text: string): Promise<void> {
  const file = `new File([${JSON.stringify(text)}], ${JSON.stringify(name)}, { type: 'text/csv' })`;
  const data = await page.evaluateHandle(
    `(() => { const data = new DataTransfer(); data.items.add(${file}); return data; })()`,
  );
  await page.dispatchEvent(pane, 'dragenter', { dataTransfer: data });
  await page.dispatchEvent(pane, 'drop', { dataTransfer: data });
}

const table = `gene,reads\n${Array.from({ length: 40 }, (_, row) => `G${row},${row * 3}`).join('\n')}\n`;

/** What people do in channels and threads, beside a bot that answers. */
export function conversationTests(opened: () => OpenedPage): void {
  let visit: BrowserScene;
  let page: Page;
  beforeAll(() => {
    ({ visit, page } = opened());
  });

  test('a table that is dropped becomes a question whose answer grows and ends with links that work', async () => {
    await goTo(page, 'sequencing');
    await drop(page, '#channel', 'genes.csv', table);
    await page.locator('#channel .composer').getByText('genes.csv').waitFor();
    // Named as it is displayed.
    await say(page, 'channel', '@Taskthread What is in this table?\n/slow 600');
    const thread = threadOf(page);
    const reply = thread.locator('.from-app').first();
    await reply.getByRole('button', { name: 'Stop' }).waitFor();
    await reply.getByText('Second 1 of 600').waitFor();
    expect(await reply.innerText()).not.toContain('Second 600 of 600');
    visit.hurry();
    const download = thread.getByRole('link', { name: 'Download' }).first();
    await download.waitFor();
    // Where no edit is to be had soon, the end of an answer stands in a message below.
    expect(await thread.innerText()).toContain('Second 600 of 600');
    expect(await thread.locator('.from-app table').first().innerText()).toMatch(/reads\s+40\s+58\.5/);
    await thread.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
    await thread.getByRole('button', { name: 'Steps' }).click();
    const steps = page.getByRole('dialog');
    await steps
      .getByText(/Summarised? columns: reads/i)
      .first()
      .waitFor();
    await page.keyboard.press('Escape');
    await steps.waitFor({ state: 'hidden' });
    const address = (await download.getAttribute('href')) ?? '';
    expect(await (await fetch(address)).text()).toContain('reads');
  });

  test('one press stops the agent and sends what waits instead, and its note says what happened', async () => {
    await goTo(page, 'sequencing');
    await say(page, 'channel', '@taskthread /slow 600 on the wrong plate');
    const thread = threadOf(page);
    await thread.getByText('Second 1 of 600').waitFor();
    await say(page, 'thread', 'The right plate, please');
    await say(page, 'thread', 'With its blank, too');
    await thread.getByText('With its blank, too').first().waitFor();
    await visit.sandbox.slack.settled();
    await thread.getByRole('button', { name: 'Stop and send this instead' }).click();
    await thread.getByText('Stopped by Ada.').waitFor();
    await thread.getByText('The agent has your message.').waitFor();
    await thread.getByText(/You wrote 8 words: .*The right plate, please\s+With its blank, too/).waitFor();
    // What went as one still stands as it was sent.
    const asSent = thread.locator('article', { hasText: /^(?!.*You wrote).*With its blank, too/s });
    expect(await asSent.count()).toBe(1);
    expect(await thread.getByRole('button', { name: 'Send now' }).count()).toBe(0);
  });

  test('a question that was edited while it is answered goes again with one press', async () => {
    await goTo(page, 'sequencing');
    await say(page, 'channel', '@taskthread /slow 600 on colum a');
    const thread = threadOf(page);
    await thread.getByText('Second 1 of 600').waitFor();
    const question = thread.locator('article').first();
    await question.hover();
    await question.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Edit message' }).click();
    const box = question.getByRole('textbox', { name: 'Edit your message' });
    await box.fill('@taskthread column b, please');
    await box.press('Enter');
    await thread.getByRole('button', { name: 'Stop and send this instead' }).click();
    await thread.getByText('Stopped by Ada.').waitFor();
    await thread.getByText(/A correction to my message: column b, please/).waitFor();
    expect(await thread.getByRole('button', { name: 'Send the correction' }).count()).toBe(0);
  });

  test('a button that can be used once leaves when it is used, and the reply says who used it', async () => {
    await goTo(page, 'sequencing');
    await say(page, 'channel', '@taskthread /lengthcut');
    const cut = threadOf(page).locator('.from-app').first();
    await cut.getByRole('button', { name: 'Continue' }).click();
    await cut.getByText('Continued by Ada.').waitFor();
    await cut.getByRole('button', { name: 'Continue' }).waitFor({ state: 'detached' });
    // What stands beside it stays.
    expect(await cut.innerText()).toContain('reached its length limit');
    await threadOf(page).locator('.from-app').nth(1).waitFor();
  });

  test('the sources of an answer are checked, and one press has the agent replace the faulty ones', async () => {
    await goTo(page, 'reading-club');
    await say(page, 'channel', '@taskthread Which papers is this from?\n/sources');
    const thread = threadOf(page);
    const sum = '6 sources: 2 found, 1 retracted (2019), 1 corrected, 1 newer version, 1 not found';
    const list = thread.locator('.from-app', { hasText: sum });
    await list.waitFor();
    const lines = await list.innerText();
    for (const mark of [
      '✓ found',
      '⛔ retracted on 2019-05-14',
      '✎ corrected',
      '↑ newer version',
      '✗ not found',
    ])
      expect(lines).toContain(mark);
    await page.locator('.call-registry').first().waitFor({ state: 'attached' });
    await list.getByRole('button', { name: 'Ask the agent to replace them' }).click();
    await list.getByText('Replacement requested by Ada.').waitFor();
    await thread.getByText('I cite other works for [2], [4], [5].').waitFor();
    await thread.getByText('6 sources: 5 found, 1 corrected').waitFor();
    expect(await thread.getByRole('button', { name: 'Ask the agent to replace them' }).count()).toBe(0);
  });

  test('what is said can be marked, changed and taken back', async () => {
    await goTo(page, 'sequencing');
    const { slack } = visit.sandbox;
    await say(page, 'channel', 'Good morning @grace, *all* well?');
    const message = page.locator('#channel article').last();
    await message.getByText('@Grace').waitFor();
    await message.hover();
    await message.getByRole('button', { name: 'Add a reaction' }).click();
    await page.getByRole('menuitem', { name: 'tada' }).click();
    await message.getByRole('button', { name: /tada, 1: Ada/ }).click();
    await message.locator('.reaction').waitFor({ state: 'detached' });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await message.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Copy link' }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(
      /^https:\/\/[\w-]+\.slack\.com\/archives\/C\w+\/p\d{16}$/,
    );
    await message.hover();
    await message.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Edit message' }).click();
    const box = message.getByRole('textbox', { name: 'Edit your message' });
    expect(await box.inputValue()).toBe('Good morning @grace, *all* well?');
    await box.fill('Good evening @grace');
    await box.press('Enter');
    await message.getByText('(edited)').waitFor();
    const [channel = ''] = [...slack.team.channels.values()].flatMap(({ id, name }) =>
      name === 'sequencing' ? [id] : [],
    );
    expect(slack.messages(channel).some(({ text }) => /^Good evening <@U/.test(text))).toBe(true);
    await message.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete message' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Good evening').waitFor({ state: 'detached' });
    expect(slack.messages(channel).some(({ text }) => text.startsWith('Good evening'))).toBe(false);
  });

  test('a table is pasted and a message forwarded, and both reach the agent', async () => {
    await goTo(page, 'sequencing');
    const field = page.locator('#channel textarea');
    await field.focus();
    await page.evaluate(`(() => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', 'gene\\tp\\nBRCA1\\t0.50\\n');
      document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, cancelable: true }));
    })()`);
    await page.getByText('Table', { exact: true }).waitFor();
    await say(page, 'channel', '@taskthread how sure is this?');
    await page.locator('#channel article').getByRole('cell', { name: 'BRCA1' }).waitFor();
    await goTo(page, 'assay-42');
    await say(page, 'channel', 'Plate 3 was odd');
    const message = page.locator('#channel article').last();
    await message.getByText('Plate 3 was odd').waitFor();
    await message.hover();
    await message.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Forward message' }).click();
    await goTo(page, 'sequencing');
    await page.getByText('Forwarded message', { exact: true }).waitFor();
    await say(page, 'channel', '@taskthread what do you say to it?');
    await page.locator('#channel article').getByText('Forwarded message').waitFor();
    const sent = () => JSON.stringify(visit.sandbox.agent.tasks.flatMap(({ messages }) => messages));
    await expect.poll(sent, { timeout: 20_000 }).toContain('| BRCA1 | 0.50 |');
    await expect.poll(sent, { timeout: 20_000 }).toContain('Forwarded message from @Ada');
  });

  test('everything can be done with the keyboard', async () => {
    await goTo(page, 'coffee');
    await page.getByRole('button', { name: 'Add Taskthread' }).focus();
    await page.keyboard.press('Enter');
    await page
      .locator('#channel')
      .getByText(/has joined the channel/)
      .last()
      .waitFor();
    await page.locator('#channel textarea').focus();
    await page.keyboard.type('Hello @tas');
    await page.getByRole('option', { name: /Taskthread/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.type('what are 2 words?');
    await page.keyboard.press('Enter');
    await threadOf(page)
      .getByText(/You wrote/)
      .waitFor();
    await page.keyboard.press('Shift+Tab');
    const focused = async () => String(await page.evaluate('document.activeElement.className'));
    for (let step = 0; step < 12 && !(await focused()).startsWith('message'); step += 1)
      await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('ArrowUp');
    expect(await focused()).toContain('message');
  });

  test('what is typed while a file uploads stays, and a message that fails comes back', async () => {
    await goTo(page, 'reading-club');
    const field = page.locator('#channel textarea');
    const gate = Promise.withResolvers<void>();
    await page.route('**/uploads?*', async (route) => {
      await gate.promise;
      await route.continue();
    });
    await drop(page, '#channel', 'large.csv', table);
    await say(page, 'channel', 'The large one');
    await page.locator('#channel').getByText('Uploading').waitFor();
    await say(page, 'channel', 'The one after it');
    await field.pressSequentially('Typed at once');
    gate.resolve();
    await page.locator('#channel').getByText('The one after it').waitFor();
    const said = await page.locator('#channel article').allInnerTexts();
    expect(said.slice(-2)).toEqual([
      expect.stringMatching(/The large one\s[\s\S]*large\.csv/),
      expect.stringContaining('The one after it'),
    ]);
    expect(await field.inputValue()).toBe('Typed at once');
    await page.unroute('**/uploads?*');
    await field.fill('');
    const typed = Promise.withResolvers<void>();
    await page.route('**/action', async (route) => {
      await typed.promise;
      await route.fulfill({ json: { ok: false, error: 'Not now.' } });
    });
    await say(page, 'channel', 'Refused');
    await field.pressSequentially('and more');
    typed.resolve();
    await page.getByText('Not now.').waitFor();
    await expect.poll(() => field.inputValue()).toBe('Refused\nand more');
    await page.unroute('**/action');
    await field.fill('');
  });

  test('a draft survives a reload, in the channel and in the thread', async () => {
    await goTo(page, 'assay-42');
    await say(page, 'channel', 'A thread to write in');
    await page.locator('#channel').getByText('A thread to write in').waitFor();
    await page.locator('#channel article').last().hover();
    await page.locator('#channel article').last().getByRole('button', { name: 'Reply in thread' }).click();
    const fields = [page.locator('#channel textarea'), page.locator('#thread textarea')];
    for (const [index, field] of fields.entries()) await field.fill(`Draft ${index}`);
    await page.reload();
    for (const [index, field] of fields.entries())
      await expect.poll(() => field.inputValue()).toBe(`Draft ${index}`);
    await fields[1]?.press('Enter');
    await threadOf(page).getByText('Draft 1').waitFor();
    await page.reload();
    await threadOf(page).getByText('Draft 1').waitFor();
    expect(await fields[1]?.inputValue()).toBe('');
  });

  test('Tab stops at one conversation and one message, and arrows move among them', async () => {
    await goTo(page, 'assay-42');
    for (const words of ['First', 'Second', 'Third']) {
      await say(page, 'channel', `${words}: see https://example.com/${words}`);
      await page.locator('#channel').getByText(`${words}:`).waitFor();
    }
    expect(await page.locator('#nav button:not([tabindex="-1"])').count()).toBe(1);
    expect(await page.locator('#channel article:not([tabindex="-1"])').count()).toBe(1);
    expect(await page.locator('#channel article .message-body a:not([tabindex="-1"])').count()).toBe(1);
    await page.locator('#nav [aria-current=page]').focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await page.getByRole('main').getByRole('heading', { name: 'sequencing' }).waitFor();
  });

  test('people see what is theirs, and what others say arrives while they look', async () => {
    const [ada, max] = [page, await visit.open()];
    await max.getByLabel('Acting as').selectOption({ label: 'Max (guest)' });
    await max.getByRole('navigation').getByText('assay-42').waitFor({ state: 'detached' });
    await goTo(max, 'reading-club');
    await say(max, 'channel', 'May I come along?');
    const place = ada.getByRole('navigation').getByRole('button', { name: /reading-club/ });
    await expect.poll(() => place.innerText(), { timeout: 10_000 }).toMatch(/1\s+unread/);
    await place.click();
    await ada.locator('#channel').getByText('May I come along?').waitFor();
    await max.close();
  });
}
