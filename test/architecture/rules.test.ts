import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { importsOf, ROOMS, readTree, type Tree, violations, withoutComments } from './rules.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The violations of some files in a made-up tree where every folder has a README that names what is in it. */
function violationsOf(files: Readonly<Record<string, string>>): string[] {
  const paths = Object.keys(files);
  const names = paths.flatMap((path) => path.split('/')).map((part) => `\`${part}\` \`${part}/\``);
  const folders = paths.flatMap((path) =>
    path
      .split('/')
      .slice(0, -1)
      .map((_, depth, parts) => parts.slice(0, depth + 1).join('/')),
  );
  const readmes = folders.map((folder): [string, string] => [`${folder}/README.md`, names.join(' ')]);
  return violations(new Map([...readmes, ...Object.entries(files)]));
}

describe('the house', () => {
  const tree = readTree(root, ['src', 'setup', 'sandbox']);

  test('is seen whole: every import of every file is read, and leads to a file or a package', () => {
    const code = [...tree].filter(([path]) => path.endsWith('.ts'));
    expect(code.length).toBeGreaterThan(500);
    const silent = code.filter(([, text]) => /^import\b/m.test(text) && importsOf(text).length === 0);
    expect(silent.map(([path]) => path)).toEqual([]);
    const unread = code.filter(
      ([, text]) => (text.match(/^\s*\} from '|^import .* from '/gm)?.length ?? 0) > importsOf(text).length,
    );
    expect(unread.map(([path]) => path)).toEqual([]);
  });

  test('has rooms that lead to no circle', () => {
    const reach = (room: string, seen = new Set<string>()): Set<string> => {
      for (const next of ROOMS[room]?.uses ?? []) if (!seen.has(next)) reach(next, seen.add(next));
      return seen;
    };
    for (const room of Object.keys(ROOMS)) expect([...reach(room)]).not.toContain(room);
  });
});

describe('an import', () => {
  test.each([
    [
      'down from the relay to Slack',
      'src/relay/turns/turn.ts',
      `import { post } from '../../slack/posting.ts';`,
    ],
    ['down inside the relay', 'src/relay/turns/turn.ts', `import { send } from '../sending/sender.ts';`],
    ['beside it in its own room', 'src/slack/client.ts', `import { a } from './errors.ts';`],
    ['of Slack in a listener', 'src/listeners/app.ts', `import { App } from '@slack/bolt';`],
    ['of a type for rendering', 'src/render/a.ts', `import type { Message } from '../agent/schema.ts';`],
    ['of what all features share', 'src/features/home/a.ts', `import { open } from '../modals.ts';`],
    ['of the app in the sandbox', 'sandbox/demo.ts', `import { startApp } from '../src/app.ts';`],
    ['of the doctor while setting up', 'setup/a.ts', `import { runChecks } from '../src/operate/doctor.ts';`],
  ])('may lead %s', (_, path, text) => {
    expect(violationsOf({ [path]: text })).toEqual([]);
  });

  test.each([
    [
      'up to another room',
      'src/relay/turns/a.ts',
      `import { a } from '../../listeners/a.ts';`,
      /may not import src\/listeners/,
    ],
    [
      'up inside the relay',
      'src/relay/sending/a.ts',
      `import { a } from '../turns/turn.ts';`,
      /may not import src\/relay\/turns/,
    ],
    [
      'from the image to the set-up',
      'src/operate/a.ts',
      `import { a } from '../../setup/a.ts';`,
      /may not import setup/,
    ],
    ['from the set-up to the store', 'setup/a.ts', `import { a } from '../src/store/a.ts';`, /src\/store/],
    ['from one service to the other', 'src/slack/a.ts', `import { a } from '../agent/a.ts';`, /src\/agent/],
    [
      'from one feature to another',
      'src/features/thumbs.ts',
      `import { a } from './tasks/a.ts';`,
      /features do not import each other/,
    ],
    [
      'from what features share to one of them',
      'src/features/modals.ts',
      `import { a } from './thumbs.ts';`,
      /may not import one of them/,
    ],
    [
      'from the product to the sandbox',
      'src/app.ts',
      `import '../sandbox/demo.ts';`,
      /may not import sandbox/,
    ],
    [
      'to a value for rendering',
      'src/render/a.ts',
      `import { a } from '../agent/a.ts';`,
      /only `import type`/,
    ],
    [
      'to a value marked as a type in place',
      'src/render/a.ts',
      `import { type A } from '../agent/a.ts';`,
      /only `import type`/,
    ],
    [
      'of the parser outside of the render queue',
      'src/relay/replies/a.ts',
      `import { parseMarkdown } from '../../render/markdown/parse-markdown.ts';`,
      /in slices of the render queue/,
    ],
    [
      'dynamically',
      'src/relay/turns/a.ts',
      `const a = await import('../../app.ts');`,
      /may not import src\/app/,
    ],
    [
      'over several lines',
      'src/slack/a.ts',
      `import {\n  a,\n  b,\n} from '../store/a.ts';`,
      /may not import src\/store/,
    ],
    ['to main.ts', 'src/app.ts', `import { a } from './main.ts';`, /may not import src\/main/],
    [
      "to Slack's packages from the relay",
      'src/relay/turns/a.ts',
      `import type { B } from '@slack/web-api';`,
      /only src\/listeners, src\/slack, sandbox may/,
    ],
    [
      "to the types of Slack's blocks from the relay",
      'src/relay/turns/a.ts',
      `import type { B } from '@slack/types';`,
      /only src\/listeners, src\/slack, src\/render, sandbox may/,
    ],
    ['from an unknown room', 'src/cellar/a.ts', `import { a } from '../app.ts';`, /no room of the house/],
  ])('may not lead %s', (_, path, text, message) => {
    const found = violationsOf({ [path]: text });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(message);
    expect(found[0]).toContain(path);
  });
});

