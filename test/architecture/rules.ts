import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';

/** A source tree: each file's path below the repository's root, and its text. */
export type Tree = ReadonlyMap<string, string>;

/** What a room of the house may import. */
interface Room {
  /** Rooms whose values and types it may import. */
  readonly uses: readonly string[];
  /** Rooms of which it may import types only, with `import type`. */
  readonly typesOf?: readonly string[];
}

/** The relay's rooms from top to bottom: each may import those below it. */
const RELAY = [
  'turns',
  'controls',
  'replies',
  'sending',
  'inbox',
  'access',
  'reading',
  'installations',
  'tasks',
  'runtime',
].map((name) => `src/relay/${name}`);
const SERVICES = [
  'src/slack',
  'src/agent',
  'src/registries',
  'src/render',
  'src/store',
  'src/calls',
  'src/limits',
];

/** Every room, and what it may import. A room is a folder, or a file that stands alone. */
export const ROOMS: Readonly<Record<string, Room>> = {
  'src/main': {
    uses: ['src/config', 'src/app', 'src/operate', 'src/listeners', ...RELAY, ...SERVICES],
  },
  'src/app': {
    uses: [
      'src/config',
      'src/operate',
      'src/listeners',
      'src/features',
      ...RELAY,
      ...SERVICES,
      'src/postgres',
    ],
  },
  'src/operate': {
    uses: [
      'src/config',
      'src/operate/rehearsal',
      'src/relay/reading',
      ...SERVICES,
      'src/postgres',
      'package.json',
    ],
    typesOf: RELAY,
  },
  // It calls what the bot calls, and nothing else.
  'src/operate/rehearsal': { uses: ['src/config', ...RELAY, ...SERVICES] },
  'src/listeners': { uses: ['src/features', ...RELAY, ...SERVICES] },
  'src/features': { uses: [...RELAY, ...SERVICES] },
  ...Object.fromEntries(
    RELAY.map((room, index) => [room, { uses: [...RELAY.slice(index + 1), ...SERVICES] }]),
  ),
  'src/render': { uses: [], typesOf: ['src/agent', 'src/registries'] },
  'src/slack': { uses: ['src/calls'] },
  'src/agent': { uses: ['src/calls'] },
  'src/registries': { uses: ['src/calls'] },
  'src/calls': { uses: [] },
  'src/store': { uses: ['src/calls', 'src/postgres'], typesOf: ['src/registries'] },
  'src/postgres': { uses: [] },
  'src/limits': { uses: [] },
  'src/config': { uses: ['src/agent', 'src/registries'] },
  setup: { uses: ['src/calls', 'src/config', 'src/slack', 'src/agent', 'src/operate', 'src/postgres'] },
  'sandbox/fuzz': { uses: ['sandbox', 'src/operate', 'src/agent', 'src/render'] },
  'rolldown.config': { uses: [] },
  sandbox: {
    // `src/render` for reading back what the bot writes; `scaled-bot.ts` runs `src/main` with other limits.
    uses: [
      'rolldown.config',
      'src/main',
      'src/limits',
      'src/config',
      'src/app',
      'src/operate',
      'src/store',
      'src/postgres',
      'src/render',
    ],
    typesOf: ['src/listeners', 'src/features', ...RELAY, 'src/slack', 'src/agent'],
  },
};

/** Packages that only some rooms may import. */
const PACKAGES: readonly { name: RegExp; rooms: readonly string[] }[] = [
  { name: /^@slack\/(?!types$)/, rooms: ['src/listeners', 'src/slack', 'sandbox'] },
  { name: /^@slack\/types$/, rooms: ['src/listeners', 'src/slack', 'src/render', 'sandbox'] },
];

/**
 * What parses answers, and who may use it beside types: each of them renders in slices, and those of the relay give the
 * slices to the render queue. An answer may be crafted to take the parser seconds.
 */
