import { readFileSync } from 'node:fs';
import type { Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { compose } from '../../sandbox/slack/rich-text-composer.ts';
import { visibleText } from '../../sandbox/slack/visible-text.ts';
import { questionPost, verbatimContent } from '../../src/features/start/question-post.ts';
import { parseMessage } from '../../src/relay/reading/message-parser.ts';
import { plainText, readableText } from '../../src/relay/reading/message-to-markdown.ts';
import { buildTranscript } from '../../src/relay/sending/earlier-messages.ts';
import { taskTitle } from '../../src/relay/sending/thread-task.ts';
import { taskLine } from '../../src/render/blocks/task-lines.ts';
import { restorePings } from '../../src/render/markdown/pings.ts';
import { unicodeFormula } from '../../src/render/markdown/unicode-math.ts';
import { renderReply } from '../../src/render/messages/reply-message.ts';
import { shownAnswer } from '../../src/render/messages/split-answer.ts';
import { callTitle, toolSteps } from '../../src/render/messages/tool-steps.ts';
import { turnHtml } from '../../src/render/record/record-page.ts';
import { splitAnswer } from '../support/answer-parts.ts';
import { markdownOf } from '../support/markdown-shape.ts';
import { bot, nobody, richText, section } from '../support/message-builders.ts';
import { now, taskSummary } from '../support/task-summary.ts';

const own = [
  'HLA-DRB1*15:01~DQB1*06:02 and HLA-A*02:01',
  'CYP2C19 *2/*17 and TPMT*3A, BRCA1 p.Arg1443*, c.*32del',
  'p.(Trp26*) and p.R213* in TP53',
  'O=C(O)[C@H](N)Cc1ccccc1 and F[C@](Cl)(Br)I',
  'OC[C@H]1O[C@@](CO)(O2)[C@@H](O)[C@@H]1O',
  '[*:1]C(=O)N[*:2], [*]CC[*], y[1] w[*]; w[*] v[1]',
  'Mean ± SD\n* p < 0.05, ** p < 0.01, *** p ≤ 0.001',
  'between 2~3 h and 4~5 h, ~37 °C',
  '~ age + sex + (1|donor)',
  '$x_{i}*y_{i}*z$ and \\(a*b*c\\) and $$\\alpha*\\beta*\\gamma$$',
  '$\\left[\\begin{array}{c}1\\\\2\\end{array}\\right]$',
  '>NM_000546.6 Homo sapiens\nACGTACGTAC\nGGTTAACC',
  '>a\nACGTACGT\n>b\nTTTTGGGG',
  '##gff-version 3\nchr1\t.\tgene\t1\t9\t.\t+\t.\tID=g1',
  '#CHROM\tPOS\tID\tREF\tALT\nchr1\t1\trs334\tT\tA',
  'ACGT____________________ACGT, ACGT********************ACGT',
  '2**10 and 3**4, a*b and c*d',
  'data/*_R2_*.fastq.gz, *.csv and src/**/main.py, lib/**/x',
  '__init__ and __main__, _private and snake_case_name',
  '10.1002/x:1<e12:AID-C>3.0.CO;2-A and 10.1002/x:2<f13:AID-D>3.0.CO;2-B',
  'Trp53<tm1Tyj>, <b>, Ca<sup>2+</sup> and H<sub>2</sub>O',
  'sp|P04637|P53_HUMAN and P(A|B)',
  '-log10(padj), -Inf, +/-, -5',
  '5\u2032-ACG-3\u2032, 10\u20139 M, \u0394F508',
];
const file = process.env.SCIENCE_STRINGS;
if (file === undefined) console.log('Skipped: shared scientific strings; set SCIENCE_STRINGS to their file.');
const listed = z.array(z.looseObject({ text: z.string() }));
const shared = file === undefined ? [] : listed.parse(JSON.parse(readFileSync(file, 'utf8')));
/** With its simple formulas and scripts in plain characters. */
const plain = (text: string, spans = /\$\$?[^$]+\$\$?|\\\(.+?\\\)|<(su[bp])>[^<]*<\/\1>/g) =>
  text.replace(spans, (span) => unicodeFormula(span) ?? span);
const strings = [...own, ...shared.map(({ text }) => text)];
const turnId = '01a1fbfe-6e3a-7000-83e3-5e284a624414';

/** What a reader of GFM sees, without the code under test. HTML, footnotes and definitions are text in Slack. */
function seen(markdown: string): string {
  const notInSlack = ['htmlFlow', 'htmlText', 'definition', 'gfmFootnoteDefinition', 'gfmFootnoteCall'];
  const textOf = (node: Nodes): string => {
    if ('value' in node) return node.value;
    return 'children' in node ? node.children.map(textOf).join(node.type === 'root' ? '\n\n' : '') : '\n';
  };
  const extensions = [gfm(), { disable: { null: notInSlack } }];
  return textOf(fromMarkdown(markdown, { extensions, mdastExtensions: [gfmFromMarkdown()] }));
}

/** What a reader of HTML sees. */
function seenInHtml(html: string): string {
  const text = html
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>');
  return text.replaceAll('&quot;', '"').replaceAll('&amp;', '&');
}

test('an address that is shown as itself leads where it says', () => {
  for (const address of [
    'https://genome.ucsc.edu/~user_x/_y_/a',
    'https://www.ebi.ac.uk/?q=TP53*b*c&r=*.vcf',
  ])
    for (const text of [`See ${address} now`, `<${address}>`])
      expect(splitAnswer(text).map(markdownOf).join('')).toBe(text);
});

test.each([
  'CYP2C19 (*1/*17)',
  '(*1/*17)',
  'TPMT*3A/*3C',
  'CYP2D6 *4',
  '*2, *3 and *17',
  '*36+*10 alleles',
  '*1/*2xN is rapid',
])('%s keeps its stars in bold', (text) => {
  expect(seen(splitAnswer(`Found: **${text}**.`).map(markdownOf).join(''))).toBe(`Found: ${text}.`);
});

test('italics of one letter before others are a symbol', () => {
  const markdown = '*K*d = 5 nM, (*V*max), *k*cat; HLA-*B*57:01, x*y*z, *B*27 and *R1*fastq';
  expect(seen(splitAnswer(markdown).map(markdownOf).join(''))).toBe(
    'Kd = 5 nM, (Vmax), kcat; HLA-*B*57:01, x*y*z, *B*27 and *R1*fastq',
  );
});

test('italics that end with a dot are no positions after a stop codon', () => {
  const markdown =
    'Smith *et al.* (2020): 5 mg *b.i.d.*, (*i.v.*), *Salmonella spp.*, *BRCA1*/*2*, *16S rRNA*; c.*32_*35del and p.*110Glnext*17';
  expect(seen(splitAnswer(markdown).map(markdownOf).join(''))).toBe(
    'Smith et al. (2020): 5 mg b.i.d., (i.v.), Salmonella spp., BRCA1/2, 16S rRNA; c.*32_*35del and p.*110Glnext*17',
  );
});

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const withoutTags = (text: string) => text.replace(/<\/?su[bp]>/g, '');
const oneLine = (text: string) => text.replace(/\s+/g, ' ');
const message = (content: object) => parseMessage({ ts: '1700000000.000100', user: 'U0ADA', ...content });
const nobodyNamed = { person: () => undefined, channel: () => undefined };

describe.each(strings)('%j is seen as it was written', (text) => {
  const pasted = message(richText(section(text)));

  // Slack itself reads pairs of marks between spaces.
  test.runIf(!/(?<![\w*])[*_~]\S/.test(text))('by the agent: typed, and from an app', () => {
    expect(readableText(message(compose(text, nobodyNamed, 'b1')), nobody, bot)).toBe(text);
    expect(readableText(message({ text: escaped(text) }), nobody, bot)).toBe(text);
  });

  test('by the agent: pasted, from a form, and quoted from a thread', () => {
    expect(readableText(pasted, nobody, bot)).toBe(text);
    expect(readableText(message(verbatimContent(text)), nobody, bot)).toBe(text);
    const options = { names: nobody, botUserId: bot, missing: undefined, maxMessages: 5 };
    const transcript = buildTranscript({ ...options, maxCharacters: 5_000, messages: [pasted] });
    expect(transcript.replace(/^> ?/gm, '')).toContain(text);
  });

  test('in an answer', () => {
    expect(seen(splitAnswer(text).map(markdownOf).join(''))).toBe(plain(text));
  });

  test.runIf(!text.includes('\n'))('in a table that people sort, and in its CSV', () => {
    const cell = text.replaceAll('|', '\\|');
    const rows = (more: string, rule: string) =>
      `| a |${more}\n| - |${rule}\n${`| ${cell} |${more}\n`.repeat(11)}`;
    const reply = (markdown: string) => ({
      ...({ turnId, phase: 'done', elapsedMs: 1, notes: [], maxMessages: 12 } as const),
      newBlocks: ['data_table' as const],
      blocks: [{ kind: 'text' as const, text: markdown }],
    });
    const blocks = renderReply(reply(rows('', '')))[0]?.blocks ?? [];
    const shown = Array.from({ length: 11 }, () => plain(text));
    expect(visibleText(blocks.find(({ type }) => type === 'data_table'))).toBe(
      ['Table with 11 rows', 'a', ...shown].join('\n'),
    );
    const [csv = ''] = shownAnswer(reply(rows(' x |'.repeat(22), ' - |'.repeat(22)))).tables;
    expect(csv.split('\r\n')[1]).toBe(`"${plain(text)}"${',"x"'.repeat(22)}`);
  });

  test('in a title and in lists of tasks', () => {
    const title = taskTitle(plainText(pasted, nobody, bot, true));
    expect(title).toBe(oneLine(text.split('\n')[0] ?? ''));
    const shown = (permalink: string | null) => {
      const summary = taskSummary({ task_title: title, permalink });
      const [line = ''] = taskLine(summary, now, 'channel').split('\n');
      const label = line
        .replace(/^<https:[^|]*\|(.*)>$/, '$1')
        .replace(/ \(<https:[^|]*\|Open thread>\)$/, '');
      return restorePings(seenInHtml(label)).replace(/^`(.*)`$/, '$1');
    };
    expect(shown('https://sandbox.slack.com/archives/C1/p1700000000000100')).toBe(title);
    expect(shown(null)).toBe(title);
  });

  test('on the page of a record', () => {
    const turn = {
      ...{ number: 1, writer: { id: 'U0ADA', name: 'Ada' } },
      ...{ filesIn: [], filesOut: [], skill: null, outcome: 'completed', endedAt: new Date(0) },
      messages: [{ sentAt: new Date(0), text: plainText(pasted, nobody, bot) }],
      answer: [{ kind: 'text' as const, text }],
    };
    const html = [...turnHtml(turn)].join('');
    expect(seenInHtml(/<p class="asked">(.*?)<\/p>/s.exec(html)?.[1] ?? '')).toBe(text);
    const answer = /<h3>Answer<\/h3>\n<p class="note">.*?<\/p>\n(.*?)(?:<h3>Sources|$)/s.exec(html)?.[1];
    expect(seenInHtml(answer ?? '').trim()).toBe(withoutTags(plain(text, /\$\$?[^$]+\$\$?|\\\(.+?\\\)/g)));
  });

  test('in steps, and in a post that asks it again', () => {
    const [step] = toolSteps([
      { kind: 'tool_use', id: 't', name: 'search', input: { query: text } },
      { kind: 'tool_result', toolUseId: 't', content: text },
    ]);
    expect(restorePings(step?.input ?? '')).toBe(text);
    expect(restorePings(step?.output ?? '')).toBe(text);
    const title = callTitle({ name: 'search', input: { query: text } }, 200);
    expect(`Search: ${oneLine(text)}`).toContain(title.replace(/ ?…$/, ''));
    const post = questionPost({
      ...{ person: 'U0ADA', question: text, quote: undefined, choices: {}, files: [] },
    });
    expect(restorePings(visibleText(post.blocks))).toContain(text);
  });
});
