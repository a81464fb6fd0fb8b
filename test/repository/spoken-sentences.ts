import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'rolldown/utils';

/** A text of src/render/strings: the names that lead to it, and its parts between what is filled in. */
export interface SpokenText {
  readonly path: string;
  readonly parts: readonly string[];
}

/** Words of a text that is a sentence; what is shorter is a label or a status. */
const SENTENCE_WORDS = 4;

const folder = fileURLToPath(new URL('../../src/render/strings', import.meta.url));

/** Every text of at least four words in src/render/strings. Those for the agent, and the buttons' labels, are left out. */
export function readSpokenTexts(): SpokenText[] {
  const names = readdirSync(folder).filter(
    (name) => name.endsWith('.ts') && !['to-agent.ts', 'buttons.ts'].includes(name),
  );
  return names.flatMap((name) => textsOf(name, readFileSync(join(folder, name), 'utf8')));
}

function textsOf(name: string, source: string): SpokenText[] {
  const { program, errors } = parseSync(name, source);
  if (errors.length > 0) throw new Error(`${name}: ${errors[0]?.message}`);
  const found: SpokenText[] = [];
  collectTexts(program, [], found);
  return found.filter(({ parts }) => countWords(parts.join(' … ')) >= SENTENCE_WORDS);
}

/** Collects the texts below a node of the syntax tree; `path` are the names above it. */
function collectTexts(node: unknown, path: readonly string[], found: SpokenText[]): void {
  if (Array.isArray(node)) {
    for (const each of node) collectTexts(each, path, found);
    return;
  }
  if (!isNode(node) || node.type.startsWith('TS') || node.type === 'ImportDeclaration') {
    if (isNode(node) && 'expression' in node) collectTexts(node.expression, path, found);
    return;
  }
  const below = [...path, ...nameOf(node)];
  if (node.type === 'Literal' && typeof node.value === 'string')
    found.push({ path: path.join('.'), parts: [node.value] });
  if (node.type === 'TemplateLiteral' && Array.isArray(node.quasis))
    found.push({ path: path.join('.'), parts: node.quasis.flatMap(cookedText) });
  for (const [key, value] of Object.entries(node))
    if (key !== 'key' && key !== 'id' && key !== 'params') collectTexts(value, below, found);
}

type Node = Readonly<Record<string, unknown>> & { readonly type: string };

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

/** The name that a declaration or a property gives to what is below it. */
function nameOf(node: Node): string[] {
  const name = node.type === 'Property' ? node.key : node.id;
  return isNode(name) && typeof name.name === 'string' ? [name.name] : [];
}

function cookedText(quasi: unknown): string[] {
  const value = isNode(quasi) ? quasi.value : undefined;
  if (typeof value !== 'object' || value === null || !('cooked' in value)) return [];
  return typeof value.cooked === 'string' ? [value.cooked] : [];
}

/** How many words a text has. */
export function countWords(text: string): number {
  return text.split(/\s+/).filter((word) => /[\p{L}\d]/u.test(word)).length;
}
