/*
 * Nobody writes constructs hundreds deep, but output of programs looks like it now and then, and the parser takes
 * seconds for it. Marks beyond a depth are read as letters.
 */

/** Lists and quotes within each other that are read as such. */
const CONTAINERS_MOST = 40;
const MARKS_MOST = 60;
const IMAGES_MOST = 20;
const RUN_MOST = 12;
/** More headings than a message may hold blocks: each costs the parser a walk through all that stands before it. */
const UNDERLINES_MOST = 100;

const RULE = '(?![ \\t]*([-*_])(?:[ \\t]*\\1)*[ \\t]*$)';
const MARKER = '[ \\t]*(?:>|[-+*](?=[ \\t])|\\d{1,9}[.)](?=[ \\t]))';
const DEEP = new RegExp(`^${RULE}(?:${MARKER}){${CONTAINERS_MOST}}`, 'gm');
const BLOCK_START = '\\n[ \\t>]*(?=\\n|[-+*][ \\t]|\\d{1,9}[.)][ \\t]|[#`~|])';
const MARKS = new RegExp(`${BLOCK_START}|!\\[|\\]|[*_~]+`, 'g');
const UNDERLINE = /^[ \t>]*(?:-+|=+)[ \t]*$/gm;
const LETTER = 'x';

/** A text as its tree is made: of the same length, and nowhere deeper than a few dozen constructs. */
export function shallow(text: string): string {
  return shallowMarks(fewUnderlines(text.replace(DEEP, (markers) => markers.slice(0, -1) + LETTER)));
}

function fewUnderlines(text: string): string {
  let underlines = 0;
  return text.replace(UNDERLINE, (line) => {
    underlines += 1;
    return underlines > UNDERLINES_MOST ? line.replace(/[-=]/g, LETTER) : line;
  });
}

function shallowMarks(text: string): string {
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
      return images > IMAGES_MOST ? `!"` : found;
    }
    const afterSpace = isSpace(text.charAt(at - 1));
    const beforeSpace = isSpace(text.charAt(at + found.length));
    if (afterSpace && beforeSpace) return found;
    if (found.length > RUN_MOST && !found.startsWith('~')) return LETTER.repeat(found.length);
    if (!afterSpace && marks > 0) marks -= 1;
    else if (!beforeSpace) marks += 1;
    return marks > MARKS_MOST ? LETTER.repeat(found.length) : found;
  });
}

function isSpace(character: string): boolean {
  return character === '' || /\s/.test(character);
}
