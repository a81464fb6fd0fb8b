const graphemeSegmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** Longer than any sensible grapheme, in UTF-16 units. */
const GRAPHEME_MARGIN = 64;

/** The beginning of the text in at most `most` UTF-16 units, `ending` included; never ends inside a grapheme. */
export function excerpt(text: string, maxLength: number, ending = '…'): string {
  if (text.length <= maxLength) return text;
  const room = maxLength - ending.length;
  if (room < 0) return '';
  // a grapheme that begins before the last `margin` units is whole, so only the tail needs a look
  const from = Math.max(0, room - GRAPHEME_MARGIN);
  let end = from;
  for (const { segment, index } of graphemeSegmenter.segment(text.slice(from, room + GRAPHEME_MARGIN))) {
    if (from + index + segment.length > room) break;
    end = from + index + segment.length;
  }
  return text.slice(0, end) + ending;
}
