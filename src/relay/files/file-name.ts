import { oneLine } from '../../reply/one-line.ts';

/** UTF-8 bytes of a file's name that file systems take. */
const mostBytes = 255;

/** The name under which a file goes to the service: no path, nothing that cannot be seen, not too long. */
export function fileName(name: string | undefined, id: string): string {
  const clean = oneLine(name ?? '').replace(/[/\\]/g, '_');
  if (/^\.*$/.test(clean)) return `file-${id}`;
  return cut(clean);
}

/** A long name keeps its ending. */
function cut(name: string): string {
  if (Buffer.byteLength(name) <= mostBytes) return name;
  const ending = /\.[\p{L}\p{N}]{1,12}$/u.exec(name)?.[0] ?? '';
  const room = mostBytes - Buffer.byteLength(ending);
  let kept = '';
  for (const { segment } of new Intl.Segmenter('en').segment(name.slice(0, name.length - ending.length))) {
    if (Buffer.byteLength(kept) + Buffer.byteLength(segment) > room) break;
    kept += segment;
  }
  return `${kept}${ending}`;
}
