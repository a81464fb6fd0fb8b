import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const usualPlaces = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** The Chromium that CHROMIUM names, or one in a usual place. */
export function chromiumPath(): string | undefined {
  const { CHROMIUM: named } = process.env;
  return named ?? usualPlaces.find((path) => existsSync(path));
}

/** Starts the browser without anything that calls home. */
export async function startBrowser(): Promise<Browser> {
  const executablePath = chromiumPath();
  if (executablePath === undefined) throw new Error('No Chromium was found; name it in CHROMIUM.');
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath, args: [...asRoot, '--disable-background-networking'] });
}
