import { expect, test } from 'vitest';
import * as strings from '../../src/render/strings/index.ts';
import { openAppScene } from '../support/app-scene.ts';

const scene = await openAppScene({ settings: { CHECK_SOURCES: 'crossref,pubmed' } });

test('what the agent of the sandbox cites is in every state that people should see, until they have it replaced', async () => {
  const channel = scene.channel();
  const root = scene.ask(channel, 'Which papers is this from?\n/sources');
  const found = '6 sources: 2 found, 1 retracted (2019), 1 corrected, 1 newer version, 1 not found';
  await scene.until('its sources are checked', () => scene.shown(channel, root).includes(found));
  const shown = scene.shown(channel, root);
  for (const line of [
    '1. 10.5555/plates.2016.96 ✓ found: Edge effects in plates of 96 wells (2016)',
    '2. 10.5555/dyes.2014.7 ⛔ retracted on 2019-05-14: Bleaching of reference dyes',
    '3. 10.5555/robots.2018.3 ✎ corrected on 2018-11-02',
    '4. 10.5555/scales.2020.404 ✗ not found',
    '5. 10.5555/preprints.2022.58 ↑ newer version: Drift of plate readers',
    '6. PMID 16990137 ✓ found: A description of the assay (2006)',
    strings.ncbiDisclaimer.text,
  ])
    expect(shown).toContain(line);
  const { ts } = await scene.messageWithButton(channel, root, 'replace_sources');
  await scene.slack.click({ person: scene.grace, channel, ts, actionId: 'replace_sources' });
  const replaced = '6 sources: 5 found, 1 corrected';
  await scene.until('the new sources are checked', () => scene.shown(channel, root).includes(replaced));
  const after = scene.shown(channel, root);
  expect(after).toContain('I cite other works for [2], [4], [5].');
  expect(after).toContain(strings.buttonUsed('grace', 'replace_sources'));
  expect(after).toContain('5. 10.5555/readers.2023.9 ✓ found');
  const buttons = JSON.stringify(scene.replies(channel, root).map(({ blocks }) => blocks));
  expect(buttons).not.toContain('"replace_sources"');
});
