import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';

/** A source tree: each file's path below `src/`, and its text. */
export type Tree = ReadonlyMap<string, string>;

/** What a room of the house may take from the others. */
interface Layer {
  /** Rooms that it may import values and types from. */
  readonly uses: readonly string[];
  /** Rooms that it may import types from, with `import type`. */
  readonly knows?: readonly string[];
}

const LOWER_LAYERS = ['slack', 'agent', 'reply', 'store'];
const sandboxKnows = ['listen', 'relay', 'operate', ...LOWER_LAYERS];

/** The rooms: folders of `src/`, and the files that stand alone in it. */
export const LAYERS: Readonly<Record<string, Layer>> = {
  main: { uses: ['config', 'app', 'operate', 'listen', 'relay', ...LOWER_LAYERS] },
  app: { uses: ['config', 'operate', 'listen', 'relay', ...LOWER_LAYERS] },
  operate: { uses: ['config', ...LOWER_LAYERS], knows: ['relay'] },
  listen: { uses: ['relay', ...LOWER_LAYERS] },
  relay: { uses: LOWER_LAYERS },
  reply: { uses: [], knows: ['agent'] },
  slack: { uses: [] },
  agent: { uses: [] },
  store: { uses: [] },
  config: { uses: ['agent'] },
  sandbox: { uses: ['config', 'app', 'operate', 'store'], knows: sandboxKnows },
};

