import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { findViolations, importsOf, LAYERS, readTree, withoutComments } from './rules.ts';

const source = fileURLToPath(new URL('../../src', import.meta.url));

describe('the house', () => {
  it('keeps its rules', () => {
    const tree = readTree(source);
    expect(tree.size).toBeGreaterThan(0);
    expect(findViolations(tree)).toEqual([]);
  });
});

/** The breaches of one file in a made-up tree where all folders have their README, which names what is in it. */
function breachesOf(path: string, text: string): string[] {
  const parts = path.split('/');
  const readme = parts.map((part) => `\`${part}/`).join(' ');
  const folders = parts.slice(1).map((_, depth) => parts.slice(0, depth + 1).join('/'));
  const readmes = folders.map((name): [string, string] => [`${name}/README.md`, readme]);
  return findViolations(new Map([...readmes, [path, text]]));
}

describe('the import rules', () => {
  it.each([
    ['relay/turn.ts', `import { post } from '../slack/posting.ts';`],
    ['relay/turn/steps.ts', `import { a } from './reply.ts';\nimport { b } from '../dispatcher.ts';`],
    ['listen/app.ts', `import { App } from '@slack/bolt';\nimport { inbox } from '../relay/inbox.ts';`],
    ['slack/client.ts', `import { WebClient } from '@slack/web-api';`],
    ['reply/answer.ts', `import type { Message } from '../agent/types.ts';\nimport { z } from 'zod';`],
    ['main.ts', `import { start } from './app.ts';\nimport { config } from './config.ts';`],
    [
      'operate/doctor.ts',
      `import type { Config } from '../config.ts';\nimport { ask } from '../agent/client.ts';`,
    ],
    ['sandbox/demo.ts', `import { start } from '../app.ts';\nimport type { A } from '../agent/types.ts';`],
    ['agent/errors.ts', `export * from './codes.ts';\nexport const value = { download_url: '' };`],
  ])('allow what %s does', (path, text) => {
    expect(breachesOf(path, text)).toEqual([]);
  });

  it.each([
    [
      'relay importing listen',
      'relay/turn.ts',
      `import { a } from '../listen/app.ts';`,
      /relay may import .*not listen/,
    ],
    ['slack importing agent', 'slack/client.ts', `import { a } from '../agent/client.ts';`, /not agent/],
    [
      'agent importing types of slack',
      'agent/client.ts',
      `import type { A } from '../slack/a.ts';`,
      /not slack/,
    ],
    ['store importing relay', 'store/queue.ts', `export { a } from '../relay/a.ts';`, /not relay/],
    ['reply importing values', 'reply/a.ts', `import { a } from '../agent/a.ts';`, /only `import type`/],
    [
      'reply importing marked values',
      'reply/a.ts',
      `import { type A } from '../agent/a.ts';`,
      /only `import type`/,
    ],
    ['reply importing types of slack', 'reply/a.ts', `import type { A } from '../slack/a.ts';`, /not slack/],
    ['relay importing config', 'relay/a.ts', `import type { Config } from '../config.ts';`, /not config/],
    ['anything importing the sandbox', 'app.ts', `import './sandbox/demo.ts';`, /not sandbox/],
    ['a dynamic import', 'relay/a.ts', `const a = await import('../app.ts');`, /not app/],
    [
      'an import over several lines',
      'slack/a.ts',
      `import {\n  a,\n  b,\n} from '../store/a.ts';`,
      /not store/,
    ],
    ['main.ts being imported', 'app.ts', `import { a } from './main.ts';`, /not main/],
    ['an import from outside', 'app.ts', `import { a } from '../test/a.ts';`, /outside src/],
    [
      'Slack in the relay',
      'relay/a.ts',
      `import type { B } from '@slack/types';`,
      /only listen, slack, sandbox may/,
    ],
    [
      'Slack in the reply',
      'reply/a.ts',
      `import type { B } from '@slack/types';`,
      /only listen, slack, sandbox may/,
    ],
    ['a room of its own', 'cellar/a.ts', '', /no room of the house/],
  ])('find %s', (_, path, text, message) => {
    const found = breachesOf(path, text);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(message);
    expect(found[0]).toContain(path);
  });

  it('make no two rooms use each other', () => {
    const reach = (room: string, seen = new Set<string>()): Set<string> => {
      for (const next of LAYERS[room]?.uses ?? []) {
        if (!seen.has(next)) reach(next, seen.add(next));
      }
      return seen;
    };
    for (const room of Object.keys(LAYERS)) expect([...reach(room)]).not.toContain(room);
  });
});

describe('the other rules', () => {
  it.each([
    ['a key', 'relay/a.ts', 'send({ file_ids: [] });'],
    ['a string', 'store/a.ts', `read('file_ids');`],
    ['a property', 'slack/a.ts', 'message.input.file_ids.length;'],
  ])("find a service's field as %s", (_, path, text) => {
    expect(breachesOf(path, text)).toEqual([
      expect.stringContaining('uses file_ids, a field of the service'),
    ]);
  });

  it('let comments and longer names mention a field', () => {
    expect(breachesOf('relay/a.ts', '// file_ids\n/* file_ids */\nconst my_file_ids = 1;')).toEqual([]);
  });

  it.each([
    ['relay/utils.ts', /no utils/],
    ['helpers/a.ts', /no helpers/],
    ['relay/helper/a.ts', /no helpers/],
  ])('refuse the name %s', (path, message) => {
    expect(breachesOf(path, '').join('\n')).toMatch(message);
  });

  it('find a file that has grown too long', () => {
    expect(breachesOf('relay/a.ts', '\n'.repeat(350))).toEqual([]);
    expect(breachesOf('relay/a.ts', '\n'.repeat(351))).toEqual([expect.stringContaining('351 lines')]);
  });

  it('find a folder without a README, at any depth', () => {
    expect(findViolations(new Map([['relay/reading/a.ts', '']]))).toEqual([
      expect.stringContaining('relay has no README.md'),
      expect.stringContaining('relay/reading has no README.md'),
    ]);
  });

  it('find a README that does not name a file or a folder', () => {
    const tree = { 'relay/README.md': '`a.ts`', 'relay/a.ts': '', 'relay/b.ts': '', 'relay/c/README.md': '' };
    expect(findViolations(new Map(Object.entries(tree)))).toEqual([
      expect.stringContaining('relay/README.md does not name `b.ts`'),
      expect.stringContaining('relay/README.md does not name `c/`'),
    ]);
  });

  it('find a README that is too long', () => {
    const tree = new Map([['relay/README.md', 'line\n'.repeat(31)]]);
    expect(findViolations(tree)).toEqual([expect.stringContaining('31 lines')]);
  });
});

describe('the scanner', () => {
  it('ignores imports in comments', () => {
    expect(importsOf(`/*\nimport { a } from './a.ts';\n*/\n// import './b.ts';\n`)).toEqual([]);
  });

  it('knows a default import called type from a type import', () => {
    expect(importsOf(`import type from './a.ts';\nimport type { B } from './b.ts';`)).toEqual([
      { target: './a.ts', typeOnly: false },
      { target: './b.ts', typeOnly: true },
    ]);
  });

  it('leaves what looks like a comment in strings and regular expressions', () => {
    const code = `const a = 'http://x'; const b = /["'/*]/; const c = \`//\`; d('**/*.ts');`;
    expect(withoutComments(code)).toBe(code);
    expect(withoutComments('a; // b')).toBe('a;     ');
  });
});
