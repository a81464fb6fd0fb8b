/** A node of mdast's tree, or a `formula` (on lines of its own) or `inlineFormula`; `start` and `end` are offsets in the source. */
export interface MarkdownNode {
  type: string;
  start: number;
  end: number;
  children: MarkdownNode[];
}

export const CONTAINER_TYPES = /^(?:list|listItem|blockquote)$/;

/** The nodes that hold this offset strictly inside, outermost first. */
export function nodesAround(root: MarkdownNode, at: number): MarkdownNode[] {
  const chain: MarkdownNode[] = [];
  let node: MarkdownNode | undefined = root;
  while (node) {
    const next: MarkdownNode | undefined = node.children.find((child) => child.start < at && at < child.end);
    if (next) chain.push(next);
    node = next;
  }
  return chain;
}

/** The last block and the containers around it, outermost first. */
export function lastNodes(root: MarkdownNode): MarkdownNode[] {
  const chain: MarkdownNode[] = [];
  let node = root.children.at(-1);
  while (node) {
    chain.push(node);
    node = CONTAINER_TYPES.test(node.type) ? node.children.at(-1) : undefined;
  }
  return chain;
}

/** Where the line that holds this offset starts. */
export function lineStart(text: string, at: number): number {
  return at <= 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
}

/** Where the line that holds this offset ends: its line end, or the end of the text. */
export function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}

/** What stands before an offset on its line, with list markers blanked: the prefix of a further line of the same block. */
export function linePrefix(text: string, at: number): string {
  return text.slice(lineStart(text, at), at).replace(/[^>\t]/g, ' ');
}
