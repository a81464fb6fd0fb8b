import { readFileSync } from 'node:fs';
import fc from 'fast-check';
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
import { taskTitle } from '../../src/relay/sending/task-title.ts';
import { taskLine } from '../../src/render/blocks/task-lines.ts';
import { emojiNames, literalCost, literalMarks } from '../../src/render/markdown/literal-marks.ts';
import { restorePings } from '../../src/render/markdown/pings.ts';
import { unicodeFormula } from '../../src/render/markdown/unicode-math.ts';
import { renderReply } from '../../src/render/messages/reply-message.ts';
import { shownAnswer } from '../../src/render/messages/split-answer.ts';
import { callTitle, toolSteps } from '../../src/render/messages/tool-steps.ts';
import { turnHtml } from '../../src/render/record/record-page.ts';
import { splitAnswer } from '../support/answer-parts.ts';
import { withinMs } from '../support/busy-machine.ts';
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
  '>chr1 with masked repeats\nACGTacgtnnnACGT\nacgtACGT',
  "Signif. codes: 0 '***' 0.001 '**' 0.01 '*' 0.05; (*) p < 0.1, (***) and “*” or [*]",
  'Signs\n* p < 0.05\n** p < 0.01\n*** p < 0.001',
  'Signs\n* = padj < 0.05, ** = padj < 0.01',
  '(1-p)*(1-q)*(1-r), n*(n-1)*(n-2)/6, a*(b)*c*(d)*e, k*[A]*[B]/(Km + [B]), a %*% b %*% c',
  'sample_*_R1_001.fastq.gz, sample_*_R2_001.fastq.gz, S1_*_L001_*, S2_*_L001_*, *_R1* and *_R2*',
  '/C=C/C=C\\[C@@H](C)O, N1C=C\\[nH]/C1 and C=C\\[13CH3]',
  'D:\\MS\\05_12\\(copy)\\run.raw, Z:\\#recycle\\*.raw and \\\\nas01\\proteomics\\raw',
  'GSE\\d+_.*\\.txt\\.gz, .*_R[12]_.*\\.fastq and .*_R[12]_.*\\.fastq',
  '^[ACGT]*$ and ^[ACGT]+N*$, \\d+\\.\\d+, [A-Z]{2}_[0-9]+ or [A-Z]{3}_[0-9]+',
  "name LIKE '%_a_%', b LIKE '%_c'",
  'p.[Phe508del];[Gly542*] or p.[Gly542*];[Arg553*]',
  'c.(?_-1)_(*1_?)del, g.(3106_3110)_(3327_3341)dup and c.(?_-202)_(*1207_?)del',
  '{sample}_{unit}_R1.fq, {sample}__{n}_R1_{lane}.fq and reads/*_{1,2}.fastq.gz, raw/*_{R1,R2}.fq, a/*.{bam,bai} b/*.{vcf,bcf}',
  'BP _____/_____ mmHg, ___/___, born __/__/____ or __-__-__, pain (___/10) and (__/10), __%, (____) of (____)',
  '45%*, 52%** and 61%***; 37°*, 38°*; MT-*, mt-* and HLA-*; sc.pp.*, sc.tl.*, raw/*, bam/*; “RPS-*” or “RPL-*”; CD3+*, (*, p < 0.05), (*, q)',
  'Use <sample>_<condition>_<rep>.csv, <sample>_R1_<lane>.fq and [id]_R1_[lane]_x, [id]_[n]_y',
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
  'CYP2C19 *2 homozygotes',
  'CYP2C19 *2 or *3 homozygotes',
  'CYP2D6 *4: no function',
  'CYP2D6 *1x2/*4',
  'CYP2D6*4 or CYP2C19 *2 homozygotes',
])('%s keeps its stars in bold', (text) => {
  expect(seen(splitAnswer(`Found: **${text}**.`).map(markdownOf).join(''))).toBe(`Found: ${text}.`);
});

