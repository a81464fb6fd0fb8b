/** UTF-8 bytes of a file's name that file systems take. */
const mostBytes = 255;

/** The name under which a file goes to the service: no path, nothing that cannot be seen, not too long. */
export function fileName(name: string | undefined, id: string): string {
  const clean = (name ?? '')
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .replace(/[\u200E\u200F\u202A-\u202E\u2066-\u2069\uFFF9-\uFFFB]/g, '')
    .replace(/[/\\]/g, '_')
    .trim();
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
