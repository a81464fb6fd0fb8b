import { freeName, nameParts, storedName, UNNAMED_FILE } from '../../render/file-names.ts';

/** Most characters of an archive's name, and of a plain name's stem. */
const MAX_NAME_CHARACTERS = 60;
/** Most bytes of another name, which may get a number: file systems take 255. */
const MAX_NAME_BYTES = 240;
/** What Windows keeps for devices, whatever follows the first dot (https://learn.microsoft.com/windows/win32/fileio/naming-a-file). */
const DEVICE = /^(?:con|prn|aux|nul|con(?:in|out)\$|(?:com|lpt)[\d¹²³])(?= *(?:\.|$))/i;

/** What readers of an `.eln` file take for its metadata, or leave out, in any folder. */
const METADATA = /metadata(?=\.json$)/i;

/** The name of an archive, without its ending: its words, so that those of one day differ; letters and digits alone. */
export function archiveName(text: string): string {
  const name = Array.from((text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).join('-'));
  return name.slice(0, MAX_NAME_CHARACTERS).join('').replace(/-$/, '');
}

/** A name that no other file of the archive has, and that every file system takes; `names` gets it. */
export function entryName(name: string, names: Set<string>): string {
  const clean = storedName(name, UNNAMED_FILE, MAX_NAME_BYTES)
    .replace(/[:*?"<>|]/g, '_')
    .replace(/^\.+/, '_')
    .replace(DEVICE, '$&_');
  return freeName(clean, names);
}

/** The same, of the characters that every reader of an `.eln` file takes: ASCII letters and digits, `.`, `_` and `-`. */
export function plainEntryName(name: string, names: Set<string>): string {
  const plain = toAscii(name)
    .replace(/(?:[^\w.-]|_)+/g, '_')
    .replace(/\.{2,}/g, '.');
  const [stem, ending] = nameParts(plain);
  const word = stem.slice(0, MAX_NAME_CHARACTERS).replace(/^[._-]+|[._-]+$/g, '') || 'file';
  const entry = `${word}${ending}`.replace(DEVICE, '$&_').replace(METADATA, '$&_');
  return freeName(entry, names, (copy) => `-${copy}`);
}

/** The text without accents and without what has no ASCII letter. */
export function toAscii(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]/g, '_');
}
