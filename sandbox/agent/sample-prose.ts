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
