/** A label with the address of a site; other names with a dot, such as `report.md`, are files. */
const ADDRESS =
  /(?:https?:\/\/|\b(?=www\.))(\S+)|^\s*((?:[\p{L}\p{N}-]+\.)+(?:com|org|net|edu|gov)(?:\/\S*)?)\s*$/iu;

/**
 * Whether the label that ends with the `]` before `end` names another address than `target`, which the link opens. A
 * label may name only the site of its target, or the beginning of its address with an ellipsis.
 */
export function isDisguisedLink(text: string, end: number, target: string): boolean {
  const label = labelBefore(text, end).replace(/[\u2060*_~`\\<>[\]]/g, '');
  const [, address, site] = ADDRESS.exec(label) ?? [];
  const named = address ?? site;
  if (named === undefined) return false;
  const opened = URL.parse(target.replace(/[\u2060*_~`\\]/g, ''));
  const [, start = '', ellipsis] = /^(.*?)(…|\.{3})?$/.exec(named) ?? [];
  const shown = URL.parse(`https://${start}`);
  if (shown === null || opened === null || siteOf(shown) !== siteOf(opened)) return true;
  const path = pathOf(shown);
  return path !== '' && (ellipsis ? !pathOf(opened).startsWith(path) : pathOf(opened) !== path);
}

function siteOf({ host }: URL): string {
  return host.replace(/^www\./, '');
}

function pathOf({ pathname, search, hash }: URL): string {
  return (pathname + search + hash).replace(/\/$/, '');
}

/** The text in the brackets whose closing one is before `end`; '' if none opens them. */
function labelBefore(text: string, end: number): string {
  let depth = 0;
  for (let at = end - 1; at >= 0; at -= 1) {
    const mark = text.charAt(at);
    if ((mark !== '[' && mark !== ']') || text.charAt(at - 1) === '\\') continue;
    depth += mark === ']' ? 1 : -1;
    if (depth === 0) return text.slice(at + 1, end - 1);
  }
  return '';
}