const PARSERS: Readonly<Record<string, readonly string[]>> = {
  'src/render/markdown/parse-markdown.ts': [
    'src/render/splitting/answer-splitter.ts',
    'src/render/splitting/cut-point.ts',
    'src/render/splitting/incomplete-markdown.ts',
    'src/render/splitting/open-part.ts',
    'src/render/messages/tables.ts',
    'src/render/markdown/markdown-to-html.ts',
  ],
  'src/render/markdown/markdown-to-html.ts': ['src/render/record/record-page.ts'],
  'src/render/record/record-page.ts': ['src/features/task-details/record-request.ts'],
  'src/render/splitting/answer-splitter.ts': [
    'src/render/messages/reply-message.ts',
    'src/render/messages/split-answer.ts',
    'src/render/messages/review-message.ts',
    'src/relay/replies/reply-messages.ts',
    'src/relay/replies/reply-state.ts',
    'src/relay/replies/review-posts.ts',
  ],
  'src/render/splitting/cut-point.ts': [
    'src/render/splitting/answer-splitter.ts',
    'src/render/splitting/open-part.ts',
    'src/relay/replies/reply-state.ts',
  ],
  // The rehearsal renders answers of its own.
  'src/render/messages/reply-message.ts': [
    'src/relay/replies/reply-state.ts',
    'src/operate/rehearsal/steps.ts',
  ],
  'src/render/messages/review-message.ts': ['src/relay/replies/review-posts.ts'],
  'src/render/messages/split-answer.ts': [
    'src/render/messages/reply-message.ts',
    'src/relay/replies/reply-state.ts',
  ],
  'src/render/messages/long-tables-as-csv.ts': ['src/render/messages/split-answer.ts'],
  'src/render/messages/tables.ts': [
    'src/render/messages/reply-message.ts',
    'src/render/messages/long-tables-as-csv.ts',
    'src/relay/replies/result-posts.ts',
  ],
  'src/render/messages/id-patterns.ts': [
    'src/render/messages/sources.ts',
    'src/render/messages/searched-text.ts',
  ],
  'src/render/messages/searched-text.ts': [
    'src/render/messages/sources.ts',
    'src/render/messages/words-beside.ts',
  ],
  'src/render/messages/sources.ts': [
    'src/render/messages/tool-steps.ts',
    'src/render/messages/checked-sources.ts',
    'src/render/messages/reply-message.ts',
    'src/render/record/record-page.ts',
    'src/features/checked-sources.ts',
    'src/features/steps-and-fresh-links.ts',
    'src/features/task-details/record-request.ts',
  ],
};

/**
 * The service's field names that mean nothing elsewhere. Those that are columns of our own tables too
 * (`task_id`, `user_message_id`, `result_id`, `size_bytes`) are left out.
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
  'mime_type',
];
const SERVICE_FIELD_ROOMS = ['src/agent', 'sandbox', 'sandbox/fuzz'];

/** Folders with too many similar files to name each in their README. */
const SUMMARISED = /^(?:sandbox\/)/;

/** Where connections to the outside are made: by HTTP/1.1, through the proxy. Others get them from there. */
const CONNECTIONS = 'src/calls/outbound-proxy.ts';

/**
 * What Slack says of people's rights, and who may ask it: `rights.ts` for all that people use, beside what decides whose
 * messages, words and files go to the agent, and where a shared channel's events belong.
 */
