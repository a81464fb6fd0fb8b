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
