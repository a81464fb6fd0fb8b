import { displayedFileName } from '../../render/messages/result-list.ts';

/** Most characters of an archive's name, and of a plain name's stem. File systems take 255 bytes. */
const MAX_NAME_CHARACTERS = 60;
/** What Windows keeps for devices, whatever the ending. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)$/i;

/** The name of an archive, without its ending: its words, so that those of one day differ; letters and digits alone. */
export function archiveName(text: string): string {
  const name = Array.from((text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).join('-'));
  return name.slice(0, MAX_NAME_CHARACTERS).join('').replace(/-$/, '');
}

/** A name that no other file of the archive has, and that every file system takes; `names` gets it. */
export function entryName(name: string, names: Set<string>): string {
  const clean = displayedFileName(name)
    .replace(/[/\\:*?"<>|]/g, '_')
    .replace(/^\.+/, '_');
  return freeName(clean, names, (copy) => ` (${copy})`);
}

/** The same, of the characters that every reader of an `.eln` file takes: ASCII letters and digits, `.`, `_` and `-`. */
export function plainEntryName(name: string, names: Set<string>): string {
  const plain = toAscii(name)
    .replace(/(?:[^\w.-]|_)+/g, '_')
    .replace(/\.{2,}/g, '.');
  const [stem, ending] = parts(plain);
  const word = stem.slice(0, MAX_NAME_CHARACTERS).replace(/^[._-]+|[._-]+$/g, '') || 'file';
  return freeName(`${word}${DEVICE.test(word) ? '_' : ''}${ending}`, names, (copy) => `-${copy}`);
}

/** The text without accents and without what has no ASCII letter. */
export function toAscii(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]/g, '_');
}

/** A name without its ending, and that, such as `.fastq.gz`. */
function parts(name: string): [stem: string, ending: string] {
  const [, stem = name, ending = ''] = /^(.*?)((?:\.[a-z\d]{1,8}){0,2})$/is.exec(name) ?? [];
  return [stem, ending];
}

function freeName(name: string, names: Set<string>, mark: (copy: number) => string): string {
  const [stem, ending] = parts(name);
  let free = name;
  for (let copy = 2; names.has(free.toLowerCase()); copy += 1) free = `${stem}${mark(copy)}${ending}`;
  names.add(free.toLowerCase());
  return free;
}
