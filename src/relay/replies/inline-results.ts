import type { AgentClient } from '../../agent/agent-client.ts';
import { AgentError } from '../../agent/errors.ts';
import type { ResultFile } from '../../agent/service-schema.ts';
import { tablePreviewMessage } from '../../render/messages/table-preview.ts';
import { withExactSize } from '../../slack/exact-bytes.ts';
import type { Turn } from '../../store/schema.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import type { Lease } from '../runtime/lease.ts';
import { transientFailure } from '../runtime/retry.ts';
import { messageDigest } from './reply-blocks.ts';
import { type FileToShare, ThreadFiles } from './thread-files.ts';
import type { ThreadPosts } from './thread-posts.ts';

/** Pictures of a turn that are put into its thread, and tables whose first rows are shown, at most. */
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

/** Shows results in the thread itself: pictures, and small tables as their first rows and the file. */
export async function postInlineResults(
  deps: RelayDeps,
  workspace: WorkspaceClient,
  agent: AgentClient,
  posts: ThreadPosts,
  turn: Turn,
  results: readonly ResultFile[],
  lease: Lease,
): Promise<void> {
  const { maxInlineBytes, maxTableBytes } = deps.settings.results;
  const files = new ThreadFiles(deps, workspace, turn, lease);
  const withinLimit = async (prefix: string, most: number, found: readonly ResultFile[]) => {
    const known = await deps.store.slackFiles.ofTurn(turn);
    const others = [...known.keys()].filter(
      (part) => part.startsWith(prefix) && !found.some(({ id }) => part === `${prefix}${id}`),
    );
    return found.slice(0, Math.max(0, most - others.length));
  };
  const wanted = (most: number, kinds: Readonly<Record<string, string>>) =>
    results.filter(
      (result) =>
        isOfType(result, kinds) &&
        result.downloadUrl &&
        result.sizeBytes > 0 &&
        result.sizeBytes <= Math.min(most, maxInlineBytes),
    );
  const shownPictures = await withinLimit('picture:', MAX_PICTURES, wanted(maxInlineBytes, PICTURE_TYPES));
  const shownTables = await withinLimit('table:', MAX_TABLES, wanted(maxTableBytes, TABLE_TYPES));
  for (const result of shownTables) await postTablePreview(deps, agent, posts, turn, result, lease);
  const share = (prefix: string) => (result: ResultFile) =>
    toFileToShare(agent, `${prefix}${result.id}`, result, lease);
  await files.share([...shownPictures.map(share('picture:')), ...shownTables.map(share('table:'))]);
}

function isOfType({ name, mimeType }: ResultFile, kinds: Readonly<Record<string, string>>): boolean {
  const ending = /\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(kinds, ending) || Object.values(kinds).includes(mimeType.split(';')[0] ?? '');
}

function toFileToShare(agent: AgentClient, part: string, result: ResultFile, lease: Lease): FileToShare {
  const { name, sizeBytes } = result;
  return {
    part,
    name,
    altText: name.slice(0, 1_000),
    sizeBytes,
    bytes: () => resultBytes(agent, result, lease),
  };
}

/** The result's bytes, asked for only when somebody takes them. */
async function* resultBytes(
  agent: AgentClient,
  { id, name, sizeBytes, downloadUrl }: ResultFile,
  lease: Lease,
): AsyncGenerator<Uint8Array> {
  if (!downloadUrl) throw new Error(`The result ${id} has no link.`);
  const { body } = await agent.openSignedLink(downloadUrl, { signal: lease.signal });
  yield* withExactSize(body, sizeBytes, name);
}

/** Posts a table's first rows; one that is no table, or that cannot be read now, is left to its link. */
async function postTablePreview(
  deps: RelayDeps,
  agent: AgentClient,
  posts: ThreadPosts,
  turn: Turn,
  result: ResultFile,
  lease: Lease,
): Promise<void> {
  const part = `table:${result.id}`;
  if (posts.has(part)) return;
  try {
    const chunks: Uint8Array[] = [];
    for await (const chunk of resultBytes(agent, result, lease)) chunks.push(chunk);
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
    const message = tablePreviewMessage({ name: result.name, text });
    if (message !== undefined) await posts.post(part, message, messageDigest(message), 'result');
  } catch (error) {
    if (lease.signal.aborted || (transientFailure(error) !== undefined && !(error instanceof AgentError)))
      throw error;
    deps.log.warn({ err: error, turn: turn.id }, 'the first rows of a table are left out');
  }
}
