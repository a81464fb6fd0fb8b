import type { SeenFile } from '../wire.ts';
import { h } from './dom.ts';
import { icon } from './icons.ts';
import { tableFrame } from './markdown.ts';

const previewBytes = 4_000;
const previewRows = 3;
const previewColumns = 8;

/** Bytes in words. */
export function sizeWords(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} KB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** A shared file: a picture, the first rows of a table or lines of a text, and a link to the whole. */
export function fileCard(file: SeenFile): HTMLElement {
  const { url, size, name } = file;
  if (url === undefined)
    return h('div', { class: 'file gone' }, icon('file'), h('span', {}, `${name}: no longer there`));
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
      h('span', { class: 'soft' }, sizeWords(size ?? 0)),
    ),
    preview,
  );
}

async function showBeginning(preview: HTMLElement, file: SeenFile, url: string): Promise<void> {
  const response = await fetch(`${url}?start=${previewBytes}`);
  if (!response.ok) return;
  const lines = (await response.text()).split('\n');
  // The last line may be cut.
  const whole = (file.size ?? 0) > previewBytes ? lines.slice(0, -1) : lines;
  const separator = separatorOf(file);
  const shown = whole.filter((line) => line !== '').slice(0, previewRows + 1);
  if (separator === undefined) preview.append(h('pre', {}, h('code', {}, shown.join('\n'))));
  else preview.append(tableOf(shown, separator));
}

function separatorOf({ name, mime }: SeenFile): string | undefined {
  if (mime === 'text/csv' || name.endsWith('.csv')) return ',';
  return name.endsWith('.tsv') ? '\t' : undefined;
}

function tableOf(lines: string[], separator: string): HTMLElement {
  const [head = [], ...rows] = lines.map((line) => line.split(separator).slice(0, previewColumns));
  return tableFrame(
    h('thead', {}, h('tr', {}, ...head.map((cell) => h('th', { scope: 'col' }, cell)))),
    h('tbody', {}, ...rows.map((row) => h('tr', {}, ...row.map((cell) => h('td', {}, cell))))),
  );
}