const pairs: [string, string][] = [
  [
    '(2*S*,3*R*)-x, 1*H*-indole, 3*a*,7*a*-y, α-D-Man*p*-(1→3)',
    '(2S,3R)-x, 1H-indole, 3a,7a-y, α-D-Manp-(1→3)',
  ],
  [
    '*O*6-methylguanine, *H*₀, *R*², *E. coli*¹, Δ*lacZ*::*kan*',
    'O6-methylguanine, H₀, R², E. coli¹, ΔlacZ::kan',
  ],
  [
    '**n→π* transition**, **TP53 R213*, R342* and W91***, **R97fs*12 or R98fs* in CYP2D6*4**',
    'n→π* transition, TP53 R213*, R342* and W91*, R97fs*12 or R98fs* in CYP2D6*4',
  ],
  [
    '**carriers of *57:01 and *58:01**, **alleles *1 (normal), *2 (loss)**',
    'carriers of *57:01 and *58:01, alleles *1 (normal), *2 (loss)',
  ],
  ['**counts_*.csv**, **__init__.py**', 'counts_*.csv, __init__.py'],
  ...[
    `\${SAMPLE}/\${SAMPLE}.bam, \${a}/\${b}, tmp.$$ and log.$$`,
    '[$(NC=O)] and [NX3;!$(NC=O)] or [$(NC=O)]',
  ].map((text): [string, string] => [text, text]),
  ['- > 50 %: high\n- >= 10: medium\n- < 10: low', '> 50 %: high>= 10: medium< 10: low'],
  [
    '*(R)*-x, *see [1]*, (see *"Title"*), *2 (n = 5)*, (below)*Note*',
    '(R)-x, see [1], (see "Title"), 2 (n = 5), (below)Note',
  ],
  ['_(in vitro)_. _Why?_ **bold *it* more**, **(x)** y', '(in vitro). Why? bold it more, (x) y'],
  ['* p < 0.05 was taken\n* **FDR** too', 'p < 0.05 was takenFDR too'],
  ['>= 5 reads, p > 0.05', '>= 5 reads, p > 0.05'],
  ['> ```\n> # Get\n>install("a")\n>run()\n> ```\n\n>a\nACGT', '# Get\ninstall("a")\nrun()\n\n>a\nACGT'],
  [
    '0.45 (0.12)*, 0.61 (0.10)**, 0.8 (0.2)***; *kcat*/*K*m',
    '0.45 (0.12)*, 0.61 (0.10)**, 0.8 (0.2)***; kcat/Km',
  ],
  [
    'H$_2$O, Ca$^{2+}$, SO$_4^{2-}$, 5 $\\mu$m, $37^\\circ$C, $^{18}$F-FDG, IC$_{50}$; ^GSE$ and $PATH_$USER',
    'H₂O, Ca²⁺, SO₄²⁻, 5 μm, 37°C, ¹⁸F-FDG, IC₅₀; ^GSE$ and $PATH_$USER',
  ],
  ['*_both_*, **_both_**, ***both***', 'both, both, both'],
  ['(*See **Table 1**.*), (*... 25 more rows.*)', '(See Table 1.), (... 25 more rows.)'],
  ['- *p < 0.05\n- 0.45 (0.12)*, 0.61 (0.10)*.', '*p < 0.050.45 (0.12)*, 0.61 (0.10)*.'],
  ['> MAPQ\n>= 20 was kept', 'MAPQ\n>= 20 was kept'],
  [
    '*et al.*, *(in vitro)*, sc.pp.*, sc.tl.*; *wrapped\nby an editor.*, **5%**, __A b__/__C__, __Note__: __--rm__, __.env__',
    'et al., (in vitro), sc.pp.*, sc.tl.*; wrapped\nby an editor., 5%, A b/C, Note: --rm, .env',
  ],
  [
    '*_important note_*, *_E. coli_ growth*, *_in vivo_* and *_in vitro_*',
    'important note, E. coli growth, in vivo and in vitro',
  ],
  [
    '**p.[Phe508del];[Gly542*]**, **L*a*b* colour**, *CYP2C19*2/*17* and *1,25(OH)2D3*',
    'p.[Phe508del];[Gly542*], L*a*b* colour, CYP2C19*2/*17 and 1,25(OH)2D3',
  ],
  ['- + strand: 12\n- - strand: 15\n1. * n.s.', '+ strand: 12- strand: 15\n\n* n.s.'],
  ['- - - a\n\n- - -\n\n- - b', 'a\n\n\n\n\n- b'],
  ['| a |\n| - |\n| 1* |\n\n* p < 0.05', 'a1*\n\n* p < 0.05'],
  ['(4a*R*,8a*S*)-x, α-D-Gal*p*-(1→4)', '(4aR,8aS)-x, α-D-Galp-(1→4)'],
  ['Means\n\n* denotes p < 0.05', 'Means\n\n* denotes p < 0.05'],
  ['*hisG*::Tn*10*, Tn*5*, IS*200* and Δ*spo0A*, Δ*araBAD*', 'hisG::Tn10, Tn5, IS200 and Δspo0A, ΔaraBAD'],
  ...[
    `find . -name "*_R1_*" -o -name '*_R2_*'`,
    '(?<=_)R[12](?=_) and x(?!_)',
    '.*\\.f(ast)?q(\\.gz)?$ and (.*)_(.*)',
    `echo "\${x%%_*}" "\${x##*/}" "\${x//_/-}"; s/_R1_001//g; s/ +/_/g`,
    'var = n*p*(1-p), SD = sqrt(n*p*(1-p)); <*> or <NON_REF> and <*>',
  ].map((text): [string, string] => [text, text]),
  ['* n > 3\n\n* p < 0.05', 'n > 3p < 0.05'],
  ['Hits:\n\n* p < 0.01\n\n* effect > 3', 'Hits:\n\np < 0.01effect > 3'],
  ['1. - x\n   - y', 'xy'],
  ['- - x\n\n    more\n  - y', 'xmorey'],
  ['1. a\n3. b\n---', 'a\n\nb\n\n\n'],
  ['2. a\n7. b\n===', 'a\n\nb\n==='],
  ['- 3. a\n  7. b\n- c', '3. a\n7. bc'],
  ['1. a | b\n3. c | d\n--- | ---', 'a | b\n\nc | d\n--- | ---'],
  ['Refs\n\n3. Ada 2020\n7. Bo 2021\n12. Cy 2022', 'Refs\n\n3. Ada 2020\n7. Bo 2021\n12. Cy 2022'],
  ['3. a\n4. b\n\nOr\n\n1. c\n1. d', 'ab\n\nOr\n\ncd'],
  [
    'See [C[C@@H](N)C(=O)O](https://one.example/a), [[O-][N+](=O)C](https://one.example/b)',
    'See C[C@@H](N)C(=O)O, [O-][N+](=O)C',
  ],
  [
    'https://one.example/~a~ and https://one.example/b~, https://one.example/c~d',
    'https://one.example/~a~ and https://one.example/b~, https://one.example/c~d',
  ],
  ['*10 vs 20 mg/kg*, CYP2D6 *4 vs *10', '10 vs 20 mg/kg, CYP2D6 *4 vs *10'],
  [`\${CO}_2$ levels, \${CO} and \${H2O}; file$_tmp$ext`, `CO₂ levels, \${CO} and \${H2O}; file$_tmp$ext`],
  ['text\\[1\\], \\*x\\*, C\\#, $x_1$', 'text[1], *x*, C#, x₁'],
  ['**in *5 mg* doses** of **the *16S rRNA* gene**', 'in 5 mg doses of the 16S rRNA gene'],
  ['**_HLA-B_*57:01**, _HLA-A_*31:01 and _CYP2D6_*4', 'HLA-B*57:01, HLA-A*31:01 and CYP2D6*4'],
  ['*lacZ*ΔM15, *his3*Δ1 *leu2*Δ0, *MAT*a and *MAT*α', 'lacZΔM15, his3Δ1 leu2Δ0, MATa and MATα'],
  ['*K*D, *F*ST = 0.1, Δ*G* = −7, ΔΔ*H*°, p*K*a, p*K*<sub>a</sub>', 'KD, FST = 0.1, ΔG = −7, ΔΔH°, pKa, pKₐ'],
  ['4a*H*-carbazole, n*p*K*x', '4aH-carbazole, n*p*K*x'],
  ['_{a}_{b}_ and _x [1]_<br>_Note_, _(in vitro)_[1]', '{a}_{b} and x [1]\nNote, (in vitro)[1]'],
  [
    '<i>Trp53</i><sup>-/-</sup> by <i>E. coli</i>, <EM>TP53</EM>, <b>n</b>; <i>a*b*</i>',
    'Trp53⁻⁄⁻ by E. coli, TP53, n; <i>a*b*</i>',
  ],
  ['so<sup>[1](https://one.example/a)</sup>', 'so<sup>1</sup>'],
];

