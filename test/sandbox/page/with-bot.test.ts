import type { Page } from 'playwright-core';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { connectionUrl } from '../../../sandbox/postgres-server.ts';
import { closeForms } from '../../support/browser-forms.ts';
import { type BrowserScene, describeInBrowser, openBrowserScene } from '../../support/browser-scene.ts';
import { copyTemplateDatabase } from '../../support/fresh-database.ts';
import { conversationTests } from './conversation.ts';
import { troubleTests } from './faults-and-crashes.ts';
import { adminFormTests, formTests } from './forms.ts';
import { welcomeAndArchiveTests } from './welcome-and-archives.ts';

// A bot and a browser cost seconds, so all of it happens in one workspace, in this order.
describeInBrowser('the page beside a bot', () => {
  let visit: BrowserScene;
  let page: Page;
  const opened = () => ({ visit, page });
  beforeAll(async () => {
    const databaseUrl = connectionUrl(await copyTemplateDatabase());
    visit = await openBrowserScene({ databaseUrl, agent: { pace: 1 }, slack: { retryScale: 0.02 } });
    page = await visit.open();
    return () => visit.close();
  });
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') await closeForms(page);
  });

  test('the trial of the key at the start looks like no fault', async () => {
    for (const status of [404, 401])
      await page
        .getByText(`check of the key (${status}, as expected)`)
        .first()
        .waitFor({ state: 'attached' });
    expect(await page.locator('.call-service.call-bad').count()).toBe(0);
  });

  describe("the bot's forms and its Home", () => {
    formTests(opened);
  });
  describe('the welcome, and what people take along', () => {
    welcomeAndArchiveTests(opened);
  });
  describe('a conversation', () => {
    conversationTests(opened);
  });
  describe('trouble', () => {
    troubleTests(opened);
  });
  describe('an admin', () => {
    adminFormTests(opened);
  });

  test('nothing goes wrong on the page, and nothing is fetched from elsewhere', () => {
    expect(visit.problems).toEqual([]);
    expect([...visit.hosts]).toEqual(['127.0.0.1']);
  });
});
