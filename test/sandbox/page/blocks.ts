import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { call } from '../../support/bolt-test-app.ts';
import { type BrowserScene, goTo, threadOf } from '../../support/browser-scene.ts';
import { everyBlock } from '../../support/every-block.ts';

const patience = { timeout: 10_000 };

/** What an app posts and opens, and what it hears of people; `heard` is that. */
export function blockTests(opened: () => { visit: BrowserScene; heard: unknown[] }): void {
  let visit: BrowserScene;
  let heard: unknown[];
  let page: Page;
  let channel: string;
  beforeAll(async () => {
    ({ visit, heard } = opened());
    const { channels } = visit.sandbox.slack.team;
    channel = [...channels.values()].find(({ name }) => name === 'sequencing')?.id ?? '';
    page = await visit.open();
  });
  const post = (args: object) =>
    call(visit.sandbox.slack, 'chat.postMessage', { channel, text: 'x', ...args });
  const ada = () =>
    [...visit.sandbox.slack.team.people.values()].find(({ name }) => name === 'ada')?.id ?? '';
  const last = () => page.locator('#channel article').last();

  /** Has the page be somebody else's; resolves to their id, once it is. */
  async function actAs(realName: string): Promise<string> {
    const people = [...visit.sandbox.slack.team.people.values()];
    const id = people.find((one) => one.realName === realName)?.id ?? '';
    await page.getByLabel('Acting as').selectOption(id);
    await page.waitForURL(({ hash }) => hash.startsWith(`#${id}/`));
    return id;
  }

  test('every block type of the bot is shown, and what looks like HTML stays text', async () => {
    await post({ blocks: everyBlock(visit.sandbox.page.url) });
    await last().getByText('A header', { exact: true }).waitFor();
    const words = await last().innerText();
    for (const shown of [
      'A heading',
      '<b>no HTML</b>',
      '<script>alert(1)</script>',
      '<b> 🎉',
      'Field two <i>',
      'quoted',
      '🧬',
      'an item',
      'Looking at the run 1 of 2',
      'Draw the chart',
    ]) {
      expect(words).toContain(shown);
    }
    expect(await last().locator('.unknown').allInnerTexts()).toEqual([]);
    expect(await last().locator('table').allInnerTexts()).toEqual([
      'gene\treads\nTP53\t12',
      'name\tvalue\nalpha\t1',
    ]);
    expect(await last().getByText('not a link').getAttribute('href')).toBeNull();
    expect(await last().locator('script, iframe, b').count()).toBe(0);
    expect(await last().locator('img').count()).toBe(0);
  });

  test('a data table is sorted by its numbers and turns its pages', async () => {
    const cell = (text: string) => ({ type: 'raw_text', text });
    const row = (at: number) => [
      cell(`GENE${at}`),
      { type: 'raw_number', value: (at * 7) % 12, text: `${(at * 7) % 12}` },
    ];
    const rows = [[cell('gene'), cell('p')], ...Array.from({ length: 12 }, (_, at) => row(at))];
    await post({ blocks: [{ type: 'data_table', caption: 'Table with 12 rows', page_size: 10, rows }] });
    const table = last().locator('.data-table');
    await table.getByText('1 to 10 of 12').waitFor();
    expect(await table.locator('tbody tr').allInnerTexts()).toHaveLength(10);
    await table.getByRole('button', { name: 'p', exact: true }).click();
    expect((await table.locator('tbody tr').allInnerTexts()).slice(0, 3)).toEqual([
      'GENE0\t0',
      'GENE7\t1',
      'GENE2\t2',
    ]);
    await table.getByRole('button', { name: 'Next' }).click();
    expect(await table.locator('tbody tr').allInnerTexts()).toEqual(['GENE10\t10', 'GENE5\t11']);
    expect(await table.locator('th').last().getAttribute('aria-sort')).toBe('ascending');
  });

  test('a task of a plan stays open while the plan changes, if its block keeps its id', async () => {
    const source = { type: 'url', url: 'https://a.example/1', text: 'a.example/1' };
    const plan = (title: string, block_id: string) => [
      {
        ...{ type: 'plan', block_id, title },
        tasks: [
          { type: 'task_card', task_id: 's1', title: 'Read it', status: 'complete', sources: [source] },
        ],
      },
    ];
    const { ts } = await post({ blocks: plan('First', 'plan') });
    const update = (title: string, id: string) =>
      call(visit.sandbox.slack, 'chat.update', { channel, ts, text: 'x', blocks: plan(title, id) });
    await last().getByText('Read it').click();
    await update('Second', 'plan');
    await last().getByText('Second').waitFor();
    expect(await last().getByText('a.example/1').isVisible()).toBe(true);
    await update('Third', 'other');
    await last().getByText('Third').waitFor();
    expect(await last().getByText('a.example/1').isVisible()).toBe(false);
  });

  test('a table is shown without the quotes around its cells', async () => {
    const bytes = '"gene","alleles"\n"HLA-A","02:01, 24:02 ""null"""\nTP53,\n';
    const files = [{ name: 'q.csv', mime: 'text/csv', bytes }];
    visit.sandbox.slack.say({ person: ada(), channel, text: 'x', files });
    const cells = () => last().locator('.preview td').allInnerTexts();
    await expect.poll(cells, patience).toEqual(['HLA-A', '02:01, 24:02 "null"', 'TP53', '']);
  });

  test('a note that one person sees counts as nothing unread', async () => {
    const { slack } = visit.sandbox;
    const other = [...slack.team.channels.values()].find(({ name }) => name === 'reading-club')?.id ?? '';
    await call(slack, 'chat.postEphemeral', { channel: other, user: ada(), text: 'Only for you' });
    await call(slack, 'chat.postMessage', { channel: other, text: 'For everybody' });
    const place = page.getByRole('navigation').getByRole('button', { name: /^reading-club/ });
    await expect.poll(() => place.innerText(), patience).toMatch(/\b1\b/);
  });

  test('a block type that nobody knows is named', async () => {
    visit.sandbox.slack.say({ person: ada(), channel, text: 'x', blocks: [{ type: 'hologram' }] });
    await expect.poll(() => last().innerText(), patience).toContain('Unknown block type: hologram');
  });

  test('presses and choices reach the app', async () => {
    await post({ blocks: everyBlock(visit.sandbox.page.url) });
    const before = heard.length;
    await last().getByRole('button', { name: 'stop' }).click();
    await last().getByRole('button', { name: 'delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Yes' }).click();
    await last().getByLabel('Pick one').selectOption('two');
    await last().getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'two' }).click();
    await last().getByRole('group', { name: 'ticks' }).getByLabel('one').check();
    await last().getByRole('radiogroup', { name: 'radio' }).getByLabel('two').check();
    await last().getByRole('button', { name: 'Bad answer' }).click();
    await expect.poll(() => heard.length - before, patience).toBe(7);
    expect(heard.slice(before)).toMatchObject([
      { action_id: 'stop', value: 'turn-1' },
      { action_id: 'delete' },
      { action_id: 'pick', selected_option: { value: 'two' } },
      { action_id: 'more', selected_option: { value: 'two' } },
      { action_id: 'ticks', selected_options: [{ value: 'one' }] },
      { action_id: 'radio', selected_option: { value: 'two' } },
      { action_id: 'feedback', value: 'down' },
    ]);
  });

  test('a modal is filled, drawn anew without losing a word, refused, and taken', async () => {
    await page.getByRole('button', { name: 'Shortcuts' }).click();
    await page.getByRole('menuitem', { name: 'Ask the agent' }).click();
    const modal = page.getByRole('dialog', { name: 'Ask the agent' });
    const question = modal.getByRole('textbox', { name: 'Question' });
    await question.waitFor();
    expect(await question.evaluate((field) => field.matches(':focus'))).toBe(true);
    await modal.getByRole('button', { name: 'Start' }).click();
    await modal.getByText('This field is required.').waitFor();
    await question.fill('no');
    await modal.getByRole('combobox', { name: 'Model' }).selectOption('two');
    await modal.getByRole('group', { name: 'Places' }).getByLabel('#coffee').check();
    const file = { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') };
    await modal.getByLabel('Files').setInputFiles([file]);
    await modal.getByRole('button', { name: 'redraw' }).click();
    await modal.getByText('Drawn anew').waitFor();
    expect(await question.inputValue()).toBe('no');
    await modal.getByRole('button', { name: 'Start' }).click();
    await modal.getByText('Please ask something.').waitFor();
    await question.fill('What now?');
    await modal.getByRole('button', { name: 'Start' }).click();
    await modal.waitFor({ state: 'hidden' });
    expect(heard.at(-1)).toMatchObject({
      state: {
        values: {
          question: { text: { value: 'What now?' } },
          model: { choice: { selected_option: { value: 'two' } } },
          channel: { place: { selected_conversation: channel } },
          places: { where: { selected_conversations: [expect.stringMatching(/^C/)] } },
          flags: { flags: { selected_options: [] } },
          files: { files: { files: [{ name: 'note.txt', size: 5 }] } },
        },
      },
    });
    const given = JSON.stringify(heard.at(-1)).match(/"url_private":"([^"]+)"/)?.[1] ?? '';
    const { botToken } = visit.sandbox.slack;
    const fetched = await fetch(given, { headers: { authorization: `Bearer ${botToken}` } });
    expect(await fetched.text()).toBe('hello');
  });

  test('a message shortcut knows its message; Escape closes the modal', async () => {
    const { ts } = await post({ text: 'About this one' });
    await last().getByText('About this one').waitFor();
    await last().hover();
    await last().getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Ask the agent about this' }).click();
    await page.getByRole('dialog', { name: 'Ask the agent' }).waitFor();
    expect(heard.at(-1)).toMatchObject({ callback_id: 'about', message: { ts } });
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Ask the agent' }).waitFor({ state: 'hidden' });
  });

  test('a command is suggested, sent, and answered to one person alone', async () => {
    const field = page.locator('#channel textarea');
    await field.pressSequentially('/ag');
    await page.getByRole('option', { name: /Manage tasks/ }).waitFor();
    await field.press('Enter');
    await field.pressSequentially('status');
    await field.press('Enter');
    const answer = page.locator('#channel .ephemeral');
    await answer.getByText('You typed: status').waitFor();
    await answer.getByText('Only visible to you').waitFor();
    expect(heard.at(-1)).toMatchObject({ command: '/agent', text: 'status', channel_id: channel });
  });

  test("the app's Home is shown, and its buttons work", async () => {
    const { slack } = visit.sandbox;
    // Ada has a Home already.
    const user = await actAs('Grace');
    await goTo(page, 'Taskthread');
    await page.getByRole('tab', { name: 'Home' }).click();
    await page.getByText('has not published a Home tab').waitFor();
    const blocks = [
      { type: 'header', text: { type: 'plain_text', text: 'Your tasks' } },
      {
        type: 'actions',
        elements: [
          { type: 'button', action_id: 'open_task', value: 't1', text: { type: 'plain_text', text: 'Open' } },
        ],
      },
    ];
    await call(slack, 'views.publish', { user_id: user, view: { type: 'home', blocks } });
    const home = page.getByRole('region', { name: "Taskthread's Home" });
    await home.getByText('Your tasks').waitFor();
    await home.getByRole('button', { name: 'Open' }).click();
    await expect.poll(() => heard.at(-1), patience).toMatchObject({ action_id: 'open_task', value: 't1' });
    await page.getByRole('tab', { name: 'Messages' }).click();
    await page.locator('#channel textarea').waitFor();
    await actAs('Ada');
  });

  test("Slack's own Stop button is there while the app says that it works", async () => {
    const { slack } = visit.sandbox;
    const { ts } = await post({ text: 'A piece of work' });
    await goTo(page, 'sequencing');
    await last().getByText('A piece of work').waitFor();
    await last().hover();
    await last().getByRole('button', { name: 'Reply in thread' }).click();
    const place = { channel_id: channel, thread_ts: ts };
    await call(slack, 'agents.sessions.setStatus', { ...place, status: 'processing' });
    await threadOf(page).getByText('Working…').waitFor();
    await threadOf(page).getByRole('button', { name: 'Stop', exact: true }).click();
    await expect
      .poll(() => heard.at(-1), patience)
      .toMatchObject({ type: 'agent_session_stopped', thread_ts: ts });
    await call(slack, 'agents.sessions.setStatus', { ...place, status: 'active' });
    await threadOf(page).getByText('Working…').waitFor({ state: 'hidden' });
  });

  test('a list stays at its end while what is in it grows, and where people have gone up to', async () => {
    const list = page.locator('#channel .scroller:has(.messages)');
    const fromEnd = () => list.evaluate((one) => one.scrollHeight - one.scrollTop - one.clientHeight);
    const grow = () =>
      last().evaluate((one) => {
        const loaded = one.ownerDocument.createElement('div');
        loaded.style.height = '900px';
        one.querySelector('.message-main')?.append(loaded);
        one.closest('.scroller')?.dispatchEvent(new one.ownerDocument.defaultView.Event('scroll'));
      });
    await post({ blocks: everyBlock(visit.sandbox.page.url) });
    await post({ text: 'The last one' });
    await last().getByText('The last one').waitFor();
    await grow();
    await expect.poll(fromEnd, patience).toBeLessThan(2);
    await list.evaluate((one) => one.scrollBy(0, -500));
    await expect.poll(fromEnd, patience).toBeGreaterThan(400);
    await page.waitForTimeout(100);
    await grow();
    await page.waitForTimeout(100);
    expect(await fromEnd()).toBeGreaterThan(1_300);
  });

  test('a deleted root leaves its thread', async () => {
    const { ts } = await post({ text: 'A root' });
    await post({ text: 'A reply', thread_ts: ts });
    await goTo(page, 'sequencing');
    await last()
      .getByRole('button', { name: /1 reply/ })
      .click();
    await threadOf(page).getByText('A reply').waitFor();
    await call(visit.sandbox.slack, 'chat.delete', { channel, ts });
    await expect.poll(() => threadOf(page).innerText(), patience).toContain('This message was deleted.');
  });
}
