/** The first characters of a text. A copy: a slice would keep the whole text in memory. */
export function truncatedCopy(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  return Buffer.from(text.slice(0, maxCharacters), 'utf16le').toString('utf16le');
}
