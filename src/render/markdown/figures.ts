import * as strings from '../strings/index.ts';
import { shorten, toOneLine } from '../text-format.ts';

/*
 * Agents put the pictures that they made into their text: ![Volcano plot](figures/volcano.png). No reader of their Markdown
 * has such a file; their thread gets it with the results.
 */

const LABEL = '((?:[^[\\]\\\\\\n]|\\\\.|\\[[^[\\]\\n]{0,100}\\]){0,300})';
/** On the web, or no file at all. */
const ELSEWHERE = '\\s{0,3}<?(?:(?:https?|data|mailto|blob):|(?!file:)(?:[a-z][a-z\\d+.-]{0,20}:)?//)';
const TITLE = '(?:\\s+(?:"[^"\\n]{0,300}"|\'[^\'\\n]{0,300}\'))?';
/** A name with an ending; agents leave its spaces as they are. */
const TARGET =
  '<?((?:[^()<>"\\n]|\\([^()<>"\\n]{0,100}\\)){1,300}?\\.[a-z][a-z\\d]{1,4}(?:[?#][^()<>"\\s]{0,100})?)>?';
/** A picture by its file's name or, on a line of its own, by a reference to it. */
export const LOCAL_FIGURE = new RegExp(
  `!\\[${LABEL}\\](?:\\((?!${ELSEWHERE})\\s{0,3}${TARGET}${TITLE}\\s{0,3}\\)|(?<=^[ \\t]{0,8}!\\[.*)\\[([^[\\]\\n]{0,100})\\])`,
  'imy',
);
/** How many characters the words for a figure may add to its source. */
export const FIGURE_COST = 40;

/** A picture in an answer, without what is not known of it yet. */
export interface Figure {
  /** What the agent calls it; untrusted. */
  label: string;
  /** The path of its file, decoded. */
  path: string | undefined;
  /** The reference that names its file. */
  reference: string | undefined;
}

/** The figure that is written so; undefined if it is none. */
export function figureOf(source: string): Figure | undefined {
  LOCAL_FIGURE.lastIndex = 0;
  const found = LOCAL_FIGURE.exec(source);
  if (found?.[0] !== source) return undefined;
  const [, written = '', target, reference] = found;
  const label = toOneLine(written.replace(/\\(?=[!-/:-@[-`{-~])|[*`]/g, ''));
  if (target !== undefined) return { label, path: decodedPath(target), reference: undefined };
  return { label, path: undefined, reference: reference === '' ? written : reference };
}

/** The path of a file without its scheme and its query. */
export function decodedPath(target: string): string {
  const path = target.trim().replace(/^(?:file|sandbox|attachment):(?:\/\/)?|[?#].*$/gi, '');
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The name of a file, without its folders. */
export function baseName(path: string): string {
  return path.replace(/^.*[/\\](?=[^/\\])/s, '');
}

/** The Markdown of the words for a figure whose file is still to come, or stands below; undefined if the source is none. */
export function figureWords(source: string): string | undefined {
  const figure = figureOf(source);
  if (figure === undefined) return undefined;
  const { label, path } = figure;
  return strings.figureBelow(escaped(shorten(path === undefined ? label : toOneLine(baseName(path)), 80)));
}

/** The Markdown of the words for a figure whose file never came. */
export function figureInWords({ label, path }: Figure): string {
  const name = path === undefined ? '' : toOneLine(baseName(path));
  return strings.figureInWords(escaped(shorten(label, 200)), escaped(shorten(name, 80)));
}

/** A text that Markdown shows as it is. */
function escaped(text: string): string {
  return text.replace(/[\\`*~<>[\]|]|(?<!\w)_|_(?!\w)/g, '\\$&');
}
