import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { type InteractiveSandbox, startInteractiveSandbox } from '../../sandbox/interactive-sandbox.ts';
import { exitIfHelpIsAsked } from '../../src/operate/command-runner.ts';
import { startBrowser } from './chromium.ts';
import { Recording } from './recording.ts';
import { recordTerminal } from './terminal-recording.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = `${root}docs/pictures/`;
const viewport = { width: 1180, height: 760 };
const still = { viewport, deviceScaleFactor: 1.35, locale: 'en-GB' };
/** Narrow enough that the page hides its panel. */
const film = { viewport: { width: 1040, height: 660 }, deviceScaleFactor: 1.5, locale: 'en-GB' };
const wideViewport = { width: 1280, height: 730 };

/** Makes the pictures of the README and the docs, in both colour schemes. Look at them before they are committed. */
async function takePictures(): Promise<void> {
  await mkdir(folder, { recursive: true });
  const sandbox = await startInteractiveSandbox({ agent: { writingPace: 8 }, slack: { retryScale: 0.05 } });
  const browser = await startBrowser();
  try {
    chat(sandbox.slack);
    const light = await browser.newPage({ ...still, colorScheme: 'light' });
    const dark = await browser.newPage({ ...still, colorScheme: 'dark' });
    const lightFilm = await browser.newPage({ ...film, colorScheme: 'light' });
    const darkFilm = await browser.newPage({ ...film, colorScheme: 'dark' });
    const pages = [lightFilm, darkFilm, light, dark];
    for (const page of pages) await page.goto(sandbox.page.url);
    const welcome = light.getByText('Try it: ask the agent');
    await welcome.click();
    await light.getByRole('button', { name: /What is in this run/ }).click();
    await light.locator('.chip').waitFor();
    await welcome.click();
    await light.locator('#channel textarea').focus();
    await light.keyboard.press('Enter');
    for (const page of pages) {
      await page.getByRole('button', { name: /1 reply/ }).click();
      await calm(page);
    }
    await record(lightFilm, darkFilm);
    for (const page of [light, dark]) await page.getByRole('button', { name: 'Hide the panel' }).click();
    await take(light, 'results-light');
    await take(dark, 'results-dark');
    await stepsOf(light);
    const thread = light.url();
    await formOf(light);
    await homeOf(light, sandbox.slack);
    const wide = await browser.newPage({ viewport: wideViewport, deviceScaleFactor: 1.15, locale: 'en-GB' });
    await wide.goto(thread);
    await trouble(wide);
  } finally {
    await browser.close();
    await sandbox.stop();
  }
}

/** The demo in a terminal. */
async function recordDemo(): Promise<void> {
  const browser = await startBrowser();
  try {
    const page = await browser.newPage({ viewport: { width: 980, height: 674 } });
    const { gif, exitCode } = await recordTerminal(page, ['sandbox/demo.ts'], root);
    if (exitCode !== 0) throw new Error('The demo failed: run it by itself to see why.');
    await writeFile(`${folder}demo.gif`, gif);
  } finally {
    await browser.close();
  }
}

/** Records a reply that grows, from its first line to the files below it. */
async function record(light: Page, dark: Page): Promise<void> {
  const recordings = { 'growing-light': new Recording(light), 'growing-dark': new Recording(dark) };
  const files = light.getByRole('link', { name: 'Download' }).first();
  const until = performance.now() + 60_000;
  let isDone = false;
  while (!isDone) {
    if (performance.now() > until) throw new Error('The reply did not end within a minute.');
    isDone = await files.isVisible();
    for (const recording of Object.values(recordings)) await recording.take();
    await light.waitForTimeout(100);
  }
  // The rest of the results, such as the picture, appears a moment after the first link.
  for (let frame = 0; frame < 6; frame += 1) {
    await light.waitForTimeout(250);
    for (const recording of Object.values(recordings)) await recording.take();
  }
  for (const [name, recording] of Object.entries(recordings))
    await writeFile(`${folder}${name}.gif`, recording.gif());
}

