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
/** A picture by its file's name. */
export const LOCAL_FIGURE = new RegExp(
  `!\\[${LABEL}\\]\\((?!${ELSEWHERE})\\s{0,3}${TARGET}${TITLE}\\s{0,3}\\)`,
  'iy',
);
/** How many characters the words for a figure may add to its source. */
export const FIGURE_COST = 40;

/** A picture in an answer. */
export interface Figure {
  /** What the agent calls it; untrusted. */
  label: string;
  /** The path of its file, decoded, without its scheme and its query. */
  path: string;
}

/** The figure that is written so; undefined if it is none. */
export function figureOf(source: string): Figure | undefined {
  LOCAL_FIGURE.lastIndex = 0;
  const [whole, label = '', target = ''] = LOCAL_FIGURE.exec(source) ?? [];
  if (whole !== source) return undefined;
  const path = target.trim().replace(/^(?:file|sandbox|attachment):(?:\/\/)?|[?#].*$/gi, '');
  return { label: toOneLine(label.replace(/\\(?=[!-/:-@[-`{-~])|[*`]/g, '')), path: decodedPath(path) };
}

/** A path without escapes; as it is where it has half of one. */
export function decodedPath(path: string): string {
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
  return figure && strings.figureBelow(shownName(figure));
}

/** The Markdown of the words for a figure whose file never came. */
export function figureInWords(figure: Figure): string {
  return strings.figureInWords(escaped(shorten(figure.label, 200)), shownName(figure));
}

function shownName({ path }: Figure): string {
  return escaped(shorten(toOneLine(baseName(path)), 80));
}

/** A text that Markdown shows as it is. */
function escaped(text: string): string {
  return text.replace(/[\\`*~<>[\]|]|(?<!\w)_|_(?!\w)/g, '\\$&');
}
