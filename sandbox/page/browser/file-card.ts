import type { FileModel } from '../page-protocol.ts';
import { h } from './dom.ts';
import { formatFileSize } from './file-size.ts';
import { icon } from './icons.ts';
import { tableFrame } from './markdown.ts';

const PREVIEW_BYTES = 4_000;
const PREVIEW_ROWS = 3;
const PREVIEW_COLUMNS = 8;

/** A shared file: a download link, and a picture or the first rows or lines. */
export function fileCard(file: FileModel): HTMLElement {
  const { url, size, name } = file;
  if (url === undefined)
    return h('div', { class: 'file gone' }, icon('file'), h('span', {}, `${name} (deleted)`));
  const preview = h('div', { class: 'preview' });
  if (file.mime.startsWith('image/'))
    preview.append(h('img', { src: url, alt: name, class: 'picture large', loading: 'lazy' }));
  else if (/^text\/|json$/.test(file.mime)) void showBeginning(preview, file, url);
  return h(
    'div',
    { class: 'file' },
    h(
      'div',
      { class: 'file-head' },
      icon('file'),
      h('a', { href: `${url}?download`, download: name }, name),
      h('span', { class: 'soft' }, formatFileSize(size ?? 0)),
    ),
    preview,
  );
}

async function showBeginning(preview: HTMLElement, file: FileModel, url: string): Promise<void> {
  const response = await fetch(`${url}?start=${PREVIEW_BYTES}`);
  if (!response.ok) return;
  const lines = (await response.text()).split('\n');
  // The last line of a partial file may be incomplete.
  const whole = (file.size ?? 0) > PREVIEW_BYTES ? lines.slice(0, -1) : lines;
  const separator = separatorOf(file);
  const shown = whole.filter((line) => line !== '').slice(0, PREVIEW_ROWS + 1);
  if (separator === undefined) preview.append(h('pre', {}, h('code', {}, shown.join('\n'))));
  else preview.append(tableOf(shown, separator));
}

function separatorOf({ name, mime }: FileModel): string | undefined {
  if (mime === 'text/csv' || name.endsWith('.csv')) return ',';
  return name.endsWith('.tsv') ? '\t' : undefined;
}

/** The cells of a line, without their quotes; a separator within quotes belongs to its cell. */
function cellsOf(line: string, separator: string): string[] {
  const between = new RegExp(`${separator}(?=(?:[^"]*"[^"]*")*[^"]*$)`);
  return line.split(between).map((cell) => cell.replace(/^"(.*)"\r?$/, '$1').replaceAll('""', '"'));
}

function tableOf(lines: string[], separator: string): HTMLElement {
  const [head = [], ...rows] = lines.map((line) => cellsOf(line, separator).slice(0, PREVIEW_COLUMNS));
  return tableFrame(
    head.map((cell) => h('th', { scope: 'col' }, cell)),
    rows.map((row) => row.map((cell) => h('td', {}, cell))),
  );
}
