import fc from 'fast-check';

const SURROGATES = { from: 0xd800, count: 0x800 };

/**
 * Any character of Unicode. fast-check's own unit `binary` makes a table of a million of them, once in each worker, where it
 * then costs every collection of garbage.
 */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff - SURROGATES.count })
  .map((at) => String.fromCodePoint(at < SURROGATES.from ? at : at + SURROGATES.count));
