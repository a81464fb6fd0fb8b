import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { goTo, type OpenedPage, say, threadOf } from '../../support/browser-scene.ts';

const patience = { timeout: 10_000 };

/** What people see while something fails. */
export function troubleTests(opened: () => OpenedPage): void {
  let page: Page;
  beforeAll(() => {
    ({ page } = opened());
  });

  test('Stop keeps what was written, and what waited goes to the agent when people say so', async () => {
    await goTo(page, 'reading-club');
    await say(page, 'channel', '@taskthread Take your time.\n/slow 60');
    const thread = threadOf(page);
    const reply = thread.locator('.from-app').first();
    await reply.getByText('Second 1 of 60').waitFor();
    await say(page, 'thread', 'How about these 3 words?');
    await thread.getByRole('button', { name: /hourglass.*: Taskthread/ }).waitFor();
    await reply.hover();
    await reply.getByRole('button', { name: 'Add a reaction' }).click();
    await page.getByRole('menuitem', { name: 'octagonal sign' }).click();
    await reply.getByText('Stopped by').waitFor();
    expect(await reply.innerText()).toContain('Second 1 of 60');
    await thread.getByText('1 message is waiting.').waitFor();
    await thread.getByRole('button', { name: 'Send to agent' }).click();
    await thread.getByText(/You wrote 5 words/).waitFor();
  });

  test('a bot that is killed goes on in the same message', async () => {
    await goTo(page, 'assay-42');
    await say(page, 'channel', '@taskthread Count.\n/slow 7');
    const thread = threadOf(page);
    await thread.getByText('Second 1 of 7').waitFor();
    await page.getByRole('button', { name: /Crash it/ }).click();
    await page.locator('.phase-down').waitFor();
    await page.getByRole('button', { name: 'Start it again' }).click();
    await thread.getByText('Second 7 of 7').waitFor();
    await page.locator('.phase-running').waitFor();
    await thread.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
    expect(await thread.getByText('Second 1 of 7').count()).toBe(1);
  });

  test('faults are switched on and off, and the calls show what they do', async () => {
    const down = page.getByRole('switch', { name: /The service is down/ });
    await down.click();
    await goTo(page, 'Taskthread');
    await say(page, 'channel', 'Is anybody there?');
    await page.locator('.call-service.call-bad').first().waitFor();
    await threadOf(page)
      .getByText(/can't reach the agent service right now/)
      .waitFor();
    await down.click();
    await expect.poll(() => down.getAttribute('aria-checked'), patience).toBe('false');
    await threadOf(page)
      .getByText(/You wrote 3 words/)
      .waitFor();
    expect(Number(await page.getByRole('meter').getAttribute('aria-valuenow'))).toBeGreaterThan(0);
  });
}