/** What people said before. */
function chat(slack: Awaited<ReturnType<typeof startInteractiveSandbox>>['slack']): void {
  const person = (name: string) => [...slack.team.people.values()].find((one) => one.name === name)?.id ?? '';
  const channel = [...slack.team.channels.values()].find(({ name }) => name === 'sequencing')?.id ?? '';
  slack.say({
    person: person('grace'),
    channel,
    text: 'Run 18 is off the sequencer. The table is with @ada.',
  });
  const last = slack.say({
    person: person('ada'),
    channel,
    text: 'Thanks! I ask what is in it before we start the *alignment*.',
  });
  slack.react(person('grace'), channel, last.ts, '+1');
}

/** What the agent did, in a modal. */
async function stepsOf(page: Page): Promise<void> {
  await page.locator('#thread').getByRole('button', { name: 'Steps' }).click();
  await page.getByRole('dialog').getByText('Output').first().waitFor();
  await take(page, 'steps');
  await page.keyboard.press('Escape');
}

/** The form by which a task is begun, filled in. */
async function formOf(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Close the thread' }).click();
  await page.locator('#channel textarea').fill('/agent new');
  await page.keyboard.press('Enter');
  const form = page.getByRole('dialog', { name: 'Ask the agent' });
  await form.getByRole('combobox', { name: 'Where' }).selectOption({ label: '#reading-club' });
  const question = 'Which genes does the paper of this week look at, and in how many samples?';
  await form.getByRole('textbox', { name: 'What should the agent do?' }).fill(question);
  await form.getByRole('textbox', { name: 'Title' }).fill('Genes of this week’s paper');
  await form.getByLabel('Max').check();
  await take(page, 'form');
  await form.getByRole('button', { name: 'Start' }).click();
  await form.waitFor({ state: 'hidden' });
}

/** App Home with tasks of two people, one of them at work. */
async function homeOf(page: Page, slack: InteractiveSandbox['slack']): Promise<void> {
  const person = (name: string) => [...slack.team.people.values()].find((one) => one.name === name)?.id ?? '';
  const ask = (who: string, where: string, text: string) => {
    const channel = [...slack.team.channels.values()].find(({ name }) => name === where)?.id ?? '';
    slack.say({ person: person(who), channel, text: `<@${slack.team.bot.userId}> ${text}` });
  };
  ask('grace', 'sequencing', 'Which lanes had the fewest reads?');
  ask('ada', 'assay-42', '--title "Compare plates 7 and 8" Take your time.\n/slow 90');
  await page.waitForTimeout(4_000);
  await page
    .getByRole('navigation')
    .getByRole('button', { name: /^Taskthread/ })
    .click();
  await page.getByRole('tab', { name: 'Home' }).click();
  const home = page.locator('.home');
  await page.setViewportSize({ ...viewport, height: 820 });
  await home.getByRole('combobox').selectOption({ label: '#sequencing' });
  await home.getByRole('button', { name: 'Channel settings' }).waitFor();
  await take(page, 'home');
}

/** The bot is killed while it writes; the panel shows it, and what was called. */
async function trouble(page: Page): Promise<void> {
  await page.locator('#thread textarea').fill('And what is the mean of reads? Take your time.\n/slow 30');
  await page.keyboard.press('Enter');
  await page.locator('#thread').getByText('Second 1 of 30').waitFor({ timeout: 60_000 });
  await page.getByRole('button', { name: /Crash it/ }).click();
  await page.locator('.phase-down').waitFor();
  await take(page, 'trouble');
}

/** Nothing is pointed at and no caret blinks. */
async function calm(page: Page): Promise<void> {
  await page.mouse.move(0, 0);
  await page.evaluate('document.activeElement.blur()');
}

async function take(page: Page, name: string): Promise<void> {
  await calm(page);
  await page.waitForTimeout(150);
  // Written anew without filters, which makes flat colours a good deal smaller; nothing is see-through.
  const picture = PNG.sync.read(await page.screenshot());
  const bytes = PNG.sync.write(picture, {
    deflateLevel: 9,
    deflateStrategy: 0,
    filterType: 0,
    colorType: 2,
  });
  await writeFile(`${folder}${name}.png`, bytes);
}

exitIfHelpIsAsked('Usage: npm run pictures\n\nTakes the pictures of the docs again, in the sandbox.');
await takePictures();
await recordDemo();
