import { buffer } from 'node:stream/consumers';
import type { ResultList } from '../../agent/list-pages.ts';
import type { ResultFile } from '../../agent/service-schema.ts';
import { signedUntil } from '../../agent/signed-links.ts';
import { isTabSeparated } from '../../render/delimited-tables.ts';
import { storedName, UNNAMED_FILE } from '../../render/file-names.ts';
import { fileType } from '../../render/file-types.ts';
import { fileNamed, MAX_FIGURES, type PlacedFigures } from '../../render/messages/figure-blocks.ts';
import {
  displayedFileName,
  type ListedResult,
  resultList,
  withoutLinks,
} from '../../render/messages/result-list.ts';
import { isShownWhole, tablesIn } from '../../render/messages/shown-tables.ts';
import * as strings from '../../render/strings/index.ts';
import { withDigest } from '../../slack/file-response.ts';
import type { ClaimableResult, ClaimedResult } from '../../store/files/posted-results.ts';
import type { Turn } from '../../store/schema.ts';
import type { RelayDeps, SettledTurnContext } from '../runtime/deps.ts';
import { asRendered, textOnly } from './fallback-forms.ts';
import { IdempotentPosts } from './idempotent-posts.ts';
import { LINK_LIFETIME_MS } from './lasting-links.ts';
import { resultBytes } from './result-bytes.ts';
import { type FileToShare, ThreadFiles } from './thread-files.ts';

/** The batches of a turn's results: what its task made until the turn's end, and after it. */
const IN_TURN = '';
const LATER = 'later';

/** What Slack may accept of a list of results, the fullest first. */
const RESULT_FORMS = [asRendered, withoutLinks, textOnly];

/** Bytes that a result takes beside its texts. */
const RESULT_BYTES = 200;

/** How long the download of a file that the thread shows may take (ms), however slowly its bytes come. */
const DOWNLOAD_TIMEOUT_MS = 120_000;

/** Most of a turn's pictures and tables that its thread shows itself. */
const MAX_SHOWN = 4;

/**
 * Posts the results of a settled turn, each id once in its thread: one list of all, and one message with the
 * files that Slack can show and the answer does not. A turn claims its results, so that a retry posts the
 * same. Returns how many there are, and by path the Slack file of each of the answer's `figures`.
 */
export async function postResults(
  context: SettledTurnContext,
  answer: string,
  figures: readonly string[] = [],
): Promise<{ count: number; placed: PlacedFigures }> {
  const nothing = { count: 0, placed: new Map<string, string | null>() };
  try {
    const all = await listResults(context);
    if (all.results.length === 0 && all.isComplete) return nothing;
    const claims = await claimNew(context, IN_TURN, all.results);
    const list = claimedResults(claims, context.turn, IN_TURN, all);
    const { results } = list;
    const { placed, inAnswer } = await placeFigures(context, { own: results, all: all.results }, figures);
    // An empty list says that the service has more, and does not list it.
    if (results.length === 0 && all.isComplete) return { ...nothing, placed };
    const candidates = results.filter(({ id }) => !inAnswer.has(id));
    const { shown, notes } = await chooseShown(context, candidates, answer);
    for (const id of inAnswer) notes.set(id, strings.resultInAnswer);
    await putList(context, IN_TURN, list, claims, notes);
    const files = shown.map((result) => toFileToShare(context, result));
    const shared = await new ThreadFiles(context, context.turn).share(files);
    const failed = shown.filter(({ id }) => !shared.has(`result:${id}`));
    for (const { id } of failed) notes.set(id, strings.resultNotShown);
    if (failed.length > 0) await putList(context, IN_TURN, list, claims, notes);
    return { count: results.length, placed };
  } finally {
    context.memory.drop('results');
  }
}

/** Lists the task's results. They count in `memory` until they are dropped, or all of it is released. */
async function listResults(
  { deps, agent, taskId, lease, memory }: SettledTurnContext,
  options: { withUrls?: boolean } = {},
): Promise<ResultList> {
  const list = () => agent.allResults(taskId, { signal: lease.signal, ...options });
  const sizeOf = ({ results }: ResultList) => {
    const bytes = results.map(({ id, name, downloadUrl }) => 2 * (id + name + downloadUrl).length);
    return { bytes: bytes.reduce((sum, size) => sum + size + RESULT_BYTES, 0), isSettled: true };
  };
  const listed = await memory.read('results', list, sizeOf, { lease });
  if (!listed.isComplete)
    deps.log.warn(
      { task: taskId, listed: listed.results.length, code: 'incomplete_results' },
      'the agent service has more results, but they cannot be read, or its cursor leads to no others; see cursorParam in AGENT_DIALECT',
    );
  return listed;
}

