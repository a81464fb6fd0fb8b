import { expect, test } from 'vitest';
import {
  generatedPages,
  PAGES_WITH_LINK,
  readPage,
  withAgentWords,
  withCreateAppLink,
} from './generated-pages.ts';

test.each(Object.entries(generatedPages()))(
  '%s is what the code prints (npm run readme)',
  async (path, text) => {
    expect(await readPage(path)).toBe(text);
  },
);

test('the manifest hints at every word that may follow /agent (npm run readme)', async () => {
  const manifest = await readPage('manifest.yml');
  expect(manifest).toContain('usage_hint: "new | ');
  expect(manifest).toBe(withAgentWords(manifest));
});

test.each(PAGES_WITH_LINK)(
  "%s links to Slack's page for a new app with the manifest of now",
  async (path) => {
    const text = await readPage(path);
    expect(text).toContain('][create-app]');
    expect(text).toBe(withCreateAppLink(text));
  },
);
