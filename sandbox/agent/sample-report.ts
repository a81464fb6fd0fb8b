import type { AgentTurn } from './agent-script.ts';

const WELLS = 96;
const INTRODUCTION = `# Does the treatment raise the signal?

This report goes through the plates of an assay. Each has ${WELLS} wells, half of them treated. The signal is given relative to the reference dye, so that plates can be compared.

`;
const CHECKS = `Checked on this plate:

- The *edges* differ from the middle by less than 3 %.
- The reference dye is even across all rows.
- A second reading gave the same ratio within 0.02.

`;

/**
 * A report in Markdown about as many made-up plates as it takes to fill `characters`: at least that many, and one
 * section more at most. Its tables, its prose and its conclusion agree.
 */
export function sampleReport(characters: number): string {
  let text = INTRODUCTION;
  const ratios: number[] = [];
  while (ratios.length === 0 || text.length < characters) {
    const number = ratios.length + 1;
    const [control, treated] = [1 + ((number * 37) % 23) / 100, 1.55 + ((number * 53) % 61) / 100];
    ratios.push(treated / control);
    text += sectionOf(number, control, treated);
    if (number % 3 === 0) text += CHECKS;
    if (number % 4 === 0) text += `\`\`\`python\nmean(ratios)  # ${meanOf(ratios)}\n\`\`\`\n\n`;
  }
  return `${text}## Conclusion\n\nThe treatment raises the signal ${meanOf(ratios)} times on average.\n`;
}

function sectionOf(number: number, control: number, treated: number): string {
  const ratio = (treated / control).toFixed(2);
  return `## Plate ${number}

Treated wells have a mean signal of **${treated.toFixed(2)}**, controls of ${control.toFixed(2)}: a ratio of ${ratio}.

| group | wells | mean signal |
| --- | ---: | ---: |
| control | ${WELLS / 2} | ${control.toFixed(2)} |
| treated | ${WELLS / 2} | ${treated.toFixed(2)} |

`;
}

function meanOf(ratios: readonly number[]): string {
  return (ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length).toFixed(2);
}

/** Writes a text as a model does: a few words at a time, with short pauses; with a writing pace of 0 all at once. */
export async function writeLikeModel(turn: AgentTurn, text: string): Promise<void> {
  for (const [index, piece] of piecesOf(text).entries()) {
    turn.write(piece);
    if (turn.writingPace > 0) await turn.sleep((50 + ((index * 37) % 100)) * turn.writingPace);
  }
}

/** Splits a text after white space into pieces of about forty characters. */
function piecesOf(text: string): string[] {
  return text.match(/.{1,40}\S*\s*/gs) ?? [];
}

/** `1 row`, `3 rows`, `14,245 rows`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}

const EXPLANATION = `The *standard deviation* says how far the values lie apart, the *standard error* how far their mean may be off.

- standard deviation: $s = \\sqrt{\\frac{1}{n-1}\\sum (x_i - \\bar{x})^2}$
- standard error: $s / \\sqrt{n}$
- mean: $\\bar{x} = \\frac{1}{n}\\sum x_i$

With four times the samples, the standard error halves, and the standard deviation stays.

| English | 日本語 | 中文 | 한국어 |
| --- | --- | --- | --- |
| standard deviation | 標準偏差 | 标准差 | 표준편차 |
| standard error | 標準誤差 | 标准误 | 표준오차 |
| mean | 平均 | 平均值 | 평균 |

`;

/** Explains some statistics, with formulas and with a table of their names in four languages. */
export async function explainStatistics(turn: AgentTurn): Promise<void> {
  await writeLikeModel(turn, EXPLANATION);
}