test.each(pairs)('%s is read as %s', (markdown, text) => {
  expect(seen(splitAnswer(markdown).map(markdownOf).join(''))).toBe(text);
});

test('the marks that are added are never more than their costs', () => {
  const piece = fc.oneof(
    fc.constantFrom(...own, ...pairs.flat(), '_'.repeat(80), '*'.repeat(99)),
    fc.string({ unit: fc.constantFrom(...Array.from('*_~\\[]()>= .:a1p?$')) }),
  );
  const text = fc.array(piece).map((all) => all.join(' '));
  fc.assert(
    fc.property(text, (all) => {
      const costs = all.split('').map((_, at) => (at === 0 ? 0 : literalCost(all, at)));
      const end = literalCost(`${all}\n`, all.length);
      const added = [...literalMarks(all, 0, all.length), ...emojiNames(all, 0, all.length)];
      expect(added.length).toBeLessThanOrEqual(costs.reduce((a, b) => a + b, end));
    }),
  );
});

test('a long product takes no time', () => {
  const text = `${'2*'.repeat(30)}2 *x*`;
  const before = performance.now();
  literalMarks(text, 0, text.length);
  expect(performance.now() - before).toBeLessThan(withinMs(1_000));
});

test('what looks like an emoji in data is none', () => {
  const text =
    'chr1:100:A:T, 7:a:b, Salmonella 1,4,[5],12:b:1,2 and 1,2,12:a:[1,5]; 12:30:45, 1:1:1 and :100:';
  const shown = splitAnswer(text).map(markdownOf).join('');
  expect(shown.match(/(?<=[\w\])]):(?:\d{3,4}|[a-z]):/g)).toBe(null);
  expect(shown.replaceAll('\u2060', '')).toBe(text);
  expect(shown.split('\u2060').length).toBe(5);
  expect(splitAnswer('`chr1:100:A:T`').map(markdownOf).join('')).toBe('`chr1:100:A:T`');
  expect(readableText(message(richText(section(shown))), nobody, bot)).toBe(text);
});