/** Packages that only some rooms may import. */
const packages: readonly { name: RegExp; rooms: readonly string[] }[] = [
  { name: /^@slack\//, rooms: ['listen', 'slack', 'sandbox'] },
];

/**
 * Field names of the service that mean nothing elsewhere. Left out are those that are columns of our own
 * tables too (`task_id`, `user_message_id`, `result_id`, `size_bytes`).
 */
const SERVICE_FIELDS = [
  'file_ids',
  'stop_reason',
  'finish_reason',
  'with_urls',
  'download_url',
  'part_urls',
  'part_numbers',
  'part_number',
  'upload_id',
  'upload_type',
  'initial_messages',
  'tool_use_id',
  'before_id',
  'after_id',
  'has_more',
  'mime_type',
];
const SERVICE_LAYERS = ['agent', 'sandbox'];

/** Folders whose files are too many, and too alike, to be named each. */
const SUMMARISED_FOLDERS = /^(?:store\b|sandbox\/)/;

const MAX_LINES = 350;
const MAX_README_LINES = 30;

/** Every breach of the house's rules: where, which rule, and how to mend it. */
export function findViolations(tree: Tree): string[] {
  const found: string[] = [];
  for (const [path, text] of tree) {
    found.push(...nameBreaches(path));
    if (!path.endsWith('.ts')) continue;
    found.push(...sizeBreaches(path, text), ...importBreaches(path, text), ...fieldBreaches(path, text));
  }
  return [...found, ...readmeBreaches(tree)];
}

function importBreaches(path: string, text: string): string[] {
  const from = layerOf(path);
  const room = LAYERS[from];
  if (room === undefined) {
    return [
      `${path}: "${from}" is no room of the house. Move the file into one, or add the room to test/architecture.ts.`,
    ];
  }
  return importsOf(text).flatMap(({ target, typeOnly }) => {
    if (!target.startsWith('.')) return packageBreaches(path, from, target);
    const resolved = posix.normalize(posix.join(posix.dirname(path), target));
    if (resolved.startsWith('..')) {
      return [`${path} imports ${target}, outside src. Only test and bench import from beside src.`];
    }
    const to = layerOf(resolved);
    if (to === from || room.uses.includes(to)) return [];
    if (room.knows?.includes(to)) {
      return typeOnly
        ? []
        : [`${path} imports values from ${to}: ${from} may only \`import type\` from it. Pass the value in.`];
    }
    const allowed =
      [...room.uses, ...(room.knows ?? []).map((name) => `types of ${name}`)].join(', ') || 'nothing of ours';
    return [
      `${path} imports ${target}: ${from} may import ${allowed}, not ${to}. ` +
        `Declare what it needs as a type of its own and let a room above pass it in.`,
    ];
  });
}

function packageBreaches(path: string, from: string, target: string): string[] {
  return packages
    .filter(({ name, rooms: allowed }) => name.test(target) && !allowed.includes(from))
    .map(
      ({ rooms: allowed }) =>
        `${path} imports ${target}: only ${allowed.join(', ')} may. Take what it gives through a type of our own.`,
    );
}

function fieldBreaches(path: string, text: string): string[] {
  if (SERVICE_LAYERS.includes(layerOf(path))) return [];
  const code = withoutComments(text);
  return SERVICE_FIELDS
    .filter((field) => new RegExp(`(?<![\\w$])${field}(?![\\w$])`).test(code))
    .map(
      (field) =>
        `${path} uses ${field}, a field of the service: only agent knows it. Use agent's camelCase type.`,
    );
}

function sizeBreaches(path: string, text: string): string[] {
  // All that people read stands in one file, and it is a list.
  if (path === 'reply/words.ts') return [];
  const lines = text.split('\n').length - 1;
  return lines > MAX_LINES
    ? [`${path} has ${lines} lines, more than ${MAX_LINES} (aim: 250). Split it by responsibility.`]
    : [];
}

function nameBreaches(path: string): string[] {
  return path.split('/').some((part) => /^(?:utils?|helpers?)(?:\.|$)/.test(part))
    ? [`${path}: no utils, no helpers. Name it after what it is about, or put it where it is used.`]
    : [];
}

function readmeBreaches(tree: Tree): string[] {
  const folders = new Set(
    [...tree.keys()].map((path) => posix.dirname(path)).filter((folder) => folder !== '.'),
  );
  for (const folder of folders) {
    const parent = posix.dirname(folder);
    if (parent !== '.') folders.add(parent);
  }
  return [...folders].sort().flatMap((folder) => {
    const readme = tree.get(`${folder}/README.md`);
    if (readme === undefined)
      return [`${folder} has no README.md. Say what it owns, what it does not, and its rules.`];
    const lines = readme.trimEnd().split('\n').length;
    const long = `${folder}/README.md has ${lines} lines, more than ${MAX_README_LINES}. Shorten it.`;
    const unnamed = [...tree.keys(), ...[...folders].map((name) => `${name}/`)]
      .filter((path) => posix.dirname(path) === folder && !SUMMARISED_FOLDERS.test(folder))
      .map((path) => path.slice(folder.length + 1))
      .filter((name) => name !== 'README.md' && !readme.includes(`\`${name}`))
      .map((name) => `${folder}/README.md does not name \`${name}\`. Say what it is.`);
    return lines > MAX_README_LINES ? [long, ...unnamed] : unnamed;
  });
}

/** The room that a path below `src/` is in: its first folder, or the file's own name. */
function layerOf(path: string): string {
  const [first = ''] = path.split('/');
  return first.replace(/\.ts$/, '');
}

/** The modules that a file imports. `import { type A }` counts as a value: it still runs the module. */
export function importsOf(text: string): { target: string; typeOnly: boolean }[] {
  const code = withoutComments(text);
  const statement = /^[ \t]*(?:import|export)\b([^;'"`]*?\bfrom)?\s*['"]([^'"]+)['"]/gm;
  const call = /\bimport\(\s*['"`]([^'"`]+)['"`]/g;
  return [
    ...[...code.matchAll(statement)].map(([, clause = '', target = '']) => ({
      target,
      typeOnly: /^\s*type\b(?!\s+from\b)/.test(clause),
    })),
    ...[...code.matchAll(call)].map(([, target = '']) => ({ target, typeOnly: false })),
  ];
}

/** The code with its comments blanked; strings, templates and regular expressions are left alone. */
export function withoutComments(text: string): string {
  const token =
    /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`|(?<=[(,=:[!&|?{};\n]\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\//g;
  return text.replace(token, (found) => (/^\/[*/]/.test(found) ? found.replace(/[^\n]/g, ' ') : found));
}

/** The tree below a folder: its `.ts` and `.md` files. */
export function readTree(folder: string): Tree {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:ts|md)$/.test(entry.name))
    .map((entry) => `${entry.parentPath.replaceAll('\\', '/')}/${entry.name}`);
  return new Map(files.sort().map((path) => [posix.relative(folder, path), readFileSync(path, 'utf8')]));
}
