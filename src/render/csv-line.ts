/** What a spreadsheet takes for the start of a formula (OWASP, "CSV Injection"), also after a tab or a line end. */
const FORMULA_START = /^[\t\r\n]*(?:[=＝]|[+\-@＋－＠]+\s*[\p{L}\p{N}$("'.{])/u;
const NUMBER = /^[+-]?[.,]?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?%?$/i;
/**
 * What a formula that begins with a sign computes from: cells, texts, other programs, or numbers. Without them it is a
 * name at most, such as -log10(padj), or an estimate, such as -0.3 (0.1), and nothing runs.
 */
const OPERAND = new RegExp(
  [
    '(?<![\\p{L}\\p{N}_.])\\$?[a-z]{1,3}\\$?[1-9]\\d{0,6}(?![\\p{L}\\p{N}_.(])',
    '["|!]|(?<!^[-+][\\d.,]+(?:e[-+]?\\d+)?(?:%|\\*{2,3})? +)\\(\\s*[-+.\\d)]',
    '^[-+@]*(?:[\\d.]+%?[-+*/^&<>=]+)+[\\d.]+%?$',
  ].join('|'),
  'iu',
);

/**
 * Values as a line of CSV for people, each in quotes; without the end of the line. A text that a spreadsheet would run as a
 * formula begins with `'`, so this is not for files that the agent reads.
 */
export function csvLine(values: readonly unknown[]): string {
  return values.map((value) => `"${literal(String(value)).replaceAll('"', '""')}"`).join(',');
}

/** A CSV file for people: without a byte order mark, a spreadsheet takes what is not ASCII for another encoding. */
export function csvFile(text: string): string {
  return /\P{ASCII}/u.test(text) ? `\ufeff${text}` : text;
}

/** Values as a line of CSV for programs, as they are: in quotes only where they must be; without the end of the line. */
export function plainCsvLine(values: readonly string[]): string {
  return values
    .map((value) => (/[",\r\n]|^\s|\s$/.test(value) ? `"${value.replaceAll('"', '""')}"` : value))
    .join(',');
}

function literal(text: string): string {
  if (!FORMULA_START.test(text) || NUMBER.test(text)) return text;
  const formula = text.normalize('NFKC').trim();
  return /^=./.test(formula) || OPERAND.test(formula) ? `'${text}` : text;
}
