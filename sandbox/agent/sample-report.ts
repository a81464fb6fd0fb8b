import type { AgentTurn } from './agent-script.ts';

/** What a report says of one plate. */
interface Plate {
  number: number;
  /** Wells that could be read, of 96. */
  wells: number;
  control: number;
  treated: number;
}

const WELLS = 96;

/**
 * A report in Markdown about as many made-up plates as it takes to fill `characters`: at least that many, and one
 * section more at most. Its tables, its prose and its conclusion agree.
 */
export function sampleReport(characters: number): string {
  const plates: Plate[] = [];
  let sections = '';
  for (;;) {
    plates.push(plateOf(plates.length + 1));
    sections += sectionOf(plates);
    const text = `${introduction(plates.length)}${sections}${conclusionOf(plates)}`;
    if (text.length >= characters) return text;
  }
}

function plateOf(number: number): Plate {
  return {
    number,
    wells: WELLS - ((number * 7) % 5),
    control: 1 + ((number * 37) % 23) / 100,
    treated: 1.55 + ((number * 53) % 61) / 100,
  };
}

function introduction(count: number): string {
  const plates = count === 1 ? 'one plate' : `${count} plates`;
  return [
    `# Does the treatment raise the signal?\n\nThis report goes through ${plates} of the assay. Each has ${WELLS} wells,`,
    'half of them treated. The signal is given relative to the reference dye, so that plates can be compared.\n\n',
  ].join(' ');
}

function sectionOf(plates: readonly Plate[]): string {
  const plate = plates.at(-1) ?? plateOf(1);
  const { number, wells, control, treated } = plate;
  const half = Math.floor(wells / 2);
  const lost = WELLS - wells;
  const read =
    lost === 0
      ? `All ${WELLS} wells could be read.`
      : `${wells} of ${WELLS} wells could be read; the other ${lost === 1 ? 'one was' : `${lost} were`} dry.`;
  return `## Plate ${number}\n\n${read} Treated wells have a mean signal of **${treated.toFixed(2)}**, controls of ${control.toFixed(2)}: a ratio of ${ratioOf(plate).toFixed(2)}.

| group | wells | mean signal |
| --- | ---: | ---: |
| control | ${half} | ${control.toFixed(2)} |
| treated | ${wells - half} | ${treated.toFixed(2)} |

${remarkOn(plates)}

`;
}

function remarkOn(plates: readonly Plate[]): string {
  const plate = plates.at(-1) ?? plateOf(1);
  if (plate.number % 4 === 0) return ratiosOf(plates.slice(-4));
  if (plate.number % 3 === 0) return CHECKS;
  const before = plates.at(-2);
  if (before === undefined) return 'The other plates have to show whether the effect holds.';
  const change = ratioOf(plate) > ratioOf(before) ? 'larger' : 'smaller';
  return `The effect is ${change} here than on plate ${before.number} (${ratioOf(before).toFixed(2)}).`;
}

function ratiosOf(plates: readonly Plate[]): string {
  const ratios = plates.map((plate) => ratioOf(plate).toFixed(2)).join(', ');
  const code = `ratios = [${ratios}]\nmean(ratios)  # ${meanRatio(plates).toFixed(2)}`;
  return `The ratio over plates ${plates[0]?.number} to ${plates.at(-1)?.number}:\n\n\`\`\`python\n${code}\n\`\`\``;
}

const CHECKS = [
  'Checked on this plate:\n',
  '- The *edges* differ from the middle by less than 3 %.',
  '- The reference dye is even across all rows.',
  '- A second reading gave the same ratio within 0.02.',
].join('\n');

function conclusionOf(plates: readonly Plate[]): string {
  const sorted = plates.toSorted((a, b) => ratioOf(a) - ratioOf(b));
  const [least, greatest] = [sorted[0], sorted.at(-1)];
  if (least === undefined || greatest === undefined) return '';
  const dry = plates.reduce((sum, { wells }) => sum + WELLS - wells, 0);
  const range =
    plates.length === 1
      ? ''
      : ` It is least on plate ${least.number} (${ratioOf(least).toFixed(2)}) and greatest on plate ${greatest.number} (${ratioOf(greatest).toFixed(2)}).`;
  return `## Conclusion\n\nThe treatment raises the signal ${meanRatio(plates).toFixed(2)} times on average.${range} ${dry} of ${plates.length * WELLS} wells were dry and are left out.\n`;
}

function ratioOf({ control, treated }: Plate): number {
  return treated / control;
}

function meanRatio(plates: readonly Plate[]): number {
  return plates.reduce((sum, plate) => sum + ratioOf(plate), 0) / plates.length;
}

/** Writes a text as a model does: a few words at a time, with short pauses. */
export async function writeLikeModel(turn: AgentTurn, text: string): Promise<void> {
  for (const [index, piece] of piecesOf(text).entries()) {
    turn.write(piece);
    await turn.sleep((50 + ((index * 37) % 100)) * turn.writingPace);
  }
}

/** Splits a text after white space into pieces of about forty characters. */
function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  let piece = '';
  for (const word of text.match(/\S*\s*/g) ?? []) {
    piece += word;
    if (piece.length < 40) continue;
    pieces.push(piece);
    piece = '';
  }
  return piece === '' ? pieces : [...pieces, piece];
}

/** `1 row`, `3 rows`, `14,245 rows`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}

const STATISTICS = [
  [
    'standard deviation',
    '標準偏差',
    '标准差',
    '표준편차',
    's = \\sqrt{\\frac{1}{n-1}\\sum (x_i - \\bar{x})^2}',
  ],
  ['standard error', '標準誤差', '标准误', '표준오차', 's / \\sqrt{n}'],
  ['mean', '平均', '平均值', '평균', '\\bar{x} = \\frac{1}{n}\\sum x_i'],
] as const;

/** Explains some statistics, with formulas and with a table of their names in four languages. */
export async function explainStatistics(turn: AgentTurn): Promise<void> {
  const names = STATISTICS.map(([name, ...others]) => `| ${[name, ...others.slice(0, 3)].join(' | ')} |`);
  const formulas = STATISTICS.map(([name, , , , formula]) => `- ${name}: $${formula}$`);
  const parts = [
    'The *standard deviation* says how far the values lie apart, the *standard error* how far their mean may be off.',
    formulas.join('\n'),
    'With four times the samples, the standard error halves, and the standard deviation stays.',
    ['| English | 日本語 | 中文 | 한국어 |', '| --- | --- | --- | --- |', ...names].join('\n'),
  ];
  for (const part of parts) await writeLikeModel(turn, `${part}\n\n`);
}
