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
const ARTICLE = 'https://www.publisher.org/articles/10.1234/s41586-020-1';
/** DOIs with marks that an address may only hold encoded. */
const MARKED_DOIS = [
  OLD_DOI,
  '10.1002/(SICI)1097-0142(20010101/15)91:1<1::AID-CNCR1>3.0.CO;2-#',
  '10.1175/1520-0469(2001)033<0976:ABCDEF>2.0.CO;2',
  '10.1002/1521-3773(20010715)41:14<2596::aid-anie2>3.0.co;2-',
];

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
  [`${ARTICLE},p<0.05 there`, ARTICLE],
  [`${DOI},p≤0.05 and ${ARTICLE}(n=12)`, DOI, ARTICLE],
  [`${DOI}^1^ and ${PAGE}^1,2^.`, DOI, PAGE],
  [`${DOI}[1], ${PAGE}[^2] and ${DOI}[1–3].`, DOI, PAGE, DOI],
  ...['~', '*', '@'].map((mark): [string, string] => [
    `See https://doi.org/10.1234/ab${mark}cd${mark}ef.`,
    `https://doi.org/10.1234/ab${mark}cd${mark}ef`,
  ]),
  [`{"url":"${PAGE}","id":1} and {"url": "${PAGE}"}`, PAGE, PAGE],
  [`@article{a, url = {${DOI}}, year = {2020}} and \\url{${PAGE}}`, DOI, PAGE],
  [`src="${PAGE}/D"/> and x='${PAGE}',y`, `${PAGE}/D`, PAGE],
  ...['={"op":"in","content":{"field":"a","value":["b"]}}', '=gene:"TP53"+{id}', "='a','b';r=1"].map(
    (query) => [`${PAGE}?q${query}`, `${PAGE}?q${query}`] as const,
  ),
  [`${PAGE}/{{id}}/x and {${PAGE}/{id}},`, `${PAGE}/{{id}}/x`, `${PAGE}/{id}`],
  [`${PAGE}?q="BRCA1"+{id}`, `${PAGE}?q="BRCA1"+{id}`],
  [VIEWER, VIEWER],
  // An address that holds a DOI, or stands before one, may have letters of any script.
  [
    '参考：https://ja.wikipedia.org/wiki/糖尿病、https://doi.org/10.1234/abc。',
    'https://ja.wikipedia.org/wiki/糖尿病',
    'https://doi.org/10.1234/abc',
  ],
  [
    'https://files.example.org/10.1234/dryad.abc/Größe.csv',
    'https://files.example.org/10.1234/dryad.abc/Größe.csv',
  ],
  [
    'https://www.publisher.org/doi/10.1234/abc?title=Größe',
    'https://www.publisher.org/doi/10.1234/abc?title=Größe',
  ],
  ['**https://doi.org/10.1234/abc**<5%', 'https://doi.org/10.1234/abc'],
  [`<${PAGE},${DOI}> here`, `${PAGE},${DOI}`],
  [`（见(${PAGE}/(D))。`, `${PAGE}/(D)`],
  [`(${PAGE}/D)。`, `${PAGE}/D`],
  [`(${DOI})，然后`, DOI],
  [`“${PAGE}/D.”`, `${PAGE}/D`],
  ["https://en.wikipedia.org/wiki/Alzheimer's_disease", "https://en.wikipedia.org/wiki/Alzheimer's_disease"],
  [`https://web.archive.org/web/2020/${PAGE}`, `https://web.archive.org/web/2020/${PAGE}`],
];

/** Ways to write an address. */
const WAYS: readonly ((address: string) => string)[] = [
  (address) => `See ${address} here`,
  (address) => `(${address})，然后`,
  (address) => `**${address}**`,
  (address) => `<${address}> here`,
  (address) => `[the paper](${address})`,
  (address) => `[the paper](<${address}>)`,
  (address) => `[${address}](${address})`,
  (address) => `[${address.replace('https://doi.org/', '')}](${address})`,
  (address) => `- ${address},p<0.05`,
  (address) => `${address}^1^ and ${address}<sup>2</sup>`,
];
const MARKED = MARKED_DOIS.flatMap((doi) =>
  ['https://doi.org/', 'https://www.publisher.org/doi/'].flatMap((before) =>
    WAYS.map((way): [string, string] => [
      way(before + doi),
      before + doi.replace(/[<>#]/g, encodeURIComponent),
    ]),
  ),
);

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

  // Half of a DOI is another DOI.
  test.each(MARKED)('leads to the work whose DOI it holds, also while it grows: %s', (answer, link) => {
    expect([...new Set(finished(answer).links)]).toEqual([link]);
    expect([...new Set(page(answer).links)]).toEqual([link]);
    const splitter = new AnswerSplitter();
    const seen = Array.from(answer, (_, at) => shown(answer.slice(0, at + 1), splitter).links).flat();
    expect([link]).toEqual(expect.arrayContaining([...new Set(seen)]));
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

  test('leads to a whole DOI where a bracket before it is open', () => {
    const [link] = MARKED[0]?.slice(1) ?? [];
    expect(finished(`[see https://doi.org/${OLD_DOI} here`).links).toEqual([link]);
  });

  test('has no number after it that is raised', () => {
    expect(finished(`${DOI}<sup>1</sup> and`)).toEqual({ seen: `${DOI}¹ and`, links: [DOI] });
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
    for (const one of [`${DOI}。`, `https://doi.org/${OLD_DOI}^1^ `, `${PAGE}[1] `]) {
      const parts = splitAnswer(one.repeat(400));
      for (const part of parts) expect(markdownOf(part).length).toBeLessThan(9_950);
      const links = parts.flatMap((part) => read(markdownOf(part)).links);
      expect(links).toHaveLength(400);
      expect(new Set(links)).toEqual(new Set(finished(one).links));
    }
  });
});

test('an address of e-mail is no link before it is whole', () => {
  const answer = 'Write to jane.doe@lab.example.org and wait.';
  const seen = Array.from(answer, (_, at) => shown(answer.slice(0, at + 1)).links).flat();
  expect([...new Set(seen)]).toEqual(['mailto:jane.doe@lab.example.org']);
  expect(shown('Write to jane.doe@lab.ex').seen).toBe('Write to jane.doe');
});
