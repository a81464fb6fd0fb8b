import type { ViewBlock } from '../blocks/modal.ts';
import {
  actionsBlock,
  blockTextLength,
  buttonElement,
  contextLineBlock,
  linkButton,
  MAX_MESSAGE_BLOCKS,
  mrkdwnContextBlock,
  type RenderedMessage,
  type SlackBlock,
  sectionBlock,
} from '../blocks/slack-blocks.ts';
import { neutralizePings, truncateBytes } from '../markdown/pings.ts';
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
const MAX_BUTTON_URL_LENGTH = 3_000;
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
  if (results.length === 0)
    return { text: incomplete.join(''), blocks: incomplete.map((sentence) => sectionBlock(sentence)) };
  const [first = { text: '', blocks: [] }, ...more] = resultPages(results, isLater);
  const hint = more.length === 0 ? strings.linksHint(worksUntil(results), 'button') : strings.moreResultsHint;
  const ids = ['fresh_links', ...(results.length > 1 ? (['download_all'] as const) : [])] as const;
  const hints = mrkdwnContextBlock([...incomplete, hint].join('\n'));
  return {
    ...first,
    blocks: [...first.blocks, hints, actionsBlock(ids.map((id) => buttonElement(id, turnId)))],
  };
}

/** All results with their links, as a modal; undefined if they need several messages. */
export function resultModalBlocks(results: readonly ListedResult[]): ViewBlock[] | undefined {
  const [page, ...more] = resultPages(results);
  if (page === undefined || more.length > 0) return undefined;
  return [...page.blocks, mrkdwnContextBlock(strings.linksHint(worksUntil(results), 'none'))];
}

/** Until when all of the links work; undefined if that is unknown for one of them. */
export function worksUntil(results: readonly Pick<ListedResult, 'worksUntil'>[]): Date | undefined {
  const times = results.map(({ worksUntil: until }) => until?.getTime() ?? Number.NaN);
  const first = Math.min(...times);
  return Number.isFinite(first) ? new Date(first) : undefined;
}

/** All results with their links, in as many messages as they need. */
export function resultPages(results: readonly ListedResult[], isLater = false): RenderedMessage[] {
  const pages = paginate(results.map((result) => ({ result, block: resultBlock(result) })));
  let from = 1;
  return pages.map((page) => {
    const to = from + page.length - 1;
    const heading = strings.resultsHeading(results.length, from, to, isLater);
    from = to + 1;
    const names = page.map(({ result }) => displayedFileName(result.name)).join(', ');
    return {
      text: truncateBytes(`${heading}: ${names}`, 3_900),
      blocks: [sectionBlock(heading), ...page.map(({ block }) => block)],
    };
  });
}

/** The list without its links, but with the button for fresh ones. */
export function withoutLinks({ text, blocks }: RenderedMessage): RenderedMessage {
  const kept = blocks.map((block): SlackBlock => {
    if (block.type !== 'section') return block;
    const { accessory: _link, ...section } = block;
    return section;
  });
  return { text, blocks: [...kept, contextLineBlock(strings.linksRefused)] };
}

interface ResultEntry {
  result: ListedResult;
  block: SlackBlock;
}

/** Puts as many results in a message as fit with its heading, hint and button. */
function paginate(entries: ResultEntry[]): ResultEntry[][] {
  const pages: ResultEntry[][] = [];
  let room = 0;
  for (const entry of entries) {
    const need = blockTextLength(entry.block, shownSize);
    const page = pages.at(-1);
    if (page && page.length < MAX_MESSAGE_BLOCKS - 4 && need <= room) page.push(entry);
    else {
      pages.push([entry]);
      room = MAX_TEXT_LENGTH;
    }
    room -= need;
  }
  return pages;
}

function resultBlock(result: ListedResult): SlackBlock {
  const url = safeWebUrl(result.url);
  const about = [formatSize(result.sizeBytes), fileKind(result), result.note, url ? '' : strings.noLink];
  const section = sectionBlock(`${displayedFileName(result.name)}\n${about.filter(Boolean).join(' · ')}`);
  return url === undefined ? section : { ...section, accessory: linkButton('open_result', url) };
}

/** A file name in one line, without control characters, direction marks and pings; a long one keeps its extension. */
export function displayedFileName(name: string): string {
  const clean = toOneLine(name);
  return neutralizePings(shortenMiddle(clean === '' ? 'unnamed file' : clean, MAX_NAME_LENGTH));
}

function fileKind(result: ListedResult): string {
  const ending = /\.([\p{L}\p{N}]{1,8})$/u.exec(result.name.trim())?.[1];
  if (ending) return ending.toUpperCase();
  const mime = /^[\w.+-]+\/[\w.+-]+/.exec(result.mimeType)?.[0] ?? '';
  return mime === 'application/octet-stream' ? '' : shortenMiddle(mime, 60);
}

/** The link if it is a web address that a button takes, with characters escaped that could end it early. */
export function safeWebUrl(url: string | null | undefined): string | undefined {
  const { protocol = '', href = '' } = URL.parse(url ?? '') ?? {};
  if (!url || (protocol !== 'https:' && protocol !== 'http:')) return undefined;
  // Keeps a safe address unchanged: a signature may cover its exact characters.
  const isSafe = /^[!-~]+$/.test(url) && !/[<>|"\\^`{}]/.test(url);
  const safe = isSafe ? url : href.replaceAll('|', '%7C').replace(/[<>]/g, '');
  return safe.length > MAX_BUTTON_URL_LENGTH ? undefined : safe;
}
