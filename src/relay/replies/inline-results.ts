import { AgentError } from '../../agent/errors.ts';
import type { ResultFile } from '../../agent/service-schema.ts';
import { tablePreviewMessage } from '../../render/messages/table-preview.ts';
import { withExactSize } from '../../slack/file-stream.ts';
import type { SettledTurnContext } from '../runtime/deps.ts';
import { transientFailure } from '../runtime/retry.ts';
import { type FileToShare, ThreadFiles } from './thread-files.ts';
import type { ThreadPosts } from './thread-posts.ts';

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
export async function postInlineResults(
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
