import type { RichTextElement } from '@slack/types';
import type { ContentBlock } from '../../agent/content-blocks.ts';
import type { SourceCheck, SourceChecks, SourceId, SourceState } from '../../registries/source-check.ts';
import {
  actionsBlock,
  buttonElement,
  contextLineBlock,
  fitsMessage,
  messageOfBlocks,
  mrkdwnContextBlock,
  type RenderedMessage,
  type SlackBlock,
} from '../blocks/slack-blocks.ts';
import * as strings from '../strings/index.ts';
import { counted, shorten } from '../text-format.ts';
import { listBlock, listedSources, type Source, sourcesOf } from './sources.ts';
import { isOtherTitle, readableTitle } from './words-beside.ts';

/** What the agent is not asked to replace. */
const SOUND: readonly SourceState[] = ['found', 'corrected'];
/** Characters of a title; none where they do not all fit into the message. */
const MAX_TITLE_LENGTH = 120;

/**
 * The list of an answer's sources as a message of its own, which has room for what the registries say of each once that is
 * `known`, and for `replace_sources` (its value is the turn's id) or who has pressed it (`buttonUse`); undefined if no
 * registry knows any of them.
 */
export function sourceListMessage(
  turnId: string,
  blocks: readonly ContentBlock[],
  known?: { checks: SourceChecks; buttonUse: string | undefined },
  titleLength = MAX_TITLE_LENGTH,
): RenderedMessage | undefined {
  const { listed, last } = listedSources(blocks);
  if (listed.every(({ id }) => id === undefined)) return undefined;
  if (known === undefined) return messageOfBlocks([listBlock(strings.sources, listed, last)]);
  const { checks, buttonUse } = known;
  const heading = `${strings.sources}\n${summaryOf(sourcesOf(blocks), checks)}`;
  const list = listBlock(heading, listed, last, ({ id }) => findingOf(id && checks[id], titleLength));
  const all: SlackBlock[] = [list, mrkdwnContextBlock(checkedWith(Object.values(checks)))];
  if (buttonUse !== undefined) all.push(contextLineBlock(buttonUse));
  else if (replacementRequest(checks) !== undefined)
    all.push(actionsBlock([buttonElement('replace_sources', turnId)]));
  if (titleLength > 0 && !fitsMessage(all)) return sourceListMessage(turnId, blocks, known, 0);
  return messageOfBlocks(all);
}

function findingOf(check: SourceCheck | undefined, titleLength: number): RichTextElement[] {
  const { mark } = strings.sourceStates[check?.state ?? 'not_checked'];
  const title = check?.title === undefined ? undefined : shorten(check.title, titleLength);
  const said = { type: 'text' as const, text: ` ${mark} ${strings.sourceFinding({ ...check, title })}` };
  const more = check && moreAbout(check);
  return more === undefined ? [said] : [said, { type: 'text', text: ', ' }, { type: 'link', ...more }];
}

/** Where a registry says more about a source: a notice, or the newer one. */
export function moreAbout({ state, see }: SourceCheck): { url: string; text: string } | undefined {
  if (see === undefined) return undefined;
  const text = state === 'superseded' ? strings.sourceReplacement : strings.sourceNotice;
  return { url: addressOf(see), text };
}

/** "8 sources: 6 found, 1 retracted (2019), 1 not found". Those that the list has no room for are not checked. */
function summaryOf(sources: readonly Source[], checks: SourceChecks): string {
  const found = sources.map(({ id }) => id && checks[id]);
  const counts = Object.entries(strings.sourceStates).flatMap(([state, { word, many }]) => {
    const those = found.filter((check) => (check?.state ?? 'not_checked') === state);
    const years = state === 'retracted' ? those.flatMap((check) => check?.since?.slice(0, 4) ?? []) : [];
    const when = years.length === 0 ? '' : ` (${[...new Set(years)].sort().join(', ')})`;
    return those.length === 0 ? [] : [`${those.length} ${those.length === 1 ? word : many}${when}`];
  });
  return `${counted(sources.length, 'source')}: ${counts.join(', ')}`;
}

/** Which registries answered and when, with the notice that NCBI wants where its data are shown. */
function checkedWith(checks: readonly (SourceCheck | undefined)[]): string {
  const registries = [...new Set(checks.flatMap((check) => check?.by ?? []))].sort();
  if (registries.length === 0) return strings.sourcesNotChecked;
  const days = checks.flatMap((check) => check?.checkedAt.slice(0, 10) ?? []).sort();
  const told = strings.sourcesCheckedWith(registries, days[0], days.at(-1));
  const { url, text } = strings.ncbiDisclaimer;
  return registries.includes('pubmed') ? `${told} <${url}|${text}>.` : told;
}

/** What the agent is asked: the ids that have a problem, and which; undefined if none has. Nothing else that registries say. */
export function replacementRequest(checks: SourceChecks): string | undefined {
  const lines = Object.entries(checks).flatMap(([id, check]) => {
    if (check === undefined || SOUND.includes(check.state)) return [];
    const { state, since } = check;
    const see = check.see === undefined ? '' : ` (see ${nameOf(check.see)})`;
    return [`- ${nameOf(id)}: ${strings.sourceFinding({ state, since })}${see}`];
  });
  return lines.length === 0 ? undefined : [strings.replaceSources, ...lines].join('\n');
}

/** What is known of each source; a title that shares nothing with the one that the answer gives beside the id is another one. */
export function comparedChecks(sources: readonly Source[], known: SourceChecks): SourceChecks {
  const compared = sources.flatMap(({ id, ...source }) => {
    const check = id && known[id];
    if (check === undefined) return [];
    const told = { ...check, title: check.title && readableTitle(check.title) };
    const isOther = check.state === 'found' && isOtherTitle(told.title ?? '', source);
    return [[id, isOther ? { ...told, state: 'other_title' } : told] as const];
  });
  return Object.fromEntries(compared);
}

/** The id as people write it. */
function nameOf(id: string): string {
  return id.replace(/^doi:/, '').replace(/^pmid:/, 'PMID ');
}

function addressOf(id: SourceId): string {
  if (id.startsWith('pmid:')) return `https://pubmed.ncbi.nlm.nih.gov/${id.slice(5)}`;
  return `https://doi.org/${encodeURI(id.slice(4)).replace(/[#?]/g, encodeURIComponent)}`;
}
