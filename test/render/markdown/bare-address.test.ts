import type { Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { describe, expect, test } from 'vitest';
import { markdownToHtml } from '../../../src/render/markdown/markdown-to-html.ts';
import { AnswerSplitter } from '../../../src/render/splitting/answer-splitter.ts';
import { splitAnswer } from '../../support/answer-parts.ts';
import { markdownOf } from '../../support/markdown-shape.ts';

const DOI = 'https://doi.org/10.1038/nature12373';
const PAGE = 'https://www.ebi.ac.uk/ena';
const VIEWER = 'https://igv.org/app/?file=https://lab.example.org/a.bam,https://lab.example.org/b.bam';
const OLD_DOI = '10.1002/1097-0142(20010101)91:1<1::AID-CNCR1>3.0.CO;2-A';

/** What another reader of Markdown makes of a text: what people see, and where its links lead. */
function read(markdown: string): { seen: string; links: string[] } {
  const links: string[] = [];
  const seenOf = (node: Nodes): string => {
    if (node.type === 'link') links.push(node.url);
    if ('value' in node) return node.value;
    return 'children' in node ? node.children.map(seenOf).join('') : '';
  };
  const root = fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  return { seen: seenOf(root).replaceAll('\u2060', ''), links };
}

const shown = (answer: string, splitter = new AnswerSplitter()) =>
  read(splitter.parts(answer, { final: false }).map(markdownOf).join(''));

const finished = (answer: string) => read(splitAnswer(answer).map(markdownOf).join(''));

/** The links of a page, and its text. */
function page(answer: string): { seen: string; links: string[] } {
  const html = [...markdownToHtml(answer)].join('');
  const links = Array.from(html.matchAll(/<a href="([^"]*)"/g), ([, url = '']) => url);
  const seen = html
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>');
  return { seen: seen.trim(), links };
}

/** Answers, and where their links lead; what people see is what is written. */
const WRITTEN: readonly (readonly [string, ...string[]])[] = [
  [`见${DOI}。然后又有`, DOI],
  [`结果（${DOI}）如下`, DOI],
  [`参考 ${PAGE}，然后`, PAGE],
  [`「${PAGE}」`, PAGE],
  [`文献${DOI}的结果`, DOI],
  [`“${PAGE}”`, PAGE],
  [`»${PAGE}«`, PAGE],
  [`${PAGE}—a database`, PAGE],
  [`${DOI}'s authors`, DOI],
  [`${PAGE}’s pages`, PAGE],
  [`${DOI},${PAGE};${DOI}`, DOI, PAGE, DOI],
  [`| a | b |\n| --- | --- |\n| ${DOI}。 | x |`, DOI],
  ['https://ja.wikipedia.org/wiki/遺伝子', 'https://ja.wikipedia.org/wiki/遺伝子'],
  ...['佐々木', 'Ｔ細胞', 'ﾃｽﾄ', '二〇二〇年', '東京（曖昧さ回避）'].map((title): [string, string] => [
    `https://ja.wikipedia.org/wiki/${title}`,
    `https://ja.wikipedia.org/wiki/${title}`,
  ]),
  [
    '见https://ja.wikipedia.org/wiki/東京（曖昧さ回避）。然后',
    'https://ja.wikipedia.org/wiki/東京（曖昧さ回避）',
  ],
  [`${PAGE}（a database）`, PAGE],
  [`${DOI},p<0.05`, DOI],
  [VIEWER, VIEWER],
  [`<${PAGE},${DOI}> here`, `${PAGE},${DOI}`],
  [`（见(${PAGE}/(D))。`, `${PAGE}/(D)`],
  [`(${PAGE}/D)。`, `${PAGE}/D`],
  [`(${DOI})，然后`, DOI],
  [`“${PAGE}/D.”`, `${PAGE}/D`],
  ["https://en.wikipedia.org/wiki/Alzheimer's_disease", "https://en.wikipedia.org/wiki/Alzheimer's_disease"],
  [`https://web.archive.org/web/2020/${PAGE}`, `https://web.archive.org/web/2020/${PAGE}`],
  // Half of a DOI is another DOI.
  [`https://doi.org/${OLD_DOI} here`],
  [`<https://doi.org/${OLD_DOI}> here`],
  [`https://onlinelibrary.wiley.com/doi/${OLD_DOI} here`],
  [`[the paper](https://doi.org/${OLD_DOI})`, `https://doi.org/${OLD_DOI}`],
];

describe('a bare address', () => {
  test.each(WRITTEN)('ends where people end it: %s', (answer, ...links) => {
    expect(finished(answer)).toEqual({ ...read(answer), links });
    const decoded = page(answer).links.map(decodeURIComponent);
    expect(decoded).toEqual(links);
  });

  test.each(WRITTEN)('never leads elsewhere while it grows: %s', (answer, ...links) => {
    const splitter = new AnswerSplitter();
    const seen = Array.from(answer, (_, at) => shown(answer.slice(0, at + 1), splitter).links).flat();
    expect(links).toEqual(expect.arrayContaining([...new Set(seen)]));
  });

  test('ends before the marks of emphasis, also without a space after them', () => {
    expect(finished(`**${PAGE}/D**。`)).toEqual({ seen: `${PAGE}/D。`, links: [`${PAGE}/D`] });
    expect(page(`**${PAGE}/D**。`).links).toEqual([`${PAGE}/D`]);
  });

  test.each([
    `Copy \`https://doi.org/${OLD_DOI}\` there`,
    `\`\`\`bibtex\n@article{a, url = {https://doi.org/${OLD_DOI}}}\n\`\`\``,
    `\`\`\`sh\ncurl "https://doi.org/${OLD_DOI}"\n\`\`\``,
    `[a]( https://lab.example.org/10.1234/ab<5 )`,
    `[a](\nhttps://lab.example.org/10.1234/ab<5)`,
  ])('is as it was written in code and in the target of a link: %s', (answer) => {
    expect(splitAnswer(answer).map(markdownOf).join('')).toBe(answer);
  });

  test('is no link to half of a DOI where a bracket before it is open', () => {
    const answer = `[see https://doi.org/${OLD_DOI} here`;
    expect(finished(answer)).toEqual({ seen: answer, links: [] });
  });

  test('is shown while the sentence after it has no end yet', () => {
    expect(shown(`见${DOI}。然后又`)).toEqual({ seen: `见${DOI}。然后又`, links: [DOI] });
  });

  test.each(['https://doi.org/10.1007/978-1-4614-4869-3_5', 'https://www.ebi.ac.uk/rna-seq?a=1&b=~c'])(
    'is the same with the backslashes of Markdown: %s',
    (address) => {
      const answer = `See ${address.replace(/[_~&-]/g, '\\$&')} there`;
      expect(finished(answer)).toEqual({ seen: `See ${address} there`, links: [address] });
      expect(page(answer).links).toEqual([address.replaceAll('&', '&amp;')]);
    },
  );

  test('takes no more room than is counted', () => {
    const answer = `${DOI}。`.repeat(400);
    const parts = splitAnswer(answer);
    for (const part of parts) expect(markdownOf(part).length).toBeLessThan(9_950);
    expect(parts.flatMap((part) => read(markdownOf(part)).links)).toEqual(
      Array.from({ length: 400 }, () => DOI),
    );
  });
});

test('an address of e-mail is no link before it is whole', () => {
  const answer = 'Write to jane.doe@lab.example.org and wait.';
  const seen = Array.from(answer, (_, at) => shown(answer.slice(0, at + 1)).links).flat();
  expect([...new Set(seen)]).toEqual(['mailto:jane.doe@lab.example.org']);
});
