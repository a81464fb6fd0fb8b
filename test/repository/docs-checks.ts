import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { z } from 'zod';
import { settingRows } from '../../src/config/environment-and-secret-files.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** What the pages may name. */
export interface Repository {
  readonly scripts: ReadonlySet<string>;
  readonly settings: ReadonlySet<string>;
  readonly services: ReadonlySet<string>;
  readonly exists: (path: string) => boolean;
}

/** The pages for people: those at the top, and those in docs/. */
export function readPages(): Map<string, string> {
  const names = ['', 'docs/'].flatMap((folder) =>
    readdirSync(join(root, folder)).flatMap((name) => (name.endsWith('.md') ? [`${folder}${name}`] : [])),
  );
  return new Map(names.map((name) => [name, readFileSync(join(root, name), 'utf8')]));
}

/** Everything that the program can say: its source. */
export function readSource(): string {
  const names = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(root, 'src', name), 'utf8'))
    .join('\n');
}

export function readRepository(): Repository {
  const { scripts } = z
    .looseObject({ scripts: z.record(z.string(), z.string()) })
    .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  const { services } = z
    .looseObject({ services: z.record(z.string(), z.unknown()) })
    .parse(parse(readFileSync(join(root, 'compose.yaml'), 'utf8')));
  return {
    scripts: new Set(Object.keys(scripts)),
    settings: new Set(
      settingRows().flatMap(({ name, secret }) => (secret ? [name, `${name}_FILE`] : [name])),
    ),
    services: new Set(Object.keys(services)),
    exists: (path) => existsSync(join(root, path)),
  };
}

