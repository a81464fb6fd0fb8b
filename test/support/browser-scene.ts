import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { describe } from 'vitest';
import {
  type InteractiveSandbox,
  type InteractiveSandboxOptions,
  startInteractiveSandbox,
} from '../../sandbox/interactive-sandbox.ts';
import { chromiumPath, startBrowser } from './chromium.ts';

const found = chromiumPath() !== undefined;
if (!found) console.warn('Tests of the page are passed over: no Chromium was found. Name one in CHROMIUM.');

/** Tests in a browser; passed over, with the reason printed, where there is none. */
export const describeInBrowser = found ? describe : describe.skip;

/** A sandbox and a browser; to be closed at the end. */
export async function openBrowserScene(options: InteractiveSandboxOptions): Promise<BrowserScene> {
  // A busy machine must not make windows too late: what a test waits for is the page, not Slack's deadlines.
  const unhurried = { triggerMs: 30_000, ackTimeoutMs: 30_000 };
  const sandbox = await startInteractiveSandbox({ ...options, slack: { ...unhurried, ...options.slack } });
  try {
    return new BrowserScene(sandbox, await startBrowser());
  } catch (error) {
    await sandbox.stop();
    throw error;
  }
}

/** A scene, and a page of it on which tests go on where the last one ended. */
export interface OpenedPage {
  visit: BrowserScene;
  page: Page;
}

/** People who use the sandbox's page. */
export class BrowserScene {
  readonly sandbox: InteractiveSandbox;
  readonly #browser: Browser;
  /** What went wrong on any page, and every address that a page asked for. */
  readonly problems: string[] = [];
  readonly hosts = new Set<string>();

  constructor(sandbox: InteractiveSandbox, browser: Browser) {
    this.sandbox = sandbox;
    this.#browser = browser;
  }

  async close(): Promise<void> {
    await this.#browser.close();
    await this.sandbox.stop();
  }

  /** Ends what takes the agent long, such as `/slow 600`. */
  hurry(): void {
    for (const { id } of this.sandbox.agent.tasks) this.sandbox.agent.hurry(id);
  }

  /** A page of the browser, to show something else in. */
  async newPage(options: BrowserContextOptions = {}): Promise<Page> {
    const page = await this.#browser.newPage({
      viewport: { width: 1280, height: 800 },
      locale: 'en-GB',
      reducedMotion: 'reduce',
      ...options,
    });
    page.setDefaultTimeout(60_000);
    page.on('pageerror', (error) => this.problems.push(error.stack ?? error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') this.problems.push(message.text());
    });
    return page;
  }

  /** A new page of the sandbox; `channel` is the name of one to go to. */
  async open(channel?: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await this.newPage(options);
    page.on('request', (request) => this.hosts.add(new URL(request.url()).hostname));
    await page.goto(this.sandbox.page.url);
    await page.getByRole('heading', { name: 'sequencing' }).waitFor();
    if (channel !== undefined) await goTo(page, channel);
    return page;
  }
}

/** Chooses a conversation, also where the list of them has to be opened first. */
export async function goTo(page: Page, name: string): Promise<void> {
  const list = page.getByRole('button', { name: 'Conversations' });
  if (await list.isVisible()) await list.click();
  await page
    .getByRole('navigation')
    .getByRole('button', { name: new RegExp(`^${name}`) })
    .click();
  await page.getByRole('main').getByRole('heading', { name, level: 1 }).waitFor();
}

/** Writes into the channel or the open thread, and sends it. */
export async function say(page: Page, where: 'channel' | 'thread', words: string): Promise<void> {
  const field = page.locator(`#${where} .composer textarea`);
  await field.fill(words);
  await field.press('Enter');
}

/** The open thread. */
export function threadOf(page: Page) {
  return page.getByRole('complementary', { name: 'Thread' });
}
