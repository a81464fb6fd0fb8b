/*
 * Program output sometimes looks like constructs nested hundreds deep, and the parser takes seconds for them. Marks
 * beyond a depth are read as letters.
 */

/** Deepest nesting of lists and quotes. */
const MAX_CONTAINERS = 40;
const MAX_MARKS = 60;
const MAX_IMAGES = 20;
const MAX_RUN = 12;

const RULE = '(?![ \\t]*([-*_])(?:[ \\t]*\\1)*[ \\t]*$)';
const MARKER = '[ \\t]*(?:>|[-+*](?=[ \\t])|\\d{1,9}[.)](?=[ \\t]))';
const TOO_DEEP = new RegExp(`^${RULE}(?:${MARKER}){${MAX_CONTAINERS}}`, 'gm');
const BLOCK_START = '\\n[ \\t>]*(?=\\n|[-+*][ \\t]|\\d{1,9}[.)][ \\t]|[#`~|])';
const MARKS = new RegExp(`${BLOCK_START}|!\\[|\\]|[*_~]+`, 'g');
const REPLACEMENT = 'x';

/** The text for the parser: of the same length, and nested at most a few dozen deep. */
export function limitNesting(text: string): string {
  return limitMarks(text.replace(TOO_DEEP, (markers) => markers.slice(0, -1) + REPLACEMENT));
}

function limitMarks(text: string): string {
  let images = 0;
  let marks = 0;
  return text.replace(MARKS, (found, at: number) => {
    if (found.startsWith('\n')) {
      images = 0;
      marks = 0;
      return found;
    }
    if (found === ']') {
      images = Math.max(0, images - 1);
      return found;
    }
    if (found === '![') {
      images += 1;
      return images > MAX_IMAGES ? `!"` : found;
    }
    const afterSpace = isSpace(text.charAt(at - 1));
    const beforeSpace = isSpace(text.charAt(at + found.length));
    if (afterSpace && beforeSpace) return found;
    if (found.length > MAX_RUN && !found.startsWith('~')) return REPLACEMENT.repeat(found.length);
    if (!afterSpace && marks > 0) marks -= 1;
    else if (!beforeSpace) marks += 1;
    return marks > MAX_MARKS ? REPLACEMENT.repeat(found.length) : found;
  });
}

function isSpace(character: string): boolean {
  return character === '' || /\s/.test(character);
}
