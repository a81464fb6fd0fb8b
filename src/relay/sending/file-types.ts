import type { FileLimits } from '../../render/strings/index.ts';

/** Whether files of this name and MIME type are sent to the service. */
export function isTypeAllowed(
  file: { name: string; mime: string },
  { allowedTypes, refusedTypes }: Pick<FileLimits, 'allowedTypes' | 'refusedTypes'>,
): boolean {
  const matches = (pattern: string) => matchesType(file, pattern.toLowerCase());
  return !refusedTypes.some(matches) && (allowedTypes.length === 0 || allowedTypes.some(matches));
}

function matchesType(file: { name: string; mime: string }, pattern: string): boolean {
  if (pattern.startsWith('.')) return file.name.toLowerCase().endsWith(pattern);
  const mime = file.mime.toLowerCase().split(';')[0]?.trim() ?? '';
  return pattern.endsWith('/*') ? mime.startsWith(pattern.slice(0, -1)) : mime === pattern;
}
