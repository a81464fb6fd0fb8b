import { decodeString } from 'micromark-util-decode-string';
import { cellsOf, hasDelimiterRow } from './markdown-node.ts';
import { truncateBytes } from './pings.ts';

/** UTF-8 bytes: chat.update refuses more than 4,000 (https://docs.slack.dev/reference/methods/chat.update), with the lines around it. */
const MAX_TEXT_BYTES = 2_600;

/**
 * Markdown as plain text for notifications and screen readers: escaped, without pings, of at most 2,600 UTF-8 bytes. Semicolons
 * separate the cells of a table.
 */
export function fallbackText(markdown: string): string {
  const readable = markdown
    .slice(0, MAX_TEXT_BYTES * 2)
    // In code a reference is what it says.
    .replace(/^[ \t]*(`{3,}(?=[^`\n]*$)|~{3,})[\s\S]*?(?:^[ \t]*\1|$(?![\s\S]))|`[^`\n]+`/gm, (code) =>
      code.replaceAll('&', '&amp;'),
    )
    .replace(/^[ \t]*(?:`{3,}[^`\n]*|~{3,}[^\n]*)(?:\n|$)/gm, '')
    .replace(/^(\s*)#{1,6} +/gm, '$1')
    .replace(
      /(?:!\[([^[\]]*)\]\(|\[([^[\]]*)\]\((?=<?(?:https?|mailto):))(?:[^\s()]|\([^\s()]*\)){0,1000}?(?: +"[^"]*")?\)/g,
      '$1$2',
    )
    // Only pairs: not 2**10, p < 0.01**, **kwargs and __init__.
    .replace(
      /(?<![\w*])(\*{2,3}|__(?!_(?![^\W_])|[/:.-]_|\/\d|[%:.](?!\w)|[a-z\d_]*__(?!\w))|~~)(?![\s*),;\]]|\/\*|["'’”](?<=["'“‘]\1["'’”]))((?:(?!\1)[^\n])*[^\s*])\1(?:(?<=:\1)(?!\d)|(?!(?!s\b)\w))/g,
      '$2',
    )
    // Words in italics: a species, a gene, a symbol.
    .replace(/(?<=^|[\s(,;:–—-])([*_])(\p{L}[\p{L}\p{N} .:-]{0,60})(?<! )\1(?![\p{L}\p{N}*_\\])/gmu, '$2')
    .replace(/`|(?<!(?<!\w)[A-Za-z]:\\\S{0,200})\\([*_~<>])/g, '$1')
    .replace(/^[ \t]*([-*_])(?:[ \t]*\1){2,}[ \t]*$\n?/gm, '');
  const text = withReadableRows(readable).trim();
  return truncateBytes(
    text === '' ? '…' : text.replace(/&#?\w+;/g, (one) => decodeString(one)),
    MAX_TEXT_BYTES,
  );
}

function withReadableRows(text: string): string {
  const lines = text.split('\n');
  let isTable = false;
  let delimitersAt = -1;
  const readable = lines.flatMap((line, at) => {
    if (at === delimitersAt) return [];
    if (!isTable && hasDelimiterRow(lines[at + 1] ?? '')) delimitersAt = at + 1;
    isTable = line.includes('|') && (isTable || delimitersAt > at);
    return isTable ? cellsOf(line).join('; ').replaceAll('\\|', '|') : line;
  });
  return readable.join('\n');
}
