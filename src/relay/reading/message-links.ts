import type { SlackTs } from '../../store/schema.ts';
import { authoredBlocksOf, type ParsedMessage } from './message-parser.ts';
import { inlinesOf } from './parsed-blocks.ts';

/** A link to a Slack message. */
export interface MessageLink {
  /** Its address, without what follows a question mark. */
  readonly url: string;
  readonly channel: string;
  readonly ts: SlackTs;
  /** The root of its thread, if it is a reply. */
  readonly threadTs: SlackTs | undefined;
}

/**
 * A permalink has the ts without its dot (https://docs.slack.dev/reference/methods/chat.getPermalink); the address of a
 * thread in a browser has it with its dot.
 */
const ADDRESSES = [
  /(https:\/\/[a-z0-9.-]+\.slack(?:-gov)?\.com\/archives\/([CDG][A-Z0-9]{2,})\/p(\d{10})(\d{6}))(?:\?(\S*))?/g,
  /(https:\/\/app\.slack(?:-gov)?\.com\/client\/[A-Z0-9]+\/[A-Z0-9]+\/thread\/([CDG][A-Z0-9]{2,})-(\d{10})\.(\d{6}))/g,
];

/** The Slack messages that the writer's own words link to, each once; not those in quotations and code. */
export function messageLinksIn(message: ParsedMessage): MessageLink[] {
  const own = authoredBlocksOf(message).filter(({ kind }) => kind !== 'quote' && kind !== 'quoted');
  const links = new Map<string, MessageLink>();
  for (const piece of inlinesOf(own)) {
    if (piece.style.code === true || (piece.kind !== 'link' && piece.kind !== 'text')) continue;
    const words = piece.kind === 'link' ? piece.url : piece.text;
    const found = ADDRESSES.flatMap((address) => [...words.matchAll(address)]);
    for (const [, url = '', channel = '', seconds, fraction, query = ''] of found) {
      const ts = `${seconds}.${fraction}`;
      const [, root] = /(?:^|&)thread_ts=(\d{10}\.\d{6})/.exec(query) ?? [];
      const threadTs = root === ts ? undefined : root;
      const known = links.get(`${channel}/${ts}`);
      // A reply is only found with its thread.
      if (known === undefined || (known.threadTs === undefined && threadTs !== undefined))
        links.set(`${channel}/${ts}`, { url, channel, ts, threadTs });
    }
  }
  return [...links.values()];
}
