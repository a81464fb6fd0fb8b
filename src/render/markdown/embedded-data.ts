import { stripVTControlCharacters } from 'node:util';
import { embeddedFile, embeddedPicture } from '../strings/index.ts';

/*
 * Tools print what nobody reads as text: pictures and files in base64, and the colours of terminals. A picture of 400 kB
 * would fill 40 messages.
 */

/** Shorter data stays as it is: it may be an example. */
const MIN_URI_LENGTH = 200;
const MIN_BASE64_LENGTH = 2_000;

/** The type of a `data:` address, and its data: base64 may have line ends, everything else is one word. */
const URI = [
  '<?(?<!\\w)data:([\\w.+-]+)/[\\w.+-]+[;,][^\\s"\'<>()[\\]`|\\\\]+',
  '(?:\\s+[A-Za-z\\d+/]{40,}={0,2})*',
  '(?:\\s+[A-Za-z\\d+/]+={1,2}|\\n[ \\t>]*[A-Za-z\\d+/]+(?=["\')>]))?>?',
].join('');
const EMBEDDED = new RegExp(
  [
    `<img\\b[^<>]*?${URI}[^<>]*>?`,
    `!?\\[([^[\\]\\n]{0,300})\\]\\([ \\t]*${URI}(?:[ \\t]+["'][^"'\\n]*["'])?[ \\t]*\\)?`,
    URI,
  ].join('|'),
  'gi',
);

const LINE = '[A-Za-z\\d+/]{60,}';
const LINE_END = '(?:\\r?\\n[ \\t>]*|\\\\n)';
const LAST_LINE = `(?:${LINE_END}(?:[A-Za-z\\d+/]+={1,2}|(?=[A-Za-z]*[\\d+/])[A-Za-z\\d+/]+(?=[ \\t]*(?:["'\\\\\\r\\n]|$))))?`;
const BASE64 = new RegExp(`(?<![A-Za-z\\d+/])${LINE}(?:${LINE_END}${LINE})*={0,2}${LAST_LINE}`, 'g');
/** How PNG, JPEG, GIF, WebP, TIFF, BMP and SVG begin. */
const PICTURE = /^(?:iVBORw0KGg|\/9j\/|R0lGOD|UklGR|SUkqA|TU0AK|Qk0|PHN2Zy|PD94bWw)/;

/** The text with a word in place of each picture or file that is embedded in it, and without colours of terminals. */
export function withoutEmbeddedData(text: string): string {
  const plain = withoutColours(text);
  const rest = /data:/i.test(plain) ? plain.replace(EMBEDDED, embeddedUri) : plain;
  return rest.replace(BASE64, embeddedBase64);
}

const ESCAPE = '\u001B';

/** The text without the control sequences of terminals (ECMA-48), also a half-written one at its end. */
export function withoutColours(text: string): string {
  if (!text.includes(ESCAPE) && !text.includes('\u009B')) return text;
  return stripVTControlCharacters(text).replaceAll(`${ESCAPE}[`, '').replaceAll(ESCAPE, '');
}

type Group = string | undefined;
function embeddedUri(found: string, imageType: Group, label: Group, linkType: Group, bareType: Group) {
  if (found.length < MIN_URI_LENGTH) return found;
  const isPicture = /^image$/i.test(imageType ?? linkType ?? bareType ?? '');
  const name = isPicture ? embeddedPicture : embeddedFile;
  return label === undefined || label.trim() === '' ? name : `${label} ${name}`;
}

/** Unlike sequences, hashes and molecules, base64 mixes capitals, small letters and digits. */
function embeddedBase64(found: string): string {
  const sample = found.slice(found.length >> 1, (found.length >> 1) + MIN_BASE64_LENGTH);
  const isMixed = [/[a-z]/g, /[A-Z]/g, /\d/g].every(
    (characters) => (sample.match(characters)?.length ?? 0) > sample.length / 100,
  );
  if (found.length < MIN_BASE64_LENGTH || !isMixed) return found;
  return PICTURE.test(found) ? embeddedPicture : embeddedFile;
}
