import type { ViewBlock } from '../blocks/modal.ts';
import {
  actionsBlock,
  blockTextLength,
  buttonElement,
  contextLineBlock,
  linkButton,
  MAX_MESSAGE_BLOCKS,
  messageOfBlocks,
  mrkdwnContextBlock,
  namedButton,
  type RenderedMessage,
  type SlackBlock,
  sectionBlock,
} from '../blocks/slack-blocks.ts';
import { UNNAMED_FILE } from '../file-names.ts';
import { fileType } from '../file-types.ts';
import { neutralizePings } from '../markdown/pings.ts';
import { shownSize } from '../markdown/shown-size.ts';
import * as strings from '../strings/index.ts';
import { formatSize, shortenMiddle, toOneLine } from '../text-format.ts';

export interface ListedResult {
  /** Untrusted; any characters. */
  name: string;
  sizeBytes: number | null;
  mimeType: string;
  /** A time-limited link; null if there is none. */
  url: string | null | undefined;
  /** The latest time until which it works; undefined if that is unknown. */
  worksUntil?: Date | undefined;
  note?: string | undefined;
}

/** Longest address of a link button (https://docs.slack.dev/reference/block-kit/block-elements/button-element). */
export const MAX_BUTTON_URL_LENGTH = 3_000;
/** Longest address of a Markdown link, which fits a message of its own. */
const MAX_MARKDOWN_URL_LENGTH = 9_000;
const MAX_TEXT_LENGTH = 9_500;
const MAX_NAME_LENGTH = 300;

/**
 * One message that lists results with their links, with buttons for fresh ones of this turn (`fresh_links`) and for several
 * files at once (`download_all`). It says where some do not fit, or the service may have more.
 */
export function resultList(
  results: readonly ListedResult[],
  { turnId, isLater = false, isComplete = true }: { turnId: string; isLater?: boolean; isComplete?: boolean },
): RenderedMessage {
  const incomplete = isComplete ? [] : [strings.resultsIncomplete];
  if (results.length === 0) return messageOfBlocks(incomplete.map((sentence) => sectionBlock(sentence)));
  const [first, ...more] = resultPages(results, isLater);
  const hint = more.length === 0 ? strings.linksHint(worksUntil(results), 'button') : strings.moreResultsHint;
  const ids = ['fresh_links', ...(results.length > 1 ? (['download_all'] as const) : [])] as const;
  const hints = mrkdwnContextBlock([...incomplete, hint].join('\n'));
  return messageOfBlocks([
    ...(first?.blocks ?? []),
    hints,
    actionsBlock(ids.map((id) => buttonElement(id, turnId))),
  ]);
}

/** All results with their links, as a modal; undefined if they need several messages, or links of a message. */
export function resultModalBlocks(results: readonly ListedResult[]): ViewBlock[] | undefined {
  const [page, ...more] = resultPages(results);
  const blocks = page?.blocks.flatMap((block) => (block.type === 'section' ? [block] : []));
  if (page === undefined || more.length > 0 || blocks?.length !== page.blocks.length) return undefined;
  return [...blocks, mrkdwnContextBlock(strings.linksHint(worksUntil(results), 'none'))];
}

/** Until when all of the links work; undefined if that is unknown for one of them. */
export function worksUntil(results: readonly Pick<ListedResult, 'worksUntil'>[]): Date | undefined {
  const times = results.map(({ worksUntil: until }) => until?.getTime() ?? Number.NaN);
  const first = Math.min(...times);
  return Number.isFinite(first) ? new Date(first) : undefined;
}

/** All results with their links, in as many messages as they need. */
export function resultPages(results: readonly ListedResult[], isLater = false): RenderedMessage[] {
  const pages = paginate(results.map((result) => ({ result, blocks: resultBlocks(result) })));
  let from = 1;
  return pages.map((page) => {
    const to = from + page.length - 1;
    const heading = strings.resultsHeading(results.length, from, to, isLater);
    from = to + 1;
    return messageOfBlocks([sectionBlock(heading), ...page.flatMap((entry) => entry.blocks)]);
  });
}

/** The list without its links, but with the button for fresh ones. */
export function withoutLinks({ blocks }: RenderedMessage): RenderedMessage {
  const kept = blocks.flatMap((block): SlackBlock[] => {
    if (block.type === 'markdown') return [];
    if (block.type !== 'section') return [block];
    const { accessory: _link, ...section } = block;
    return [section];
  });
  return messageOfBlocks([...kept, contextLineBlock(strings.linksRefused)]);
}

/** Puts as many results in a message as fit with its heading, hint and button. */
function paginate<Entry extends { blocks: SlackBlock[] }>(entries: readonly Entry[]): Entry[][] {
  const pages: Entry[][] = [];
  let room = { blocks: 0, text: 0 };
  for (const entry of entries) {
    const need = { blocks: entry.blocks.length, text: blockTextLength(entry.blocks, shownSize) };
    const page = pages.at(-1);
    if (page && need.blocks <= room.blocks && need.text <= room.text) page.push(entry);
    else {
      pages.push([entry]);
      room = { blocks: MAX_MESSAGE_BLOCKS - 4, text: MAX_TEXT_LENGTH };
    }
    room = { blocks: room.blocks - need.blocks, text: room.text - need.text };
  }
  return pages;
}

function resultBlocks(result: ListedResult): SlackBlock[] {
  const name = displayedFileName(result.name);
  const about = [formatSize(result.sizeBytes), fileKind(result), result.note].filter(Boolean).join(' · ');
  const url = safeWebUrl(result.url);
  const section = (more: string) => sectionBlock(`${name}\n${about}${more}`);
  if (url === undefined) return [section(` · ${strings.noLink}`)];
  if (url.length <= MAX_BUTTON_URL_LENGTH)
    return [{ ...section(''), accessory: namedButton(linkButton('open_result', url), name) }];
  if (url.length > MAX_MARKDOWN_URL_LENGTH) return [section(` · ${strings.linkTooLong}`)];
  return [section(''), { type: 'markdown', text: `[${strings.buttons.open_result.label}](<${url}>)` }];
}

/** A file name in one line, without control characters, direction marks and pings; a long one keeps its extension. */
export function displayedFileName(name: string): string {
  const clean = toOneLine(name);
  return neutralizePings(shortenMiddle(clean === '' ? UNNAMED_FILE : clean, MAX_NAME_LENGTH));
}

function fileKind(result: ListedResult): string {
  // Digits alone are of a version or a date.
  const ending = /\.(?!\d+$)([\p{L}\p{N}]{1,8})$/u.exec(result.name.trim())?.[1];
  if (ending) return ending.toUpperCase();
  const mime = fileType('', result.mimeType);
  return mime === 'application/octet-stream' ? '' : shortenMiddle(mime, 60);
}

/** The link if it is a web address, with characters escaped that could end it early. */
export function safeWebUrl(url: string | null | undefined): string | undefined {
  const { protocol = '', href = '' } = URL.parse(url ?? '') ?? {};
  if (!url || (protocol !== 'https:' && protocol !== 'http:')) return undefined;
  // Keeps a safe address unchanged: a signature may cover its exact characters.
  return /^[!-~]+$/.test(url) && !/[<>|"\\^`{}]/.test(url)
    ? url
    : href.replaceAll('|', '%7C').replace(/[<>]/g, '');
}
