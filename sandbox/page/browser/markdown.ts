import type { AlignType, Nodes, Root, Table } from 'mdast';
import { type Child, h } from './dom.ts';
import { link } from './links.ts';

/** Renders a Markdown tree. As in Slack, HTML appears as text and pictures become links. */
export function markdown(tree: Root): Child[] {
  return tree.children.map(node);
}

function inside(parent: { children: Nodes[] }): Child[] {
  return parent.children.map(node);
}

function node(one: Nodes): Child {
  switch (one.type) {
    case 'text':
    case 'html':
      return one.value;
    case 'paragraph':
      return h('p', {}, ...inside(one));
    case 'heading':
      // Slack shows all headings in one size; h3 fits below the page's own headings.
      return h('h3', { class: 'md-heading' }, ...inside(one));
    case 'strong':
      return h('strong', {}, ...inside(one));
    case 'emphasis':
      return h('em', {}, ...inside(one));
    case 'delete':
      return h('s', {}, ...inside(one));
    case 'inlineCode':
      return h('code', {}, one.value);
    case 'code':
      return h(
        'pre',
        { tabindex: 0, 'aria-label': one.lang ? `Code, ${one.lang}` : 'Code' },
        h('code', {}, one.value),
      );
    case 'blockquote':
      return h('blockquote', {}, ...inside(one));
    case 'list':
      return one.ordered ? h('ol', { start: one.start ?? 1 }, ...inside(one)) : h('ul', {}, ...inside(one));
    case 'listItem':
      return h('li', one.checked == null ? {} : { class: 'task' }, checkbox(one.checked), ...inside(one));
    case 'thematicBreak':
      return h('hr');
    case 'break':
      return h('br');
    case 'link':
      return link(one.url, ...inside(one));
    case 'image':
      return link(one.url, one.alt || one.url);
    case 'table':
      return table(one);
    case 'footnoteReference':
      return h('sup', {}, one.label ?? one.identifier);
    case 'footnoteDefinition':
      return h('p', { class: 'footnote' }, h('sup', {}, one.label ?? one.identifier), ' ', ...inside(one));
    case 'imageReference':
      return one.alt ?? '';
    default:
      return 'children' in one ? inside(one) : undefined;
  }
}

function checkbox(checked: boolean | null | undefined): Child {
  if (checked == null) return undefined;
  const label = checked ? 'Done' : 'To do';
  return h('span', { class: 'task-box', role: 'img', 'aria-label': label }, checked ? '☑' : '☐');
}

function table({ children, align }: Table): Child {
  const [head, ...rows] = children;
  const cells = (row: Table['children'][number] | undefined, tag: 'th' | 'td') =>
    row?.children.map((cell, column) =>
      h(tag, { class: side(align?.[column]), ...(tag === 'th' ? { scope: 'col' } : {}) }, ...inside(cell)),
    );
  return tableFrame(
    cells(head, 'th'),
    rows.map((row) => cells(row, 'td')),
  );
}

function side(align: AlignType | undefined): string | undefined {
  return align == null ? undefined : `align-${align}`;
}

/** A table of the cells of its head and rows, in a frame that scrolls if the table is too wide. */
export function tableFrame(head: Child, rows: Child[]): HTMLElement {
  const table = h(
    'table',
    {},
    h('thead', {}, h('tr', {}, head)),
    h('tbody', {}, ...rows.map((row) => h('tr', {}, row))),
  );
  return h('div', { class: 'table-frame', tabindex: 0, role: 'region', 'aria-label': 'Table' }, table);
}
