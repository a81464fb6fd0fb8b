import { toOneLine } from '../../render/text/one-line.ts';

/** UTF-8 bytes of a file's name that file systems take. */
const MAX_NAME_BYTES = 255;

/** The name under which a file goes to the service: no path, nothing that cannot be seen, not too long. */
export function serviceFileName(name: string | undefined, id: string): string {
  const clean = toOneLine(name ?? '').replace(/[/\\]/g, '_');
  if (/^\.*$/.test(clean)) return `file-${id}`;
  return truncateName(clean);
}

/** A long name keeps its ending. */
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
