import { randomUUID } from 'node:crypto';
import { AgentError } from '../../agent/errors.ts';
import type { ResultFile } from '../../agent/service-schema.ts';
import { type ListedResult, resultMessages, withoutLinks } from '../../render/messages/result-list.ts';
import { tablePreviewMessage } from '../../render/messages/table-preview.ts';
import { withExactSize } from '../../slack/file-stream.ts';
import type { ClaimedResult } from '../../store/files/posted-results.ts';
import type { Turn } from '../../store/schema.ts';
import type { ResultLinkTarget, SettledTurnContext } from '../runtime/deps.ts';
import { transientFailure } from '../runtime/retry.ts';
import { asRendered, textOnly } from './fallback-forms.ts';
import { type FileToShare, ThreadFiles } from './thread-files.ts';
import { ThreadPosts } from './thread-posts.ts';

/** What Slack may accept of a list of results, the fullest first. */
const RESULT_FORMS = [asRendered, withoutLinks, textOnly];

/**
 * Posts the results of a settled turn, each result of the task once in its thread. The turn keeps the results that it
 * claims, so that a retry posts the same. Returns how many there are.
 */
export async function postResults(context: SettledTurnContext): Promise<number> {
  const all = await context.agent.allResults(context.taskId, { signal: context.lease.signal });
  if (all.length === 0) return 0;
  await claimNewResults(context, '', all);
  return postResultBatch(context, '', all);
}

/** Posts the results that the task made after its last turn, each once. A follow-up check. */
export async function postLaterResults(context: SettledTurnContext): Promise<void> {
  const { signal } = context.lease;
  const listed = await context.agent.allResults(context.taskId, { signal, withUrls: false });
  if (listed.length === 0) return;
  const claims = await claimNewResults(context, randomUUID(), listed);
  const batches = new Map<string, string>();
  for (const { turn_id: owner, batch, shown } of claims.values()) {
    if (batch !== '' && !shown) batches.set(batch, owner);
  }
  if (batches.size === 0) return;
  const all = await context.agent.allResults(context.taskId, { signal });
  for (const [batch, owner] of batches) {
    const poster = await postingTurn(context, owner);
    if (poster !== undefined && isOfTask(poster, context.taskId))
      await postResultBatch({ ...context, turn: poster }, batch, all);
  }
}

/** The turn that posts what `owner` claimed, even if another turn has ended since. */
export async function postingTurn(
  { deps, turn }: SettledTurnContext,
  owner: string,
): Promise<Turn | undefined> {
  return owner === turn.id ? turn : deps.store.turns.get(turn.workspace, owner);
}

function isOfTask({ task_id }: Turn, taskId: string): boolean {
  return task_id === null || task_id === taskId;
}

/** Returns all claims of the thread. */
async function claimNewResults(
  { deps, turn }: SettledTurnContext,
  batch: string,
  all: ResultFile[],
): Promise<Map<string, ClaimedResult>> {
  const claimed = await deps.store.results.ofThread(turn);
  const fresh = all.filter(({ id }) => !claimed.has(id)).map(({ id }) => id);
  if (fresh.length === 0) return claimed;
  await deps.store.results.claim(turn, batch, fresh);
  return deps.store.results.ofThread(turn);
}

async function postResultBatch(
  context: SettledTurnContext,
  batch: string,
  all: ResultFile[],
): Promise<number> {
  const { deps, turn } = context;
  const claimed = await deps.store.results.ofThread(turn);
  const mine = all.filter(({ id }) => {
    const claim = claimed.get(id);
    return claim?.turn_id === turn.id && claim.batch === batch;
  });
  if (mine.length > 0) {
    const posts = new ThreadPosts(context, turn);
    await posts.load();
    const { stableLink } = deps.settings.results;
    const link = stableLink === undefined ? undefined : (id: string) => stableLink(linkTarget(turn, id));
    const shown = mine.map((result) => toShownResult(result, link));
    const messages = resultMessages(shown, { turnId: turn.id, later: batch !== '' });
    const prefix = batch === '' ? 'results' : `results:${batch}`;
    for (const [index, message] of messages.entries()) {
      await posts.post(`${prefix}:${index}`, message, 'result', RESULT_FORMS);
    }
    await postInlineResults(context, posts, mine);
  }
  await deps.store.results.markPosted(turn, batch);
  return mine.length;
}