/** What image blocks show (https://docs.slack.dev/reference/block-kit/blocks/image-block). */
const FIGURE = /^image\/(?:png|jpeg|gif)\b/;

/**
 * Gives Slack the results that the answer shows as figures, of its turn's `own` or else of `all` of the task. Returns their
 * ids (`inAnswer`) and, by each path that names one, Slack's id of the file, or null if the file is below the answer.
 */
async function placeFigures(
  context: SettledTurnContext,
  { own, all }: Record<'own' | 'all', readonly ResultFile[]>,
  paths: readonly string[],
): Promise<{ placed: PlacedFigures; inAnswer: ReadonlySet<string> }> {
  if (paths.length === 0) return { placed: new Map(), inAnswer: new Set() };
  const { maxInlineBytes } = context.deps.settings;
  const isFigure = (result: ResultFile | undefined): result is SizedResult =>
    result !== undefined &&
    FIGURE.test(fileType(result.name, result.mimeType)) &&
    Boolean(result.downloadUrl && result.sizeBytes && result.sizeBytes <= maxInlineBytes);
  // Of several that were made under one name, the first that is found is the newest.
  const newestFirst = all.toSorted((a, b) => Number(b.createdAt ?? 0) - Number(a.createdAt ?? 0));
  const named = new Map(paths.map((path) => [path, fileNamed(path, own) ?? fileNamed(path, newestFirst)]));
  const shownFigures = [...new Set(named.values())].filter(isFigure).slice(0, MAX_FIGURES);
  const files = shownFigures.map((result) => toFileToShare(context, result, `figure:${result.id}`));
  const shared = await new ThreadFiles(context, context.turn, { hidden: true }).share(files);
  const inAnswer = shownFigures.flatMap(({ id }) => (shared.has(`figure:${id}`) ? [id] : []));
  const placed = [...named].flatMap(([path, result]) => {
    const fileId = result && shared.get(`figure:${result.id}`);
    const isBelow = result !== undefined && own.includes(result);
    return fileId === undefined && !isBelow ? [] : [[path, fileId ?? null] as const];
  });
  return { placed: new Map(placed), inAnswer: new Set(inAnswer) };
}

/** Lists what the task made after its last turn, in one message that grows. Each follow-up check calls it. */
export async function postLaterResults(context: SettledTurnContext): Promise<void> {
  const listed = await listResults(context, { withUrls: false });
  if (listed.results.length === 0) return;
  const claims = await claimNew(context, LATER, listed.results);
  const unposted = [...claims.values()].filter(({ batch, shown }) => batch === LATER && !shown);
  if (unposted.length === 0) return;
  const withLinks = await listResults(context);
  for (const owner of new Set(unposted.map(({ turn_id }) => turn_id))) {
    const poster = await postingTurn(context, owner);
    // What was claimed in a task that the thread has left is not in this task's list.
    if (poster === undefined || (poster.task_id ?? context.taskId) !== context.taskId) continue;
    const work = { ...context, turn: poster };
    const list = claimedResults(claims, poster, LATER, withLinks);
    if (list.results.length > 0) await putList(work, LATER, list, claims);
    await context.deps.store.results.markPosted(poster, LATER);
  }
}

/** The turn with the id `owner`, which posts what it claimed even if another has ended since; undefined once erased. */
export async function postingTurn(
  { deps, turn }: SettledTurnContext,
  owner: string,
): Promise<Turn | undefined> {
  return owner === turn.id ? turn : deps.store.turns.get(turn.workspace, owner);
}

/** Claims the things that no turn has claimed, and those that have changed since. Returns all claims of the thread. */
export async function claimNew(
  { deps, turn }: SettledTurnContext,
  batch: string,
  things: readonly ClaimableResult[],
): Promise<Map<string, ClaimedResult>> {
  await deps.store.results.claim(turn, batch, things);
  return deps.store.results.ofThread(turn);
}

