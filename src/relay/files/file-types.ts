import type { FileLimits } from '../../reply/file-lines.ts';

/** Whether files of this name and MIME type are passed on. */
export function isTaken(
  file: { name: string; mime: string },
  { allowed, refused }: Pick<FileLimits, 'allowed' | 'refused'>,
): boolean {
  const matches = (pattern: string) => isOfType(file, pattern.toLowerCase());
  return !refused.some(matches) && (allowed.length === 0 || allowed.some(matches));
}

function isOfType(file: { name: string; mime: string }, pattern: string): boolean {
  if (pattern.startsWith('.')) return file.name.toLowerCase().endsWith(pattern);
  const mime = file.mime.toLowerCase().split(';')[0]?.trim() ?? '';
  return pattern.endsWith('/*') ? mime.startsWith(pattern.slice(0, -1)) : mime === pattern;
}
