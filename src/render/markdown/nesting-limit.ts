/*
 * Program output sometimes looks like constructs nested hundreds deep, and the parser takes seconds for them. Marks
 * beyond a depth are read as letters.
 */

/** Deepest nesting of lists and quotes. */
const MAX_CONTAINERS = 40;
const MAX_IMAGES = 20;

const RULE = '(?![ \\t]*([-*_])(?:[ \\t]*\\1)*[ \\t]*$)';
const MARKER = '[ \\t]*(?:>|[-+*](?=[ \\t])|\\d{1,9}[.)](?=[ \\t]))';
const TOO_DEEP = new RegExp(`^${RULE}(?:${MARKER}){${MAX_CONTAINERS}}`, 'gm');
/** Beside a letter; a run between spaces is no emphasis. */
const LONG_RUN = /(?<=[^\s*_])[*_]{13,}|[*_]{13,}(?=[^\s*_])/g;
const BLOCK_START = '\\n[ \\t>]*(?=\\n|[-+*][ \\t]|\\d{1,9}[.)][ \\t]|[#`~|])';
const IMAGE_MARKS = new RegExp(`${BLOCK_START}|!\\[|\\]`, 'g');
const REPLACEMENT = 'x';

/** The text for the parser: of the same length, without lists, quotes and images that are nested too deep. */
export function limitNesting(text: string): string {
  const shallow = text.replace(TOO_DEEP, (markers) => markers.slice(0, -1) + REPLACEMENT);
  return limitImages(shallow.replace(LONG_RUN, (run) => REPLACEMENT.repeat(run.length)));
}

function limitImages(text: string): string {
  let images = 0;
  return text.replace(IMAGE_MARKS, (found) => {
    if (found === '![') images += 1;
    else images = found === ']' ? Math.max(0, images - 1) : 0;
    return found === '![' && images > MAX_IMAGES ? '!"' : found;
  });
}
