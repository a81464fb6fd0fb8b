import { type Fields, isFields } from './model.ts';

/** Fields that contain visible text. */
export const TEXT_FIELDS = new Set(['text', 'title', 'caption', 'alt_text']);

/** The visible text of blocks, one line per text, without styles; for tests, benchmarks and the demo. */
export function visibleText(value: unknown): string {
  if (Array.isArray(value)) return value.map(visibleText).filter(Boolean).join('\n');
  if (!isFields(value)) return '';
  if (isRichPart(value)) return richText(value);
  if (value.type === 'table' || value.type === 'data_table') return tableText(value);
  return Object.entries(value)
    .map(([field, inner]) =>
      TEXT_FIELDS.has(field) && typeof inner === 'string' ? inner : visibleText(inner),
    )
    .filter(Boolean)
    .join('\n');
}

function isRichPart(value: Fields): boolean {
  return ['rich_text_section', 'rich_text_quote', 'rich_text_preformatted'].includes(String(value.type));
}

function richText(part: Fields): string {
  const elements: unknown[] = Array.isArray(part.elements) ? part.elements : [];
  return elements.map(inlineText).join('');
}

function inlineText(element: unknown): string {
  if (!isFields(element)) return '';
  switch (element.type) {
    case 'text':
      return String(element.text);
    case 'link':
      return String(element.text ?? element.url);
    case 'user':
      return `<@${String(element.user_id)}>`;
    case 'usergroup':
      return `<!subteam^${String(element.usergroup_id)}>`;
    case 'channel':
      return `<#${String(element.channel_id)}>`;
    case 'broadcast':
      return `<!${String(element.range)}>`;
    case 'emoji':
      return `:${String(element.name)}:`;
    default:
      return typeof element.fallback === 'string' ? element.fallback : '';
  }
}

function tableText(table: Fields): string {
  const rows: unknown[] = Array.isArray(table.rows) ? table.rows : [];
  const caption = typeof table.caption === 'string' ? [table.caption] : [];
  const lines = rows.map((row) => (Array.isArray(row) ? row.map(visibleText).join(' | ') : ''));
  return [...caption, ...lines].join('\n');
}
