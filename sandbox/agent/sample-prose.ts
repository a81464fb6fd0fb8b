import type { AgentTurn } from './agent-script.ts';

/** Writes a text as a model does: a few words at a time, every 50 to 150 ms. */
export async function writeLikeModel(turn: AgentTurn, text: string): Promise<void> {
  for (const [index, piece] of piecesOf(text).entries()) {
    turn.write(piece);
    await turn.sleep(50 + ((index * 37) % 100));
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

const PARAGRAPHS = [
  'The samples were grouped by batch before anything was compared, so that a shift between plates is not taken for biology. The larger part of the variance sits between donors, not between treatments.',
  '- The first group shows a *clear* rise after six hours.\n- The second stays flat within the error of the assay.\n- The third was measured twice; both runs agree within 3 %.',
  '```python\nscores = table.groupby("donor")["signal"].mean()\nprint(scores.sort_values())\n```',
  '| group | n | signal |\n| --- | ---: | ---: |\n| control | 48 | 1.02 |\n| treated | 47 | 1.84 |\n| washed out | 45 | 1.11 |',
  'A note on method: values below the limit of detection were kept as half that limit. Leaving them out changes the third digit only, and no conclusion with it.',
] as const;

/** Markdown of exactly this many characters: headings, prose, lists, code and tables. */
export function longMarkdown(characters: number): string {
  let text = '';
  for (let section = 0; text.length < characters; section += 1) {
    const paragraph = PARAGRAPHS[section % PARAGRAPHS.length] ?? '';
    const heading = section % 4 === 0 ? `## Section ${section / 4 + 1}\n\n` : '';
    text += `${heading}${paragraph}\n\n`;
  }
  return text.slice(0, characters);
}
