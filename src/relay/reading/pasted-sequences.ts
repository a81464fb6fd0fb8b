import { type ParsedBlock, textOf, textPiece } from './parsed-blocks.ts';

/** A line of a sequence: residues, gaps and stops. */
const SEQUENCE_LINE = /^(?:[ACGTUNRYKMSWBDHV-]{4,}|[ACGTUNacgtun-]{6,}|[A-Z*-]{8,})\s*(?:\n|$)/;

/** The blocks with each sequence (FASTA) as its lines: Slack takes its header, which begins with `>`, for a quotation. */
export function withSequences(blocks: readonly ParsedBlock[]): ParsedBlock[] {
  const merged: ParsedBlock[] = [];
  const sequences = new Set<ParsedBlock>();
  for (const block of blocks) {
    const header = merged.at(-1);
    merged.push(block);
    if (header?.kind !== 'quoted_lines' || block.kind !== 'paragraph') continue;
    if (!SEQUENCE_LINE.test(textOf(block.content))) continue;
    const before = merged.at(-3);
    const continuesOther = before?.kind === 'paragraph' && sequences.has(before);
    const above = continuesOther ? [...before.content, textPiece('\n>')] : [textPiece('>')];
    const content = [...above, ...header.content, textPiece('\n'), ...block.content];
    const sequence = { kind: 'paragraph', content } as const;
    merged.splice(continuesOther ? -3 : -2, 3, sequence);
    sequences.add(sequence);
  }
  return merged;
}
