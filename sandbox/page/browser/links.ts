import { type Child, h, safeAddress } from './dom.ts';
import { state } from './page-state.ts';

/** The channel and thread that a Slack permalink of this workspace names; undefined for other URLs. */
function placeIn(address: string): { channel: string; thread: string } | undefined {
  const { hostname, pathname, searchParams } = new URL(address);
  const [, channel = '', seconds, fraction] = /^\/archives\/(\w+)\/p(\d+)(\d{6})$/.exec(pathname) ?? [];
  if (!hostname.endsWith('.slack.com') || !state.workspace.channels.some(({ id }) => id === channel))
    return undefined;
  return { channel, thread: searchParams.get('thread_ts') ?? `${seconds}.${fraction}` };
}

/** A link: permalinks open on the page, other URLs in a new tab. `onUse` is called on a click. */
export function webLink(
  address: string,
  attributes: Record<string, string | undefined>,
  children: Child[],
  onUse: () => void = () => {},
): HTMLElement {
  const place = placeIn(address);
  if (place === undefined) {
    const newTab = { href: address, target: '_blank', rel: 'noopener noreferrer' };
    return h('a', { ...attributes, ...newTab, onclick: onUse }, ...children);
  }
  const { channel, thread } = place;
  const go = (event: Event) => {
    event.preventDefault();
    onUse();
    state.go(channel, thread);
  };
  const href = `#${state.me}/${channel}/${thread}`;
  return h('a', { ...attributes, href, 'data-place': channel, onclick: go }, ...children);
}

/** A link in text; plain text if the URL is unsafe. */
export function link(address: unknown, ...children: Child[]): HTMLElement {
  const href = safeAddress(address);
  return href === undefined ? h('span', {}, ...children) : webLink(href, {}, children);
}
