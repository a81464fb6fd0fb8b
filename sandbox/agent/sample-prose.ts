import type { AgentTurn } from './agent-script.ts';

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
