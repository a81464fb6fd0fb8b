/** The style of a text. Styles that Markdown lacks are omitted. */
export interface TextStyle {
  readonly bold?: boolean | undefined;
  readonly italic?: boolean | undefined;
  readonly strike?: boolean | undefined;
  readonly code?: boolean | undefined;
}

/** A reference to something by its Slack id. `label` is the name that the message itself gives, if any. */
export interface SlackReference {
  readonly kind: 'person' | 'channel' | 'usergroup';
  readonly id: string;
  readonly label?: string | undefined;
  readonly style: TextStyle;
}

/** An inline element. Text is decoded: `<` is a less-than sign. */
export type ParsedInline =
  | { readonly kind: 'text'; readonly text: string; readonly style: TextStyle }
  | { readonly kind: 'link'; readonly url: string; readonly label: string; readonly style: TextStyle }
  | SlackReference;

/** Plain text as an inline element, without the characters that keep data in answers from being emoji. */
export function textPiece(text: string, style: TextStyle = {}): ParsedInline {
  return { kind: 'text', text: text.replace(/(?<=:)\u2060/g, ''), style };
}

/** A link, which shows its label. */
export function linkPiece(url: string, label: string): ParsedInline {
  return { kind: 'link', url, label, style: {} };
}

/** A person, a channel or a group; `label` is the name that the message itself gives, if any. */
export function referencePiece(kind: SlackReference['kind'], id: string, label?: string): SlackReference {
  return { kind, id, label, style: {} };
}

/** What inline elements say. Links say their labels. */
export function textOf(content: readonly ParsedInline[]): string {
  const texts = content.map((piece) => {
    if (piece.kind === 'text') return piece.text;
    return piece.kind === 'link' ? piece.label : (piece.label ?? piece.id);
  });
  return texts.join('');
}

/** A list. In Slack a nested list is the next block, with a larger `indent`. */
export interface ParsedList {
  readonly kind: 'list';
  readonly ordered: boolean;
  /** 0 at the margin. */
  readonly indent: number;
  /** The number of the first item, minus one. */
  readonly offset: number;
  readonly items: readonly (readonly ParsedInline[])[];
}

/** A table. Cells are parsed only where they are read, because it may have very many. */
export interface ParsedTable {
  readonly kind: 'table';
  readonly rows: readonly (readonly unknown[])[];
  readonly columns: number;
  readonly firstRows: () => readonly (readonly (readonly ParsedInline[])[])[];
  /** The name of the file that holds all of it, if it goes to the agent as one, too. */
  readonly file?: string;
}

/** A paragraph, a list, a table, code, or a quotation of lines or of blocks. Paragraphs keep their line breaks. */
export type ParsedBlock =
  | { readonly kind: 'paragraph' | 'quoted_lines'; readonly content: readonly ParsedInline[] }
  | { readonly kind: 'code'; readonly text: string; readonly language: string }
  | ParsedList
  | ParsedTable
  | { readonly kind: 'quoted_blocks'; readonly blocks: readonly ParsedBlock[] };

/** All inline elements of the blocks, in reading order. A table has those that the text shows, and code has none. */
export function inlinesOf(blocks: readonly ParsedBlock[]): ParsedInline[] {
  return blocks.flatMap((block): readonly ParsedInline[] => {
    if (block.kind === 'paragraph' || block.kind === 'quoted_lines') return block.content;
    if (block.kind === 'list') return block.items.flat();
    if (block.kind === 'table') return block.firstRows().flat(2);
    return block.kind === 'quoted_blocks' ? inlinesOf(block.blocks) : [];
  });
}
