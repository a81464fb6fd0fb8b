import { type Child, h, safeAddress } from './dom.ts';
import { state } from './page-state.ts';

/** The channel, and the thread in it, that an address of this workspace's Slack names; undefined where it is another. */
function placeIn(address: string): { channel: string; thread: string } | undefined {
  const { hostname, pathname, searchParams } = new URL(address);
  const [, channel = '', seconds, fraction] = /^\/archives\/(\w+)\/p(\d+)(\d{6})$/.exec(pathname) ?? [];
  if (!hostname.endsWith('.slack.com') || !state.workspace.channels.some(({ id }) => id === channel))
    return undefined;
  return { channel, thread: searchParams.get('thread_ts') ?? `${seconds}.${fraction}` };
}

/** A link; what Slack would open itself is opened on the page, all else beside it. `used` hears of it. */
export function webLink(
  address: string,
  attributes: Record<string, string | undefined>,
  children: Child[],
  used: () => void = () => {},
): HTMLElement {
  const place = placeIn(address);
  if (place === undefined) {
    const beside = { href: address, target: '_blank', rel: 'noopener noreferrer' };
    return h('a', { ...attributes, ...beside, onclick: used }, ...children);
  }
  const { channel, thread } = place;
  const go = (event: Event) => {
    event.preventDefault();
    used();
    state.go(channel, thread);
  };
  const href = `#${state.me}/${channel}/${thread}`;
  return h('a', { ...attributes, href, 'data-place': channel, onclick: go }, ...children);
}

/** A link in a text; plain text where its address is not one of the web. */
export function link(address: unknown, ...children: Child[]): HTMLElement {
  const href = safeAddress(address);
  return href === undefined ? h('span', {}, ...children) : webLink(href, {}, children);
}
