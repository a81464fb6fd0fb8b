import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import * as strings from '../../src/render/strings/index.ts';

const patience = { timeout: 15_000 };

/** Waits until no form is open. */
export const closed = (page: Page) => page.getByRole('dialog').waitFor({ state: 'hidden' });

/** Closes the form that is open. */
export async function closeForm(page: Page): Promise<void> {
  await page.keyboard.press('Escape');
  await closed(page);
}

/** Closes what a test that failed left open, so that the next one begins as if it had passed. */
export async function closeForms(page: Page): Promise<void> {
  const isOpen = async () => {
    const open = await page.getByRole('dialog').first().isVisible();
    if (open) await page.keyboard.press('Escape');
    return open;
  };
  await expect.poll(isOpen, { ...patience, interval: 250 }).toBe(false);
}

/** Nothing is left open: a bot that was slow says in the window that all is done. */
export async function taken(page: Page): Promise<void> {
  const isOpen = async () => {
    if (await page.getByText(strings.settingsSaved).isVisible()) await page.keyboard.press('Escape');
    return page.getByRole('dialog').isVisible();
  };
  await expect.poll(isOpen, patience).toBe(false);
}

/** Presses a form's button until it is seen what is to come of it: a bot that has too little time complains. */
export async function send(page: Page, name: string, seen: (page: Page) => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    await page.getByRole('dialog').getByRole('button', { name }).click();
    try {
      return await seen(page);
    } catch (error) {
      if (tries === 3) throw error;
    }
  }
}