/** Those of the listed results that this turn has claimed for this batch. */
function claimedResults(
  claims: ReadonlyMap<string, ClaimedResult>,
  turn: Turn,
  batch: string,
  { results, isComplete }: ResultList,
): ResultList {
  const isClaimedHere = ({ id }: ResultFile) => {
    const claim = claims.get(id);
    return claim?.turn_id === turn.id && claim.batch === batch;
  };
  return { results: results.filter(isClaimedHere), isComplete };
}

/** Posts the list of a batch, or brings it up to date; `notes` say by id why a result is only linked. */
async function putList(
  context: SettledTurnContext,
  batch: typeof IN_TURN | typeof LATER,
  { results, isComplete }: ResultList,
  claims: ReadonlyMap<string, ClaimedResult>,
  notes: ReadonlyMap<string, string> = new Map(),
): Promise<void> {
  const { deps, turn } = context;
  const listed = results.map((result) => {
    const wasShownBefore = (claims.get(result.id)?.earlier_turn_ids ?? []).length > 0;
    const sentences = [wasShownBefore ? strings.resultUpdated : '', notes.get(result.id) ?? ''];
    const note = sentences.filter((sentence) => sentence !== '').join(' · ');
    return { ...toListedResult(deps, result, turn), note };
  });
  const message = resultList(listed, { turnId: turn.id, isLater: batch === LATER, isComplete });
  const part = `results:${batch === IN_TURN ? '0' : batch}`;
  const posts = new IdempotentPosts(context, turn);
  const postUnlessThere = () => posts.post(part, message, 'result', RESULT_FORMS);
  await postUnlessThere();
  await posts.update(part, message, RESULT_FORMS);
  // The edit may have found that the message is gone.
  await postUnlessThere();
}

/**
 * A result as people see it. Its link is the service's or, if the operator wants such links, one of ours, which
 * lasts longer. Our link needs the id of the turn that has claimed the result, by which it finds the task.
 */
export function toListedResult(
  { settings }: Pick<RelayDeps, 'settings'>,
  { id: resultId, name, sizeBytes, mimeType, downloadUrl }: ResultFile,
  { workspace, id: turnId }: { workspace: string; id: string | undefined },
): ListedResult {
  const { stableLink } = settings;
  const listed = { name, sizeBytes, mimeType };
  if (!downloadUrl || stableLink === undefined || turnId === undefined)
    return { ...listed, url: downloadUrl, worksUntil: signedUntil(downloadUrl ?? '') };
  const worksUntil = new Date(Date.now() + LINK_LIFETIME_MS);
  return { ...listed, url: stableLink({ workspace, turnId, resultId }), worksUntil };
}

const PICTURE = /^image\/(?:png|jpeg|gif|webp)\b/;
const TABLE = /^text\/(?:csv|tab-separated-values)\b/;
/** Most of a turn's tables, and most of its texts, that are read to choose which are shown. */
const MAX_READ = 8;

/**
 * Chooses the pictures and tables to show, pictures first; `notes` say by id why others are not shown.
 * Empty files, those without a link, and texts that are no table get no note: they are only listed.
 */
async function chooseShown(
  context: SettledTurnContext,
  results: readonly ResultFile[],
  answer: string,
): Promise<{ shown: SizedResult[]; notes: Map<string, string> }> {
  const { maxInlineBytes, maxTableBytes } = context.deps.settings;
  const shown: SizedResult[] = [];
  const notes = new Map<string, string>();
  const ofType = (type: RegExp) => results.filter((one) => type.test(fileType(one.name, one.mimeType)));
  const pictures = ofType(PICTURE);
  const tables = ofType(TABLE);
  const texts = ofType(/^text\/plain\b/).filter(({ name }) => /\.txt$/i.test(name));
  const answerTables = tables.length + texts.length === 0 ? [] : tablesIn(answer);
  // What an answer shows whole is small. Empty files are not read.
  const smallest = (files: readonly ResultFile[]) => {
    const filled = files.filter(hasSize).filter(({ sizeBytes }) => sizeBytes > 0);
    return filled.toSorted((a, b) => a.sizeBytes - b.sizeBytes).slice(0, MAX_READ);
  };
  const readable = [...smallest(tables), ...smallest(texts)];
  for (const result of [...pictures, ...tables, ...texts]) {
    const maxBytes = pictures.includes(result) ? maxInlineBytes : Math.min(maxTableBytes, maxInlineBytes);
    if (!result.downloadUrl || result.sizeBytes === 0 || maxBytes === 0) continue;
    const isFitting = hasSize(result) && result.sizeBytes <= maxBytes;
    // A text is read to see whether it is a table, and a table to see whether the answer shows it.
    const isText = texts.includes(result);
    const mustRead = isFitting && readable.includes(result) && (isText || answerTables.length > 0);
    // What is not read counts as '', which is no table and is not shown in the answer.
    const content = mustRead ? await readTable(context, result) : '';
    if (isText && !isTabSeparated(content)) continue;
    if (!hasSize(result)) notes.set(result.id, strings.resultNotShown);
    else if (!isFitting) notes.set(result.id, strings.resultTooLarge);
    else if (isShownWhole(content, answerTables)) notes.set(result.id, strings.resultInAnswer);
    else if (shown.length >= MAX_SHOWN) notes.set(result.id, strings.resultsShown(MAX_SHOWN));
    else shown.push(result);
  }
  return { shown, notes };
}

