import { toOneLine } from '../../render/text/one-line.ts';

/** The longest file name that file systems accept, in UTF-8 bytes. */
const MAX_NAME_BYTES = 255;

/** The name of a file at the service: without path separators and invisible characters, and not too long. */
export function serviceFileName(name: string | undefined, id: string): string {
  const clean = toOneLine(name ?? '').replace(/[/\\]/g, '_');
  if (/^\.*$/.test(clean)) return `file-${id}`;
  return truncateName(clean);
}

/** Shortens a long name but keeps its extension. */
function truncateName(name: string): string {
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  const extension = /\.[\p{L}\p{N}]{1,12}$/u.exec(name)?.[0] ?? '';
  const room = MAX_NAME_BYTES - Buffer.byteLength(extension);
  let kept = '';
  for (const { segment } of new Intl.Segmenter('en').segment(name.slice(0, name.length - extension.length))) {
    if (Buffer.byteLength(kept) + Buffer.byteLength(segment) > room) break;
    kept += segment;
  }
  return `${kept}${extension}`;
}