const RIGHTS = /\.isAdmin\b|\b(?:statusOf|personNow|channelNow|currentPerson|requirePerson)\(/g;
const ASK_RIGHTS: readonly string[] = [
  'src/relay/access/rights.ts',
  'src/relay/access/access-policy.ts',
  'src/relay/sending/linked-messages.ts',
  'src/relay/sending/allowed-files.ts',
  'src/relay/installations/shared-channels.ts',
  'src/relay/inbox/backfill.ts',
  'src/app/intake.ts',
];
/** Where presses and forms are handled, and what each such file imports to ask for a right. */
const HANDLERS = /^src\/(?:features|relay\/controls)\//;
const ASKED_IN = /\/(?:rights|[a-z]+-permission)\.ts$/;

const MAX_LINES = 350;
const MAX_README_LINES = 30;

interface Import {
  readonly target: string;
  readonly typeOnly: boolean;
}

/** Every broken rule of the house: where, which one, and how to mend it. */
export function violations(tree: Tree): string[] {
  const code = [...tree].filter(([path]) => path.endsWith('.ts'));
  return [
    ...[...tree.keys()].flatMap(nameViolations),
    ...code.flatMap(([path, text]) => [
      ...sizeViolations(path, text),
      ...importsOf(text).flatMap((one) => [...importViolations(path, one), ...parserViolations(path, one)]),
      ...fieldViolations(path, text),
      ...connectionViolations(path, text),
      ...rightViolations(path, text),
    ]),
    ...cycleViolations(fileGraph(tree), 'files'),
    ...folderCycleViolations(tree),
    ...readmeViolations(tree),
  ];
}

function importViolations(path: string, { target, typeOnly }: Import): string[] {
  const from = roomOf(path);
  const room = ROOMS[from];
  if (room === undefined)
    return [`${path}: "${from}" is no room of the house. Move the file, or add the room to ROOMS.`];
  if (!target.startsWith('.')) return packageViolations(path, from, target);
  const resolved = posix.join(posix.dirname(path), target);
  const to = roomOf(resolved);
  if (to === from) return featureViolations(path, resolved);
  if (room.uses.includes(to)) return [];
  if (room.typesOf?.includes(to)) {
    return typeOnly
      ? []
      : [`${path} imports values from ${to}: ${from} may only \`import type\` from it. Pass the value in.`];
  }
  return [
    `${path} imports ${target}: ${from} may not import ${to}. ` +
      'Declare what it needs as a type of its own, and let a room above pass it in.',
  ];
}

function parserViolations(path: string, { target, typeOnly }: Import): string[] {
  const users = PARSERS[posix.join(posix.dirname(path), target)];
  if (users === undefined || typeOnly || users.includes(path) || !path.startsWith('src/')) return [];
  return [
    `${path} imports ${target}, which parses answers: only ${users.join(', ')} may, in slices of the render queue.`,
  ];
}

/** A feature is a folder or a file of `src/features`; all share these. */
const SHARED_BY_FEATURES = ['modals.ts'];

function featureViolations(path: string, target: string): string[] {
  const from = featureOf(path);
  const to = featureOf(target);
  if (to === undefined || from === to) return [];
  return from === undefined
    ? [`${path} imports ${target}: what all features share may not import one of them.`]
    : [`${path} imports ${target}: features do not import each other. Move what both need to the relay.`];
}

function featureOf(path: string): string | undefined {
  const name = /^src\/features\/([^/]+)/.exec(path)?.[1];
  return name === undefined || SHARED_BY_FEATURES.includes(name) ? undefined : name;
}

function packageViolations(path: string, from: string, target: string): string[] {
  return PACKAGES.filter(({ name, rooms }) => name.test(target) && !rooms.includes(from)).map(
    ({ rooms }) => `${path} imports ${target}: only ${rooms.join(', ')} may. Use a type of our own.`,
  );
}

function fieldViolations(path: string, text: string): string[] {
  if (SERVICE_FIELD_ROOMS.includes(roomOf(path))) return [];
  const code = withoutComments(text);
  return SERVICE_FIELDS.filter((field) => new RegExp(`(?<![\\w$])${field}(?![\\w$])`).test(code)).map(
    (field) =>
      `${path} uses ${field}, a field of the service: only src/agent knows it. Use its camelCase type.`,
  );
}

function connectionViolations(path: string, text: string): string[] {
  if (!path.startsWith('src/') || path === CONNECTIONS) return [];
  const imports = importsOf(text);
  const clients = imports.filter(
    ({ target, typeOnly }) => /^(?:undici|node:http[s2])$/.test(target) && !typeOnly,
  );
  const isGiven = imports.some(({ target }) => posix.join(posix.dirname(path), target) === CONNECTIONS);
  const takes = isGiven ? null : /(?<![\w$.#])(?:fetch\(|new WebSocket\()/.exec(withoutComments(text));
  const own = [...clients.map(({ target }) => `values of ${target}`), ...(takes === null ? [] : [takes[0]])];
  return own.map(
    (what) =>
      `${path} uses ${what}, whose connections may speak HTTP/2 and pass the proxy by: take them from ${CONNECTIONS}.`,
  );
}

/** A right is asked in one place, in which each file asks that handles presses or forms. */
function rightViolations(path: string, text: string): string[] {
  if (!path.startsWith('src/') || path.startsWith('src/slack/')) return [];
  const code = withoutComments(text);
  const own = ASK_RIGHTS.includes(path) ? [] : [...new Set(code.match(RIGHTS))];
  const handles = HANDLERS.test(path) && /\b(?:ButtonHandlers|FormHandlers)\b/.test(code);
  const asks = importsOf(text).some(({ target, typeOnly }) => ASKED_IN.test(target) && !typeOnly);
  return [
    ...own.map((found) => `${path} uses ${found}: rights are asked by ${ASK_RIGHTS[0]} alone.`),
    ...(handles && !asks ? [`${path} handles presses or forms without a right: ask ${ASK_RIGHTS[0]}.`] : []),
  ];
}

function sizeViolations(path: string, text: string): string[] {
  const lines = text.split('\n').length - 1;
  return lines > MAX_LINES
    ? [`${path} has ${lines} lines, more than ${MAX_LINES} (aim: 250). Split it by responsibility.`]
    : [];
}

function nameViolations(path: string): string[] {
  return path.split('/').some((part) => /^(?:utils?|helpers?)(?:\.|$)/.test(part))
    ? [`${path}: no utils, no helpers. Name it for what it is about.`]
    : [];
}

/** Which files import which, type imports included. */
function fileGraph(tree: Tree): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>();
  for (const [path, text] of tree) {
    if (!path.endsWith('.ts')) continue;
    const targets = importsOf(text)
      .filter(({ target }) => target.startsWith('.'))
      .map(({ target }) => posix.join(posix.dirname(path), target));
    graph.set(path, new Set(targets.filter((target) => tree.has(target))));
  }
  return graph;
}

/**
 * Circles between the folders beside each other in any folder. A folder also counts as importing what its
 * subfolders import; files that stand beside the folders count as a folder of their own.
 */
function folderCycleViolations(tree: Tree): string[] {
  const files = fileGraph(tree);
  const parents = new Set([...files.keys()].flatMap(ancestors));
  return [...parents].flatMap((parent) => {
    const childOf = (path: string) => {
      if (!path.startsWith(`${parent}/`)) return undefined;
      const [child = '', ...rest] = path.slice(parent.length + 1).split('/');
      return rest.length > 0 ? `${parent}/${child}/` : undefined;
    };
    const graph = new Map<string, Set<string>>();
    for (const [path, targets] of files) {
      const from = childOf(path);
      if (from === undefined) continue;
      const edges = graph.get(from) ?? new Set();
      graph.set(from, edges);
      for (const target of targets) {
        const to = childOf(target);
        if (to !== undefined && to !== from) edges.add(to);
      }
    }
    return cycleViolations(graph, 'folders');
  });
}

function ancestors(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

function cycleViolations(graph: ReadonlyMap<string, ReadonlySet<string>>, what: string): string[] {
  return cycles(graph).map(
    (cycle) =>
      `These ${what} import each other in a circle: ${cycle.join(' > ')}. Move what they share down.`,
  );
}

/** One circle for each group of nodes that reach each other (Tarjan's strongly connected components). */
function cycles(graph: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (node: string): number => {
    const index = order.size;
    let lowest = index;
    order.set(node, index);
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) lowest = Math.min(lowest, visit(next));
      else if (stack.includes(next)) lowest = Math.min(lowest, order.get(next) ?? index);
    }
    low.set(node, lowest);
    if (lowest === index) {
      const group = stack.splice(stack.indexOf(node));
      if (group.length > 1 || graph.get(node)?.has(node)) found.push(group.sort());
    }
    return lowest;
  };
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return found;
}

function readmeViolations(tree: Tree): string[] {
  const folders = new Set([...tree.keys()].flatMap(ancestors).filter((folder) => folder !== 'src'));
  return [...folders].sort().flatMap((folder) => {
    const readme = tree.get(`${folder}/README.md`);
    if (readme === undefined)
      return [`${folder} has no README.md. Say what it owns, what it does not, and its rules.`];
    const lines = readme.trimEnd().split('\n').length;
    const long = `${folder}/README.md has ${lines} lines, more than ${MAX_README_LINES}. Shorten it.`;
    const unnamed = [...tree.keys(), ...[...folders].map((name) => `${name}/`)]
      .filter((path) => posix.dirname(path) === folder && !SUMMARISED.test(folder))
      .map((path) => path.slice(folder.length + 1))
      .filter((name) => name !== 'README.md' && !readme.includes(`\`${name}`))
      .map((name) => `${folder}/README.md does not name \`${name}\`. Say what it is.`);
    return lines > MAX_README_LINES ? [long, ...unnamed] : unnamed;
  });
}

/** The room that a path is in: the longest one in ROOMS that leads to it, or its first folder. */
function roomOf(path: string): string {
  const parts = path.replace(/\.ts$/, '').split('/');
  for (let length = parts.length; length > 0; length -= 1) {
    const name = parts.slice(0, length).join('/');
    if (name in ROOMS) return name;
  }
  return parts.slice(0, Math.max(1, parts.length - 1)).join('/');
}

/** The modules that a file imports. `import { type A }` counts as a value: it still runs the module. */
export function importsOf(text: string): Import[] {
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

/** The code with its comments blanked; strings, templates and regular expressions stay as they are. */
export function withoutComments(text: string): string {
  const token =
    /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`|(?<=[(,=:[!&|?{};\n]\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\//g;
  return text.replace(token, (found) => (/^\/[*/]/.test(found) ? found.replace(/[^\n]/g, ' ') : found));
}

/** The `.ts` and `.md` files below some folders of a repository. */
export function readTree(root: string, folders: readonly string[]): Tree {
  const files = folders.flatMap((folder) =>
    readdirSync(posix.join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(?:ts|md)$/.test(entry.name))
      .map((entry) => posix.relative(root, `${entry.parentPath.replaceAll('\\', '/')}/${entry.name}`)),
  );
  return new Map(files.sort().map((path) => [path, readFileSync(posix.join(root, path), 'utf8')]));
}