/** The commands of a page's `sh` blocks, one each, without comments. */
export function commandsOf(text: string): string[] {
  return [...text.matchAll(/^[ ]*```sh\n([\s\S]*?)^[ ]*```$/gm)].flatMap(([, block = '']) =>
    block
      .split(/\n|&&/)
      .map((line) => line.replace(/(?:^|\s)#.*$/, '').trim())
      .filter((line) => line !== ''),
  );
}

/** What is wrong with a command; none that no check knows is good. */
export function commandComplaints(command: string, repository: Repository): string[] {
  const words = command.replace(/^sudo /, '').split(/\s+/);
  const found: string[] = [];
  while (/^[A-Z_]+=/.test(words[0] ?? '')) {
    const [name = ''] = (words.shift() ?? '').split('=');
    if (!repository.settings.has(name)) found.push(`${name} is no setting`);
    if (words.includes('compose'))
      found.push(`every call of docker compose reads ${name}: it belongs into .env`);
  }
  const [program = '', ...rest] = words;
  const check = programs[program];
  if (check !== undefined) found.push(...check(rest, repository));
  else if (!program.includes('/') || !repository.exists(program))
    found.push(`nothing is known of ${program}`);
  return found.map((complaint) => `${command}: ${complaint}`);
}

/** The name of deploy/taskthread.service. */
const UNIT = 'taskthread';

type Check = (words: readonly string[], repository: Repository) => string[];

const programs: Readonly<Record<string, Check>> = {
  npm: (words, { scripts, exists }) => {
    const [verb = '', script = '', dashes, what = ''] = words.filter((word) => word !== '-s');
    if (verb === 'ci') return [];
    const name = verb === 'run' ? script : verb;
    if (!scripts.has(name)) return [`there is no script ${name}`];
    if (dashes !== '--') return [];
    if (name === 'bench' && !exists(`bench/${what}.ts`)) return [`there is no bench ${what}`];
    if (name === 'vitest' && !exists(what)) return [`${what} is not there`];
    return [];
  },
  curl: ([url = '']) =>
    /^localhost:3000\/(?:healthz|readyz|metrics)$/.test(url) ? [] : [`${url} is no address of the program`],
  docker: (words, { services, settings }) => {
    const [verb = '', action = '', ...rest] = words;
    if (verb === 'build' || verb === 'push') return [];
    if (verb === 'run') return settingsIn(words, settings);
    if (verb !== 'compose') return [`nothing is known of docker ${verb}`];
    if (action === 'up') return [];
    const named = rest.flatMap((word) => (word.startsWith('-') ? [] : [word.split(':')[0] ?? '']));
    return named.some((name) => services.has(name)) ? [] : ['it names no service of compose.yaml'];
  },
  // A group of commands, whose files lie in deploy/.
  '{': (words, { exists }) =>
    words
      .map((word) => word.replace(/;$/, ''))
      .filter((word) => word.startsWith('deploy/') && !exists(word))
      .map((file) => `${file} is not there`),
  cp: ([file = ''], { exists }) => (exists(file) ? [] : [`${file} is not there`]),
  createdb: () => [],
  dropdb: () => [],
  journalctl: () => [],
  pg_dump: (words, { settings }) => variablesIn(words, settings),
  pg_restore: (words, { settings }) => variablesIn(words, settings),
  systemctl: (words) => (words.at(-1) === UNIT ? [] : [`the unit is ${UNIT}`]),
  useradd: () => [],
  kubectl: (words, { exists }) => {
    const file = words[words.indexOf('-f') + 1] ?? '';
    return words[0] !== 'apply' || exists(file) ? [] : [`${file} is not there`];
  },
};

function settingsIn(words: readonly string[], settings: ReadonlySet<string>): string[] {
  const names = words.flatMap((word) => /^([A-Z_]+)=/.exec(word)?.[1] ?? []);
  return names.filter((name) => !settings.has(name)).map((name) => `${name} is no setting`);
}

function variablesIn(words: readonly string[], settings: ReadonlySet<string>): string[] {
  const names = words.flatMap((word) => /\$([A-Z_]+)/.exec(word)?.[1] ?? []);
  return names.filter((name) => !settings.has(name)).map((name) => `${name} is no setting`);
}

/** Names in capitals that are no settings of the program. */
const otherNames = new Set([
  'NODE_EXTRA_CA_CERTS',
  'SCIENCE_DOIS',
  'SCIENCE_STRINGS',
  'SLACK_PAYLOADS',
  'TEST_DATABASE_URL',
]);

/** Settings, scripts and files that a page names and that are not there. */
export function nameComplaints(text: string, { scripts, settings, exists }: Repository): string[] {
  const named = [...text.matchAll(/\b[A-Z]+(?:_[A-Z]+)+\b(?!\.md)/g)].map(([name]) => name);
  const run = [...text.matchAll(/npm run (?:-s )?([\w-]+)/g)].map(([, name = '']) => name);
  const paths = [...text.matchAll(/`((?:src|test|bench|docs|deploy|\.ci|\.github)\/[^`\s<]*)`/g)].map(
    ([, path = '']) => path.replace(/[^/]*\*.*$/, ''),
  );
  return [
    ...named
      .filter((name) => !settings.has(name) && !otherNames.has(name))
      .map((name) => `${name} is no setting`),
    ...run.filter((name) => !scripts.has(name)).map((name) => `there is no script ${name}`),
    ...paths.filter((path) => !exists(path)).map((path) => `${path} is not there`),
  ];
}

/** Links of a page that lead nowhere: to no file, or to no heading of it. */
export function linkComplaints(
  page: string,
  pages: ReadonlyMap<string, string>,
  { exists }: Pick<Repository, 'exists'>,
): string[] {
  const text = pages.get(page) ?? '';
  const links = [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)].map(
    ([, link, picture = '']) => link ?? picture,
  );
  return links.flatMap((link) => {
    if (/^https?:/.test(link)) return [];
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : normalize(join(dirname(page), path));
    if (!exists(target)) return [`${page}: ${link} leads to no file`];
    if (anchor === undefined || anchorsOf(pages.get(target) ?? '').has(anchor)) return [];
    return [`${page}: ${link} leads to no heading`];
  });
}

/** The anchors that GitHub gives to a page's headings. */
function anchorsOf(text: string): Set<string> {
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

/** Sentences of the program that a page quotes, as far as they are quoted. */
export function quotesOf(text: string): string[] {
  return [...text.matchAll(/“([^”]+)”/g)].map(([, quote = '']) => quote.replaceAll(/\s+/g, ' '));
}