describe('a circle', () => {
  test('of two files is found, also one of types', () => {
    const found = violationsOf({
      'src/slack/a.ts': `import { b } from './b.ts';`,
      'src/slack/b.ts': `import type { a } from './a.ts';`,
    });
    expect(found).toEqual([expect.stringContaining('src/slack/a.ts > src/slack/b.ts')]);
  });

  test('of two folders is found where no files import each other in one', () => {
    const found = violationsOf({
      'src/render/one/a.ts': `import { b } from '../two/b.ts';`,
      'src/render/one/c.ts': '',
      'src/render/two/b.ts': '',
      'src/render/two/d.ts': `import { c } from '../one/c.ts';`,
    });
    expect(found).toEqual([expect.stringContaining('src/render/one/ > src/render/two/')]);
  });
});

describe('the other rules', () => {
  test.each([
    ['a key', 'src/relay/turns/a.ts', 'send({ file_ids: [] });'],
    ['a string', 'src/store/a.ts', `read('file_ids');`],
    ['a property', 'src/slack/a.ts', 'message.input.file_ids.length;'],
  ])("find a service's field as %s", (_, path, text) => {
    expect(violationsOf({ [path]: text })).toEqual([
      expect.stringContaining('uses file_ids, a field of the service'),
    ]);
  });

  test('let comments and longer names mention a field', () => {
    const text = '// file_ids\n/* file_ids */\nconst my_file_ids = 1;';
    expect(violationsOf({ 'src/relay/turns/a.ts': text })).toEqual([]);
  });

  test.each([
    ['undici', "import { Agent } from 'undici';\nnew Agent();", 'values of undici'],
    ['HTTPS', "import { request } from 'node:https';\nrequest(url);", 'values of node:https'],
    ["Node's fetch", 'const answer = await fetch(url);', 'fetch('],
    ["Node's WebSocket", 'const socket = new WebSocket(url);', 'new WebSocket('],
  ])('find connections that %s makes', (_, text, what) => {
    expect(violationsOf({ 'src/slack/a.ts': text })).toEqual([expect.stringContaining(`uses ${what}`)]);
  });

  test('let calls use the connections that are made for all', () => {
    const text =
      "import type { Dispatcher } from 'undici';\nimport { fetch } from '../calls/outbound-proxy.ts';\nfetch(url);";
    const made = { 'src/calls/outbound-proxy.ts': "import { Agent } from 'undici';" };
    expect(violationsOf({ 'src/slack/a.ts': text, ...made })).toEqual([]);
  });

  test.each([
    ['asks who somebody is', 'const who = await people.personNow(person);', 'uses personNow('],
    ['knows who is where', 'if (await membership.statusOf(channel, person)) go();', 'uses statusOf('],
    ['looks whether somebody is an admin', 'if (person.isAdmin) go();', 'uses .isAdmin'],
    [
      'answers presses without a right',
      "import type { ButtonHandlers } from '../relay/a.ts';",
      'without a right',
    ],
  ])('find a feature that %s', (_, text, what) => {
    const made = { 'src/relay/a.ts': '' };
    expect(violationsOf({ 'src/features/a.ts': text, ...made }).join('\n')).toContain(what);
  });

  test.each([
    ['src/store/utils.ts', /no utils/],
    ['src/store/helpers/a.ts', /no helpers/],
  ])('refuse the name %s', (path, message) => {
    expect(violationsOf({ [path]: '' }).join('\n')).toMatch(message);
  });

  test('find a file that has grown too long', () => {
    expect(violationsOf({ 'src/store/a.ts': '\n'.repeat(350) })).toEqual([]);
    expect(violationsOf({ 'src/store/a.ts': '\n'.repeat(351) })).toEqual([
      expect.stringContaining('351 lines'),
    ]);
  });

  test('find a folder without a README, at any depth', () => {
    const tree: Tree = new Map([['src/relay/reading/a.ts', '']]);
    expect(violations(tree)).toEqual([
      expect.stringContaining('src/relay has no README.md'),
      expect.stringContaining('src/relay/reading has no README.md'),
    ]);
  });

  test('find a README that does not name a file or a folder', () => {
    const tree = {
      'src/store/README.md': '`a.ts`',
      'src/store/a.ts': '',
      'src/store/b.ts': '',
      'src/store/c/README.md': '',
    };
    expect(violations(new Map(Object.entries(tree)))).toEqual([
      expect.stringContaining('src/store/README.md does not name `b.ts`'),
      expect.stringContaining('src/store/README.md does not name `c/`'),
    ]);
  });

  test('find a README that is too long', () => {
    const tree = new Map([['src/store/README.md', 'line\n'.repeat(31)]]);
    expect(violations(tree)).toEqual([expect.stringContaining('31 lines')]);
  });
});

describe('the scanner', () => {
  test('ignores imports in comments', () => {
    expect(importsOf(`/*\nimport { a } from './a.ts';\n*/\n// import './b.ts';\n`)).toEqual([]);
  });

  test('knows a default import called type from a type import', () => {
    expect(importsOf(`import type from './a.ts';\nimport type { B } from './b.ts';`)).toEqual([
      { target: './a.ts', typeOnly: false },
      { target: './b.ts', typeOnly: true },
    ]);
  });

  test('leaves what looks like a comment in strings and regular expressions', () => {
    const code = `const a = 'http://x'; const b = /["'/*]/; const c = \`//\`; d('**/*.ts');`;
    expect(withoutComments(code)).toBe(code);
    expect(withoutComments('a; // b')).toBe('a;     ');
  });
});
