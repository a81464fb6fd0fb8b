/** What a spreadsheet takes for the start of a formula (OWASP, "CSV Injection"). */
const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^[+-]?[.,]?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?%?$/i;

/**
 * Values as a line of CSV for people, each in quotes; without the end of the line. A text that a spreadsheet would run as a
 * formula begins with `'`, so this is not for files that the agent reads.
 */
export function csvLine(values: readonly unknown[]): string {
  return values.map((value) => `"${literal(String(value)).replaceAll('"', '""')}"`).join(',');
}

/** Values as a line of CSV for programs, as they are: in quotes only where they must be; without the end of the line. */
export function plainCsvLine(values: readonly string[]): string {
  return values
    .map((value) => (/[",\r\n]|^\s|\s$/.test(value) ? `"${value.replaceAll('"', '""')}"` : value))
    .join(',');
}

function literal(text: string): string {
  return FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
}

/** A page of a heading and a paragraph; both are trusted HTML. */
export function htmlPage(title: string, paragraph: string): string {
  return `<!doctype html>\n<html lang="en"><title>${title}</title>\n<h1>${title}</h1>\n<p>${paragraph}</p>\n`;
}

/** Safe in HTML, also in an attribute in double quotes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
