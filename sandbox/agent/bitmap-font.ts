/** Seven rows of five bits for each character, each row as one digit of base 32. */
const GLYPHS: Readonly<Record<string, string>> = {
  ' ': '0000000',
  ...glyphs(
    '0 ehjlphe 1 4c4444e 2 eh1248v 3 v2421he 4 26aiv22 5 vgu11he 6 68guhhe 7 v124888 8 ehhehhe 9 ehhf12c',
  ),
  ...glyphs('A ehhvhhh B uhhuhhu C ehggghe D sihhhis E vgguggv F vgguggg G ehgnhhf H hhhvhhh I e44444e'),
  ...glyphs('J 72222ic K hikokih L ggggggv M hrllhhh N hhpljhh O ehhhhhe P uhhuggg Q ehhhlid R uhhukih'),
  ...glyphs('S fgge11u T v444444 U hhhhhhe V hhhhha4 W hhhllla X hha4ahh Y hhha444 Z v1248gv'),
  ...glyphs('a 00e1fhf b ggmphhu c 00egghe d 11djhhf e 00ehvge f 698s888 g 0fhhf1e h ggmphhh i 40c444e'),
  ...glyphs('j 20622ic k ggikoki l c44444e m 00qllhh n 00mphhh o 00ehhhe p 00uhugg q 00djf11 r 00mpggg'),
  ...glyphs('s 00ege1u t 88s8896 u 00hhhjd v 00hhha4 w 00hhlla x 00ha4ah y 00hhf1e z 00v248v'),
  ...glyphs('. 00000cc , 0000c48 - 000v000 + 044v440 _ 000000v / 01248g0 % op248j3 ( 2488842 ) 8422248'),
  ...glyphs(': 0cc0cc0 = 00v0v00 … 000000l ? eh12404 * 04lel40 # aavavaa & cik8lid < 248g842 > 8421248'),
};
/** Stands for every other character. */
const BOX = 'vhhhhhv';

const GLYPH_WIDTH = 5;
/** From one character to the next, in dots. */
export const ADVANCE = 6;

const segmenter = new Intl.Segmenter();

/** The characters of a text, as people count them. */
export function charactersOf(text: string): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** The dots of a text as columns and rows from its upper left corner. */
export function dotsOf(text: string): { x: number; y: number }[] {
  return charactersOf(text).flatMap((character, place) => {
    const rows = GLYPHS[character] ?? GLYPHS[withoutAccent(character)] ?? BOX;
    return rows.split('').flatMap((digit, y) => {
      const bits = Number.parseInt(digit, 32);
      return Array.from({ length: GLYPH_WIDTH }, (_, column) => column)
        .filter((column) => (bits >> (GLYPH_WIDTH - 1 - column)) & 1)
        .map((column) => ({ x: place * ADVANCE + column, y }));
    });
  });
}

function withoutAccent(character: string): string {
  return character.normalize('NFD').slice(0, 1);
}

function glyphs(list: string): Record<string, string> {
  return Object.fromEntries(
    [...list.matchAll(/(\S) (\w{7})/g)].map(([, character = '', rows = '']) => [character, rows]),
  );
}
