import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const entry = z.looseObject({
  version: z.string().optional(),
  resolved: z.string().optional(),
  integrity: z.string().optional(),
  link: z.boolean().optional(),
  inBundle: z.boolean().optional(),
});
const lockfile = z.looseObject({ lockfileVersion: z.literal(3), packages: z.record(z.string(), entry) });
type Lockfile = z.infer<typeof lockfile>;

const sources = z.looseObject({
  dependencies: z.record(z.string(), z.string()),
  devDependencies: z.record(z.string(), z.string()).default({}),
  optionalDependencies: z.record(z.string(), z.string()).default({}),
});

/** Our own packages, and those that the bench compares with. */
const folders = ['', 'bench/peers/'];

function read(path: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'));
}

/** What an attacker would change in a lock file. */
function complaints({ packages }: Lockfile): string[] {
  const installed = Object.entries(packages).filter(([path]) => path !== '');
  const hosts = new Set(installed.flatMap(([, { resolved }]) => URL.parse(resolved ?? '')?.host ?? []));
  return [
    ...installed.flatMap(([path, { resolved, integrity, link, inBundle }]) => {
      if (link === true) return [`${path} is a link to a folder`];
      if (inBundle === true) return [];
      const said: string[] = [];
      if (integrity === undefined || !integrity.startsWith('sha512-')) said.push(`${path} has no sha512`);
      if (resolved !== undefined && !resolved.startsWith('https://'))
        said.push(`${path} does not come by https`);
      if (resolved !== undefined && URL.parse(resolved)?.username !== '') said.push(`${path} names a user`);
      return said;
    }),
    ...(hosts.size > 1 ? ['packages come from more than one registry'] : []),
  ];
}

describe.each(folders)('the lock file in %j', (folder) => {
  const lock = lockfile.parse(read(`${folder}package-lock.json`));

  test('pins every package by its hash, from one registry, by https', () => {
    expect(Object.keys(lock.packages).length).toBeGreaterThan(100);
    expect(complaints(lock)).toEqual([]);
  });

  test('pins what package.json names, and package.json names exact versions', () => {
    const named = sources.parse(read(`${folder}package.json`));
    const all = { ...named.dependencies, ...named.devDependencies, ...named.optionalDependencies };
    for (const [name, version] of Object.entries(all)) {
      expect(version).toMatch(/^\d+\.\d+\.\d+/);
      expect(lock.packages[`node_modules/${name}`]?.version).toBe(version);
    }
  });
});

describe('the check of the lock file', () => {
  const sound = { version: '1.0.0', resolved: 'https://registry.example/a.tgz', integrity: 'sha512-x' };
  test.each([
    ['a package without a hash', { ...sound, integrity: undefined }, 'has no sha512'],
    ['a weak hash', { ...sound, integrity: 'sha1-x' }, 'has no sha512'],
    ['plain http', { ...sound, resolved: 'http://registry.example/a.tgz' }, 'by https'],
    ['a repository', { ...sound, resolved: 'git+ssh://git@host.example/a.git' }, 'by https'],
    ['a folder', { link: true }, 'is a link'],
    [
      'a second registry',
      { ...sound, resolved: 'https://elsewhere.example/a.tgz' },
      'more than one registry',
    ],
  ])('finds %s', (_, odd, says) => {
    const lock = lockfile.parse({
      lockfileVersion: 3,
      packages: { '': {}, 'node_modules/a': sound, 'node_modules/b': odd },
    });
    expect(complaints(lock).join('\n')).toContain(says);
  });
});
