import type { Fields } from '../page-protocol.ts';
import { button, type Child, fill, h } from './dom.ts';
import { objects, text } from './json-fields.ts';
import { tableFrame } from './markdown.ts';
import { richText } from './rich-text.ts';

/** Slack's number of rows of a page where the block names none. */
const DEFAULT_PAGE_SIZE = 5;

interface Sorting {
  column: number;
  ascending: boolean;
}

/** A data_table: its reader sorts it by a column and turns its pages. */
export function dataTable(block: Fields): HTMLElement {
  const [head = [], ...rows] = Array.isArray(block.rows) ? block.rows.map(objects) : [];
  const pageSize = Number(block.page_size) || DEFAULT_PAGE_SIZE;
  const element = h('div', { class: 'block prose data-table' });
  let sorting: Sorting | undefined;
  let page = 0;
  const draw = () => {
    const from = page * pageSize;
    const shown = sorted(rows, sorting).slice(from, from + pageSize);
    const turn = (step: number, label: string, possible: boolean) =>
      button({ disabled: !possible, onclick: () => go(() => (page += step)) }, label);
    fill(
      element,
      h('p', { class: 'caption' }, text(block.caption)),
      tableFrame(
        head.map((cell, column) => headCell(cell, column, sorting, sortBy)),
        shown.map((row) => row.map(bodyCell)),
      ),
      rows.length > pageSize &&
        h(
          'p',
          { class: 'pages' },
          turn(-1, 'Previous', page > 0),
          h('span', { class: 'soft' }, ` ${from + 1} to ${from + shown.length} of ${rows.length} `),
          turn(1, 'Next', from + pageSize < rows.length),
        ),
    );
  };
  const go = (change: () => void) => {
    change();
    draw();
  };
  const sortBy = (column: number) =>
    go(() => {
      sorting = { column, ascending: sorting?.column !== column || !sorting.ascending };
      page = 0;
    });
  draw();
  return element;
}

function headCell(
  cell: Fields,
  column: number,
  sorting: Sorting | undefined,
  sortBy: (column: number) => void,
): HTMLElement {
  const order = sorting?.column !== column ? 'none' : sorting.ascending ? 'ascending' : 'descending';
  const mark = { none: '', ascending: ' ▲', descending: ' ▼' }[order];
  return h(
    'th',
    { scope: 'col', 'aria-sort': order },
    button({ onclick: () => sortBy(column) }, `${text(cell.text)}${mark}`),
  );
}

function bodyCell(cell: Fields): HTMLElement {
  return h('td', cell.type === 'raw_number' ? { class: 'align-right' } : {}, cellContent(cell));
}

/** The content of a cell of any table. */
export function cellContent(cell: Fields): Child {
  if (cell.type === 'rich_text') return richText(cell);
  return text(cell.text ?? cell.value);
}

/** Numbers by their value and before all text, as Slack sorts them. */
function sorted(rows: readonly Fields[][], sorting: Sorting | undefined): readonly Fields[][] {
  if (sorting === undefined) return rows;
  const { column, ascending } = sorting;
  const ordered = rows.toSorted((one, other) => compared(one[column], other[column]));
  return ascending ? ordered : ordered.reverse();
}

function compared(one: Fields = {}, other: Fields = {}): number {
  if (typeof one.value === 'number' && typeof other.value === 'number') return one.value - other.value;
  if (typeof one.value !== typeof other.value) return typeof one.value === 'number' ? -1 : 1;
  return textOf(one).localeCompare(textOf(other));
}

function textOf(cell: Fields): string {
  return cell.type === 'rich_text' ? JSON.stringify(cell.elements) : text(cell.text);
}