test('stars of data from an app are no bold text for the agent', () => {
  for (const text of [
    '[*:1]c1ccc([*:2])cc1',
    'data/*/counts_*.tsv, data/*/meta_*.tsv',
    '(1-p)*(1-q)*(1-r)',
    'n.s. (*), (*)',
  ])
    expect(readableText(message({ text: `*Note* ${text}` }), nobody, bot)).toBe(`**Note** ${text}`);
  expect(readableText(message({ text: '*_all done_*' }), nobody, bot)).toBe('**_all done_**');
});

test('italics of one letter before others are a symbol', () => {
  const markdown = '*K*d = 5 nM, (*V*max), *k*cat; HLA-*B*57:01, x*y*z, *B*27 and *R1*fastq';
  expect(seen(splitAnswer(markdown).map(markdownOf).join(''))).toBe(
    'Kd = 5 nM, (Vmax), kcat; HLA-*B*57:01, x*y*z, *B*27 and *R1*fastq',
  );
});

test('emphasis ends before a citation, an ending and a bracket of its own, and holds whole paths', () => {
  const long = 'as the mean of three runs on two days, each by another person '.repeat(3);
  const markdown = `**Fit**.4 *Rank*.12 **setup**.py, _**flat**._ *Given ${long}(n = 9)*, **/data/out/fit_1.csv**; a*.bam, **/x/*.gz`;
  expect(seen(splitAnswer(markdown).map(markdownOf).join(''))).toBe(
    `Fit.4 Rank.12 setup.py, flat. Given ${long}(n = 9), /data/out/fit_1.csv; a*.bam, **/x/*.gz`,
  );
});

test('patterns of numbers, and products below a footnote, keep their stars', () => {
  const note = `*Values are means of three runs on two days, ${'each by another person, '.repeat(4)}times (n-1)*(k-2).`;
  const text = `Hosts 10.0.*.1 and 10.0.*.2, app-*.1 and app-*.2\n\n${note}`;
  expect(seen(splitAnswer(text).map(markdownOf).join(''))).toBe(text);
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
    const asked = /<p style="white-space: pre-wrap">(.*?)<\/p>/s.exec(html)?.[1] ?? '';
    expect(seenInHtml(asked.replaceAll('<br>', '\n'))).toBe(text);
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
