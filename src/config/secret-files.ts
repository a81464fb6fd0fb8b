import { readFileSync } from 'node:fs';

/**
 * Reads the files that `<NAME>_FILE` settings name for these secrets; trims byte order marks, blanks and line ends.
 * Returns the settings with the secrets, and by name what is wrong.
 */
export function readSecretFiles(
  set: Readonly<Record<string, string | undefined>>,
  secrets: readonly string[],
): { read: Record<string, string | undefined>; problems: Map<string, string> } {
  const read = { ...set };
  const problems = new Map<string, string>();
  for (const name of secrets) {
    const file = set[`${name}_FILE`];
    if (file === undefined) continue;
    if (set[name] !== undefined) {
      problems.set(name, `${name} and ${name}_FILE are both set. Remove one of them.`);
      continue;
    }
    try {
      read[name] = readFileSync(file, 'utf8').trim();
      if (read[name] === '') problems.set(name, `${name}_FILE names an empty file: ${file}.`);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
      problems.set(name, `${name}_FILE names a file that cannot be read${code}: ${file}.`);
    }
  }
  return { read, problems };
}