function linkTarget({ workspace, channel, thread_ts }: Turn, resultId: string): ResultLinkTarget {
  return { workspace, channel, thread_ts, resultId };
}

/** A result as the thread lists it; `stableLink` makes a link that does not expire with the service's. */
export function toShownResult(result: ResultFile, stableLink?: (resultId: string) => string): ListedResult {
  const { id, name, sizeBytes, mimeType, downloadUrl } = result;
  const url = downloadUrl && stableLink !== undefined ? stableLink(id) : downloadUrl;
  return { name, sizeBytes, mimeType, url };
}

/** Most pictures of a turn that its thread shows, and most tables whose first rows it shows. */
const MAX_PICTURES = 10;
const MAX_TABLES = 3;

const PICTURE_TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};
const TABLE_TYPES: Readonly<Record<string, string>> = { csv: 'text/csv', tsv: 'text/tab-separated-values' };

interface ChosenResult {
  part: string;
  result: ResultFile;
}

/** Shows results in the thread itself: pictures, and small tables as their first rows and the file. */
async function postInlineResults(
  context: SettledTurnContext,
  posts: ThreadPosts,
  results: readonly ResultFile[],
): Promise<void> {
  const { deps, turn } = context;
  const { maxInlineBytes, maxTableBytes } = deps.settings.results;
  const known = await deps.store.slackFiles.ofTurn(turn);
  const chosen = (
    prefix: string,
    types: Readonly<Record<string, string>>,
    maxBytes: number,
    maxCount: number,
  ): ChosenResult[] => {
    const found = results
      .filter(
        (result) =>
          isOfType(result, types) &&
          result.downloadUrl &&
          result.sizeBytes > 0 &&
          result.sizeBytes <= Math.min(maxBytes, maxInlineBytes),
      )
      .map((result) => ({ part: `${prefix}${result.id}`, result }));
    const others = [...known.keys()].filter(
      (part) => part.startsWith(prefix) && !found.some((one) => one.part === part),
    );
    return found.slice(0, Math.max(0, maxCount - others.length));
  };
  const pictures = chosen('picture:', PICTURE_TYPES, maxInlineBytes, MAX_PICTURES);
  const tables = chosen('table:', TABLE_TYPES, maxTableBytes, MAX_TABLES);
  for (const table of tables) await postTablePreview(context, posts, table);
  const files = [...pictures, ...tables].map((one) => toFileToShare(context, one));
  await new ThreadFiles(context, turn).share(files);
}

function isOfType({ name, mimeType }: ResultFile, kinds: Readonly<Record<string, string>>): boolean {
  const ending = /\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(kinds, ending) || Object.values(kinds).includes(mimeType.split(';')[0] ?? '');
}

function toFileToShare(context: SettledTurnContext, { part, result }: ChosenResult): FileToShare {
  const { name, sizeBytes } = result;
  return {
    part,
    name,
    altText: name.slice(0, 1_000),
    sizeBytes,
    bytes: () => resultBytes(context, result),
  };
}

/** The result's bytes; the download starts with the first chunk that is taken. */
async function* resultBytes(
  { agent, lease }: SettledTurnContext,
  { id, name, sizeBytes, downloadUrl }: ResultFile,
): AsyncGenerator<Uint8Array> {
  if (!downloadUrl) throw new Error(`The result ${id} has no link.`);
  const { body } = await agent.openSignedLink(downloadUrl, { signal: lease.signal });
  yield* withExactSize(body, sizeBytes, name);
}

/** Posts a table's first rows. A file that is no table, or that cannot be read now, only has its link. */
async function postTablePreview(
  context: SettledTurnContext,
  posts: ThreadPosts,
  { part, result }: ChosenResult,
): Promise<void> {
  const { deps, turn, lease } = context;
  if (posts.has(part)) return;
  try {
    const chunks: Uint8Array[] = [];
    for await (const chunk of resultBytes(context, result)) chunks.push(chunk);
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
    const message = tablePreviewMessage({ name: result.name, text });
    if (message !== undefined) await posts.post(part, message, 'result');
  } catch (error) {
    if (lease.signal.aborted || (transientFailure(error) !== undefined && !(error instanceof AgentError)))
      throw error;
    deps.log.warn({ err: error, turn: turn.id }, 'the preview of a table is left out');
  }
}
