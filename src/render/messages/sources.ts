import type { RichTextBlock, RichTextElement } from '@slack/types';
import type { ContentBlock } from '../../agent/content-blocks.ts';
import type { SourceId } from '../../registries/source-check.ts';
import { isSignedLink } from '../markdown/signed-links-in-text.ts';
import * as strings from '../strings/index.ts';
import { shorten } from '../text-format.ts';
import { answerText } from './answer-text.ts';
import { decodedAscii, doisAt, doisIn, workOf } from './doi.ts';
import { ADDRESS, ID_KINDS, idsIn, MAX_FINDS, wholeName, withoutWww } from './id-patterns.ts';
import { numberedReferences } from './reference-list.ts';
import { answerToSearch, readableCharacters, resultToSearch, wholeWords } from './searched-text.ts';
import { MAX_TOOL_TEXT_LENGTH } from './tool-values.ts';
import { type Beside, besideId } from './words-beside.ts';

/** A page that an answer names by its address or by an id. */
export interface Source extends Beside {
  url: string;
  /** The id as people write it, or the address: its host whole, the rest shortened. */
  label: string;
  /** Its number in the answer's own references, if it has one there; else what follows them. */
  number: number;
  /** By which registries know it. */
  id: SourceId | undefined;
}

/** A page that a text names, and where: `label` is the id that leads there. */
interface Find {
  at: number;
  url: string;
  label?: string | undefined;
}

const MAX_LISTED = 20;
/** Characters that are kept of what an answer says beside a source. */
const MAX_BESIDE = 1_000;
/** Sources that are looked for; Steps has those that the answer does not list. */
const MAX_FOUND = 100;
/** Characters of an answer that are searched, and of all its tools' results: either takes at most some 50 ms. */
const MAX_SEARCHED = 250_000;
/** Nobody checks a longer address; Slack states no limit for a link in rich text. */
const MAX_URL_LENGTH = 500;
const MAX_PATH_LENGTH = 80;

/** Addresses that documentation makes up (RFC 2606), and those of one network. */
const NO_SITE = /(?:^|\.)(?:example\.(?:com|net|org)|example|test|invalid|localhost|local|internal)$/;

/** Whether sources are listed below a reply: once its answer is complete, unless its channel hides them. */
export function showsSources(reply: { phase: string; hideSources?: boolean | undefined }): boolean {
  return reply.phase === 'done' && reply.hideSources !== true;
}

const searched = new WeakMap<readonly ContentBlock[], readonly Source[]>();

/** Looks for the sources, so that rendering them takes no long time; false if they were looked for before. */
export function searchSources(blocks: readonly ContentBlock[]): boolean {
  if (searched.has(blocks)) return false;
  searched.set(blocks, findSources(blocks));
  return true;
}

/**
 * The pages that a finished answer names, each once: links and ids of its text in their order, then ids in the results of
 * its tools. At most 100.
 */
export function sourcesOf(blocks: readonly ContentBlock[]): readonly Source[] {
  searchSources(blocks);
  return searched.get(blocks) ?? [];
}

