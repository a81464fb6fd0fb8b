import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { type BrowserScene, goTo, type OpenedPage, say, threadOf } from '../../support/browser-scene.ts';

/** What people see while something fails. */
export function troubleTests(opened: () => OpenedPage): void {
  let visit: BrowserScene;
  let page: Page;
  beforeAll(() => {
    ({ visit, page } = opened());
  });

  test('Stop keeps what was written, and what waited goes to the agent when people say so', async () => {
    await goTo(page, 'reading-club');
    await say(page, 'channel', '@taskthread Take your time.\n/slow 600');
    const thread = threadOf(page);
    const reply = thread.locator('.from-app').first();
    await reply.getByText('Second 1 of 600').waitFor();
    await say(page, 'thread', 'How about these 3 words?');
    await thread.getByRole('button', { name: /hourglass.*: Taskthread/ }).waitFor();
    await reply.hover();
    await reply.getByRole('button', { name: 'Add a reaction' }).click();
    await page.getByRole('menuitem', { name: 'octagonal sign' }).click();
    await reply.getByText('Stopped by').waitFor();
    expect(await reply.innerText()).toContain('Second 1 of 600');
    await thread.getByText('1 message is waiting.').waitFor();
    await thread.getByRole('button', { name: 'Send to agent' }).click();
    await thread.getByText(/You wrote 5 words/).waitFor();
  });

  test('a bot that is killed goes on in the same message', async () => {
    await goTo(page, 'assay-42');
    await say(page, 'channel', '@taskthread Count.\n/slow 600');
    const thread = threadOf(page);
    await thread.getByText('Second 1 of 600').waitFor();
    await page.getByRole('button', { name: /Crash it/ }).click();
    await page.locator('.phase-down').waitFor();
    await page.getByRole('button', { name: 'Start it again' }).click();
    visit.hurry();
    await thread.getByText('Second 600 of 600').waitFor();
    await page.locator('.phase-running').waitFor();
    await thread.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
    expect(await thread.getByText('Second 1 of 600').count()).toBe(1);
  });

  test('an agent that writes papers shows its figure where its text has it, and its table to sort', async () => {
    const papers = page.getByRole('switch', { name: /writes papers/ });
    await papers.click();
    await goTo(page, 'sequencing');
    await say(page, 'channel', '@taskthread What did the treatment do?');
    const thread = threadOf(page);
    await thread.getByText('Figure: gene changes.png, below').waitFor();
    const figure = thread.getByRole('img', { name: 'Changes of all genes' });
    await figure.waitFor();
    await expect.poll(() => figure.evaluate((one) => 'naturalWidth' in one && one.naturalWidth)).toBe(720);
    const shown = await thread.locator('.from-app').first().innerText();
    expect(shown).toContain('Cells were kept at 37 °C and 5 % CO₂ [1]');
    expect(shown).toMatch(/Changes of all genes[\s\S]*Figure 1\./);
    await thread.getByText(/sources: 3 found/).waitFor();
    expect(await thread.innerText()).toContain('1. PMID 16990137 ✓ found');
    await papers.click();
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
    await expect.poll(() => down.getAttribute('aria-checked')).toBe('false');
    await threadOf(page)
      .getByText(/You wrote 3 words/)
      .waitFor();
    expect(Number(await page.getByRole('meter').getAttribute('aria-valuenow'))).toBeGreaterThan(0);
  });
}