/** The texts of a turn's delimited tables that are not empty; none if too many, large or unreadable. Throws an AgentError. */
export async function resultTables(context: SettledTurnContext): Promise<string[]> {
  const { deps, turn, memory } = context;
  const claims = await deps.store.results.ofThread(turn);
  const { results } = await listResults(context).finally(() => memory.drop('results'));
  const isOfNoOtherTurn = ({ id }: ResultFile) => (claims.get(id)?.turn_id ?? turn.id) === turn.id;
  const isTable = ({ name, mimeType, sizeBytes }: ResultFile) =>
    sizeBytes !== 0 && TABLE.test(fileType(name, mimeType));
  const tables = results.filter((result) => isOfNoOtherTurn(result) && isTable(result));
  const { maxTableBytes } = deps.settings;
  const readable = tables.filter(hasSize).filter((one) => one.downloadUrl && one.sizeBytes <= maxTableBytes);
  if (readable.length < tables.length || tables.length > MAX_SHOWN) return [];
  const texts = await Promise.all(readable.map((table) => readTable(context, table)));
  return texts.includes('') ? [] : texts;
}

/** A result's text; '' if the service does not give it, because the results do not wait for it. Throws if the lease ends. */
async function readTable(context: SettledTurnContext, result: SizedResult): Promise<string> {
  const { deps, turn, lease } = context;
  try {
    return String(await buffer(shownBytes(context, result)));
  } catch (error) {
    if (lease.signal.aborted) throw error;
    deps.log.warn({ err: error, turn: turn.id }, 'a table could not be compared with the answer');
    return '';
  }
}

/** A result that Slack can be given, because Slack is told the size first. */
type SizedResult = ResultFile & { sizeBytes: number };

function hasSize(result: ResultFile): result is SizedResult {
  return result.sizeBytes !== null;
}

/** A result as a file for Slack. Once it is downloaded, its digest is recorded. */
function toFileToShare(context: SettledTurnContext, result: SizedResult, part = `result:${result.id}`) {
  const { deps, turn } = context;
  const { id, sizeBytes } = result;
  const name = displayedFileName(result.name);
  const record = (sha256: string) => deps.store.results.recordDigest(turn, id, sha256);
  const file: FileToShare = {
    part,
    name: storedName(result.name, UNNAMED_FILE),
    title: name,
    altText: name,
    sizeBytes,
    bytes: () => withDigest(withTrueSize(shownBytes(context, result), file), record),
  };
  return file;
}

/**
 * Yields the bytes of a file up to its listed size. If the true size is another, it is written into `file`
 * for the next attempt, and this attempt throws: a storage may list the size of a compressed file.
 */
async function* withTrueSize(bytes: AsyncIterable<Uint8Array>, file: FileToShare) {
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.length;
    if (size <= file.sizeBytes) yield chunk;
  }
  if (size === file.sizeBytes) return;
  file.sizeBytes = size;
  throw new Error(`A result has ${size} bytes, unlike its listed size.`);
}

function shownBytes(context: SettledTurnContext, result: SizedResult): AsyncGenerator<Uint8Array> {
  const maxBytes = context.deps.settings.maxInlineBytes;
  return resultBytes(context, result, { maxBytes, timeoutMs: DOWNLOAD_TIMEOUT_MS });
}