function findSources(blocks: readonly ContentBlock[]): Source[] {
  const found = new Map<string, Source>();
  const addAll = (finds: readonly Find[], about: (find: Find) => Partial<Source> = () => ({})) => {
    for (const find of finds) {
      const { href, host, pathname, search, hash } = new URL(find.url);
      // PLOS has the DOI of an article in its query.
      const doi = /^\?id=(10\.1371\/[^&]+)/.exec(search)?.[1];
      const page = withoutWww(host + pathname + (doi === undefined ? '' : `/${doi}`));
      const query = search.replace(/[?&]utm_[^&]*/g, '').replace(/^&/, '?');
      const rest = `${pathname}${query}`.replace(/\/$/, '');
      const route = /^#[!/]/.test(hash) ? hash : '';
      const key = (workOf(page) ?? withoutWww(`${host}${rest}${route}`)).toLowerCase();
      const known = found.get(key);
      if (known === undefined && found.size >= MAX_FOUND) return;
      const told = about(find);
      const number = known?.number || (told.number ?? 0);
      const label = find.label ?? `${host}${shorten(rest, MAX_PATH_LENGTH)}`;
      const id = sourceId(page, label);
      const besides = [known?.beside ?? '', told.beside ?? ''];
      const beside = (told.isTitled === true ? besides.reverse() : besides).join('\n').slice(0, MAX_BESIDE);
      const isTitled = known?.isTitled === true || told.isTitled === true;
      found.set(key, { url: href, label, ...known, id: known?.id ?? id, number, beside, isTitled });
    }
  };
  const text = answerToSearch(wholeWords(answerText(blocks), MAX_SEARCHED));
  const named = pagesIn(text, false);
  const places = named.map(({ at }) => at);
  const references = numberedReferences(text, places);
  addAll(named, ({ at }) => {
    const label = /\[\\?\[?(\d{1,3})\\?\]?\]\(<?$/.exec(text.slice(Math.max(0, at - 10), at))?.[1];
    const entry = references.find(({ from, to }) => from <= at && at < to);
    return { number: label === undefined ? (entry?.number ?? 0) : Number(label), ...besideId(text, at) };
  });
  let left = MAX_SEARCHED;
  for (const block of blocks) {
    if (block.kind !== 'tool_result' || left <= 0) continue;
    left -= block.content.length;
    addAll(pagesIn(resultToSearch(wholeWords(block.content, MAX_TOOL_TEXT_LENGTH)), true));
  }
  // Those without a number follow the answer's own references.
  const sources = [...found.values()];
  let last = Math.max(0, ...[...references, ...sources].map(({ number }) => number));
  for (const source of sources.filter(({ number }) => number === 0)) {
    last += 1;
    source.number = last;
  }
  return sources.sort((one, other) => one.number - other.number);
}

/** What a publisher's address of an article has before and behind its DOI. Others may hold what only looks like one. */
const ARTICLE =
  /^(?:[^/]+|cochranelibrary\.com\/\w+)\/(?:doi|content)\/(?:(?:abs|full|e?pdf|pdfplus|book|epub)\/)?10\.\d{4,9}\/[^/]+(?:\/(?:full|pdf|abstract))?$/;
/** The same of Springer, BMC, PLOS and Frontiers; and sites all of whose works have a DOI. */
const KNOWN_ARTICLE =
  /^(?:arxiv\.org|nature\.com)\/|\/(?:articles?|book|chapter)\/10\.(?:1007|1186|1371|3389)\/[^/]+(?:\/full)?$/;

/** The id by which registries may be asked about a page: its PMID, or the DOI that it is named by or that its address gives. */
function sourceId(page: string, label: string): SourceId | undefined {
  const pmid = /^pubmed\.ncbi\.nlm\.nih\.gov\/0*(\d{1,8})\/?$/.exec(page)?.[1];
  if (pmid !== undefined) return `pmid:${pmid}`;
  const isArticle = ARTICLE.test(page) || KNOWN_ARTICLE.test(page);
  const doi = page.startsWith('doi.org/') ? /^10\..*/.exec(label)?.[0] : isArticle ? workOf(page) : undefined;
  return doi === undefined ? undefined : `doi:${doi.toLowerCase()}`;
}

/** The pages that a text names, in their order; a tool's result names only those of ids. */
function pagesIn(text: string, isResult: boolean): Find[] {
  const finds: Find[] = [];
  // What stands in an address is no id by itself.
  const rest = text.replace(ADDRESS, (raw, at: number) => {
    const isSource = finds.length < MAX_FINDS && !isPictureOrDoi(text.slice(Math.max(0, at - 304), at), raw);
    const page = isSource ? pageAt(text, at, raw, isResult) : undefined;
    if (page !== undefined) finds.push({ at, ...page });
    return ' '.repeat(raw.length);
  });
  for (const { at, id } of doisIn(rest, MAX_FINDS)) finds.push({ at, ...doiPage(id) });
  for (const kind of ID_KINDS) {
    if (isResult && kind.isInTextOnly) continue;
    for (const { at, id } of idsIn(rest, kind)) finds.push({ at, ...kind.pageOf(id) });
  }
  return finds.sort((one, other) => one.at - other.at);
}

/** At most so many public pages that a tool's result names by their address. */
export function addressesIn(result: string, most: number): string[] {
  const text = readableCharacters(wholeWords(result, MAX_TOOL_TEXT_LENGTH));
  const found = [...text.matchAll(ADDRESS)].map(({ index, 0: raw }) => pageAt(text, index, raw, false)?.url);
  return [...new Set(found.filter((url) => url !== undefined))].slice(0, most);
}

/** How the address of a DOI begins. */
const RESOLVER = /^(?:https?:\/\/(?:dx\.|www\.)?doi\.org\/{1,2}(?:doi:)?)+(?=10\.\d{4})/i;

/** Whether the text before an address makes it that of a picture, or the page of a DOI that its link shows. */
function isPictureOrDoi(before: string, address: string): boolean {
  const start = before.lastIndexOf('[');
  const label = /^\[([^\]]*)\]\(<?$/.exec(before.slice(start))?.[1];
  return (
    label !== undefined &&
    (before[start - 1] === '!' || (/\b10\.\d{4,5}\/\S{6}/.test(label) && !RESOLVER.test(address)))
  );
}

/** The page that an address leads to: that of an id where it is one; undefined if it is no public page. */
function pageAt(text: string, at: number, raw: string, isResult: boolean): Omit<Find, 'at'> | undefined {
  const resolver = RESOLVER.exec(raw)?.[0].length;
  const doiFrom = resolver ?? raw.search(/(?<=\/)10\.\d{4,9}\//);
  const doi = doiFrom > 0 ? doisAt(text, at + doiFrom)[0] : undefined;
  // Brackets in a DOI end the address that names it.
  if (resolver !== undefined || (doi !== undefined && /[<[]/.test(doi.slice(raw.length - doiFrom))))
    return doi === undefined ? undefined : doiPage(doi);
  const url = URL.parse(wholeName(text, at, raw) ?? '');
  if (url === null || url.username + url.password !== '' || url.href.length > MAX_URL_LENGTH)
    return undefined;
  const path = decodedAscii(url.pathname.replace(/(?:\/entry)?\/?$/, ''));
  const plain = withoutWww(url.host + path + url.search);
  for (const { pages, pageOf, whole, isInTextOnly } of ID_KINDS) {
    if (isResult && isInTextOnly) continue;
    const start = pages.find((one) => plain.startsWith(one)) ?? plain;
    const id = plain.slice(start.length).replace(/(?:[?&]|%[89a-f]).*/i, '');
    if (whole.test(id)) return pageOf(id);
  }
  const isSite = /^.{1,80}\.[a-z][a-z\d-]{1,20}$/.test(url.hostname) && !NO_SITE.test(url.hostname);
  return isResult || !isSite || isSignedLink(url.href) ? undefined : { url: url.href };
}

/** The page of a DOI; what would end the path of its address is encoded. */
function doiPage(doi: string): Omit<Find, 'at'> {
  return { url: `https://doi.org/${doi.replace(/[#%?^|]/g, encodeURIComponent)}`, label: doi };
}

/** Below an answer: the sources that it names, if there are two or more. */
export function sourceBlocks(blocks: readonly ContentBlock[]): RichTextBlock[] {
  const { listed, last } = listedSources(blocks);
  return listed.length < 2 ? [] : [listBlock(strings.sources, listed, last)];
}

/** The sources that the list below an answer has room for, and what stands below the last one. */
export function listedSources(blocks: readonly ContentBlock[]): { listed: readonly Source[]; last: string } {
  const sources = sourcesOf(blocks);
  const rest = sources.length - MAX_LISTED;
  return { listed: sources.slice(0, MAX_LISTED), last: rest > 0 ? strings.sourcesInSteps(rest) : '' };
}

/** The sources that the list below an answer has no room for. */
export function furtherSourceBlocks(blocks: readonly ContentBlock[]): RichTextBlock[] {
  const rest = sourcesOf(blocks).slice(MAX_LISTED);
  const last = rest.length === MAX_FOUND - MAX_LISTED ? strings.firstSourcesOnly(MAX_FOUND) : '';
  return rest.length === 0 ? [] : [listBlock(strings.furtherSources, rest, last)];
}

/** A list of sources, with what is said `about` each, if anything is. Rich text shows its texts literally. */
export function listBlock(
  heading: string,
  sources: readonly Source[],
  last: string,
  about?: (source: Source) => RichTextElement[],
): RichTextBlock {
  const elements: RichTextElement[] = [{ type: 'text', text: heading, style: { bold: true } }];
  for (const [index, source] of sources.entries()) {
    const { url, label, number } = source;
    const isSame = about === undefined && sources[index - 1]?.number === number;
    elements.push(
      { type: 'text', text: isSame ? ', ' : `\n${number}. ` },
      { type: 'link', url, text: label },
      ...(about?.(source) ?? []),
    );
  }
  if (last !== '') elements.push({ type: 'text', text: `\n${last}` });
  return { type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] };
}
