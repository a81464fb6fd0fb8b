import { readFileSync } from 'node:fs';
import { sourcesOf } from '../src/render/messages/sources.ts';

const escapedForHtml = (doi: string) =>
  doi.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** The ways in which answers and tools write a DOI. */
const FORMS: Readonly<Record<string, (doi: string) => string>> = {
  bare: (doi) => `They showed it in ${doi} and later`,
  parentheses: (doi) => `They showed it (${doi}) and later`,
  markdown: (doi) => `They showed it in **[${doi}](https://doi.org/${doi})** and later`,
  encodedLink: (doi) => `They showed it ([paper](https://doi.org/${encodeURIComponent(doi)})).`,
  json: (doi) => JSON.stringify({ work: [doi], year: 2020 }).replaceAll('/', '\\/'),
  html: (doi) => `<p>They showed it in ${escapedForHtml(doi)}<br>and later</p>`,
  fullStop: (doi) => `They showed it in ${doi}.`,
};

/**
 * Finds each DOI of a list of real ones, one a line in the file that SCIENCE_DOIS names, in each form in which answers write
 * DOIs. The last line is JSON: how many links were wrong, and how many DOIs were missed (%).
 */
export async function run(): Promise<void> {
  const file = process.env.SCIENCE_DOIS;
  if (file === undefined) {
    console.log('Skipped: no list of DOIs. Set SCIENCE_DOIS to a file of them, one a line.');
    console.log(JSON.stringify({ bench: 'dois' }));
    return;
  }
  const dois = readFileSync(file, 'utf8').split(/\r?\n/).filter(Boolean);
  const results = Object.entries(FORMS).map(([form, write]) => {
    const found = dois.map((doi) => ({ doi, linked: linksIn(write(doi)) }));
    const wrong = found.filter(({ doi, linked }) => linked.some((link) => link !== doi.toLowerCase()));
    const missed = found.filter(({ linked }) => linked.length === 0).length;
    for (const { doi, linked } of wrong.slice(0, 5))
      console.log(`  ${form}: ${doi} became ${linked.join(', ')}`);
    const missedPercent = Math.round((missed / dois.length) * 10_000) / 100;
    console.log(`${form}: ${wrong.length} of ${dois.length} wrong, ${missed} missed`);
    return [form, { wrong: wrong.length, missedPercent }] as const;
  });
  const counts = results.map(([, count]) => count);
  const wrong = counts.reduce((sum, count) => sum + count.wrong, 0);
  const missedPercent = Math.max(...counts.map((count) => count.missedPercent));
  console.log(
    JSON.stringify({
      bench: 'dois',
      dois: dois.length,
      wrong,
      missedPercent,
      ...Object.fromEntries(results),
    }),
  );
}

/** The DOIs that are linked below an answer; an address of another page as it is. */
function linksIn(text: string): string[] {
  return sourcesOf([{ kind: 'text', text }]).map(({ url }) =>
    decodeURIComponent(url).replace('https://doi.org/', '').toLowerCase(),
  );
}
