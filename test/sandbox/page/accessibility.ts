import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { seriousFindings } from '../../support/accessibility-findings.ts';
import { call } from '../../support/bolt-test-app.ts';
import { type BrowserScene, goTo, threadOf } from '../../support/browser-scene.ts';
import { everyBlock } from '../../support/every-block.ts';

/** The classes of the elements that scroll in one direction. */
function scrolled(page: Page, side: 'Width' | 'Height', selector: string): Promise<unknown> {
  const axis = side === 'Width' ? 'X' : 'Y';
  return page.evaluate(
    `[...document.querySelectorAll(${JSON.stringify(selector)})]
      .filter((one) => one.scroll${side} > one.client${side} && /auto|scroll/.test(getComputedStyle(one).overflow${axis}))
      .map((one) => one.className)`,
  );
}

/** What people with a keyboard or a screen reader need, in a workspace in which nobody has written. */
export function accessibilityTests(opened: () => BrowserScene): void {
  let visit: BrowserScene;
  let channel: string;
  let root: string;
  beforeAll(async () => {
    visit = opened();
    const { slack } = visit.sandbox;
    const people = new Map([...slack.team.people.values()].map(({ name, id }) => [name, id]));
    const [ada = '', grace = ''] = [people.get('ada'), people.get('grace')];
    channel = [...slack.team.channels.values()].find(({ name }) => name === 'reading-club')?.id ?? '';
    const bytes = 'gene,reads\nTP53,12\n';
    const files = [{ name: 'genes.csv', mime: 'text/csv', bytes }];
    root = slack.say({ person: ada, channel, text: 'Look, @grace: *this* `table`', files }).ts;
    slack.say({ person: grace, channel, thread: root, text: 'Seen.' });
    slack.react(grace, channel, root, 'eyes');
    const blocks = everyBlock(visit.sandbox.page.url);
    await call(slack, 'chat.postMessage', { channel, thread_ts: root, text: 'All of it', blocks });
    await call(slack, 'chat.postEphemeral', { channel, user: ada, text: 'Only for you' });
    await call(slack, 'chat.postEphemeral', {
      channel,
      user: ada,
      thread_ts: root,
      text: 'A note, no reply',
    });
    const heading = { type: 'header', text: { type: 'plain_text', text: 'Your tasks' } };
    await call(slack, 'views.publish', { user_id: ada, view: { type: 'home', blocks: [heading] } });
  });

  test.each([
    { colorScheme: 'light', width: 1280 },
    { colorScheme: 'dark', width: 400 },
  ] as const)(
    'has no serious finding by axe-core, $colorScheme and $width pixels wide',
    async ({ colorScheme, width }) => {
      const page = await visit.open(undefined, { colorScheme, viewport: { width, height: 800 } });
      const found: Record<string, string[]> = { first: await seriousFindings(page) };
      await goTo(page, 'reading-club');
      await page.getByText('Only for you').waitFor();
      found.channel = await seriousFindings(page);
      await page.getByRole('button', { name: /2 replies/ }).click();
      await threadOf(page).getByText('A header', { exact: true }).waitFor();
      await page.locator('#thread article').last().hover();
      found.thread = await seriousFindings(page);
      expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
      expect(await scrolled(page, 'Width', '.scroller')).toEqual([]);
      const names: unknown = await page.evaluate(
        `[...document.querySelectorAll('main, nav, aside, [role=group]')].filter((one) => one.checkVisibility()).map((one) => one.ariaLabel)`,
      );
      expect(names).toEqual([...new Set([names].flat())]);
      expect(names).not.toContain(null);
      await page.getByRole('button', { name: 'Close the thread' }).click();
      await page.getByRole('button', { name: 'Shortcuts' }).click();
      await page.getByRole('menuitem', { name: 'Ask the agent' }).click();
      await page.getByRole('dialog', { name: 'Ask the agent' }).waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Start' }).click();
      await page.getByText('This field is required.').waitFor();
      await page.setViewportSize({ width, height: 260 });
      expect(await scrolled(page, 'Height', 'dialog[open], dialog[open] *')).toEqual(['modal-body']);
      await page.setViewportSize({ width, height: 800 });
      found.modal = await seriousFindings(page);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
      await goTo(page, 'Taskthread');
      await page.getByRole('tab', { name: 'Home' }).click();
      await page.getByRole('heading', { name: 'Your tasks' }).waitFor();
      found.home = await seriousFindings(page);
      const panel = page.getByRole('complementary', { name: 'Behind the scenes' });
      if (!(await panel.isVisible())) await page.getByRole('button', { name: 'Behind the scenes' }).click();
      await panel.waitFor();
      await page.getByRole('switch', { name: /Slack is slow/ }).click();
      found.panel = await seriousFindings(page);
      await page.getByRole('switch', { name: /Slack is slow/ }).click();
      expect(found).toEqual({ first: [], channel: [], thread: [], modal: [], home: [], panel: [] });
      await page.close();
    },
  );

  test('says what arrives to a screen reader, once, and not each edit', async () => {
    const { slack } = visit.sandbox;
    const page = await visit.open('reading-club');
    const said: string[] = [];
    await page.exposeFunction('heard', (words: string) => said.push(words));
    await page.evaluate(
      `new MutationObserver(() => heard(document.getElementById('announcer').textContent)).observe(document.getElementById('announcer'), { childList: true })`,
    );
    const { ts } = await call(slack, 'chat.postMessage', { channel, text: 'I begin' });
    await expect.poll(() => said).toEqual(['Taskthread: I begin']);
    for (const text of ['I begin to', 'I begin to write'])
      await call(slack, 'chat.update', { channel, ts, text });
    await page.locator('#channel').getByText('I begin to write').waitFor();
    await page.waitForTimeout(1_200);
    expect(said).toHaveLength(1);
    await page.close();
  });

  test('the focus stays on a button whose message is drawn anew, and comes back from a modal', async () => {
    const { slack } = visit.sandbox;
    const page = await visit.open('reading-club');
    const button = { type: 'button', action_id: 'stop', text: { type: 'plain_text', text: 'Halt' } };
    const blocks = (text: string) => [
      { type: 'markdown', text },
      { type: 'context', elements: [{ type: 'mrkdwn', text }] },
      { type: 'actions', elements: [button] },
    ];
    const { ts } = await call(slack, 'chat.postMessage', { channel, text: 'x', blocks: blocks('One') });
    const halt = page.getByRole('button', { name: 'Halt' });
    await halt.focus();
    const more = [{ type: 'divider' }, ...blocks('Two')];
    await call(slack, 'chat.update', { channel, ts, text: 'x', blocks: more });
    await page.locator('#channel').getByText('Two').first().waitFor();
    expect(await halt.evaluate((one) => one.matches(':focus'))).toBe(true);
    const shortcuts = page.getByRole('button', { name: 'Shortcuts' });
    await shortcuts.focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Ask the agent' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(await shortcuts.evaluate((one) => one.matches(':focus'))).toBe(true);
    await page.close();
  });
}
