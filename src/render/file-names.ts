import { graphemeStart, toOneLine } from './text-format.ts';

/** The longest file name that file systems accept, in UTF-8 bytes. */
const MAX_NAME_BYTES = 255;
/** What people read of a file without a name. */
export const UNNAMED_FILE = 'unnamed file';

/**
 * A file's name for storages and file systems: without path separators and invisible characters, and of `maxBytes` UTF-8
 * bytes at most. One that is cut keeps its endings, such as `.vcf.gz`; one of which nothing is left is `unnamed`.
 */
export function storedName(name: string, unnamed: string, maxBytes: number = MAX_NAME_BYTES): string {
  const clean = toOneLine(name)
    .replace(/[/\\]/g, '_')
    .replace(/(?<![. ])[. ]+$/, '');
  if (/^[\p{Cf}\s]*$/u.test(clean)) return unnamed;
  if (Buffer.byteLength(clean) <= maxBytes) return clean;
  const [stem, ending] = nameParts(clean);
  const room = maxBytes - Buffer.byteLength(ending);
  let kept = stem.slice(0, graphemeStart(stem, room));
  while (Buffer.byteLength(kept) > room) kept = kept.slice(0, graphemeStart(kept, kept.length - 1));
  return `${kept}${ending}`;
}

/** A name without its endings, and those, such as `.fastq.gz`. */
export function nameParts(name: string): [stem: string, ending: string] {
  const ending = /(?:\.\p{L}[\p{L}\p{N}]{0,7})?\.[\p{L}\p{N}]{1,12}$/u.exec(name)?.[0] ?? '';
  return [name.slice(0, name.length - ending.length), ending];
}

/**
 * The name, or with a number from 2 on, as `mark` writes it, if `names` has it in any case or Unicode form; `names` gets the
 * result.
 */
export function freeName(name: string, names: Set<string>, mark = (copy: number) => ` (${copy})`): string {
  const [stem, ending] = nameParts(name);
  let free = name;
  for (let copy = 2; names.has(folded(free)); copy += 1) free = `${stem}${mark(copy)}${ending}`;
  names.add(folded(free));
  return free;
}

/** As file systems compare names: of two signs for micro, or for an accented letter, both are the same. */
function folded(name: string): string {
  return name.toUpperCase().normalize('NFC').toLowerCase();
}
