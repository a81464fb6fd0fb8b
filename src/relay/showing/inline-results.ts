import type { AgentClient } from '../../agent/client.ts';
import { AgentError } from '../../agent/errors.ts';
import type { ResultFile } from '../../agent/schema.ts';
import { tableMessage } from '../../reply/table-preview.ts';
import type { Turn } from '../../store/tables.ts';
import type { RelayParts, Workspace } from '../context.ts';
import { exactly } from '../files/exact-bytes.ts';
import type { Lease } from '../lease.ts';
import { passing } from '../patience.ts';
import { digestOf } from './rendered.ts';
import { type FileToShare, ThreadFiles } from './thread-files.ts';
import type { ThreadPosts } from './thread-posts.ts';

/** Pictures of a turn that are put into its thread, and tables whose first rows are shown, at most. */
const mostPictures = 10;
const mostTables = 3;

const pictures: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};
const tables: Readonly<Record<string, string>> = { csv: 'text/csv', tsv: 'text/tab-separated-values' };

/** Shows results in the thread itself: pictures, and small tables as their first rows and the file. */
export async function showInline(
  parts: RelayParts,
  workspace: Workspace,
  agent: AgentClient,
  posts: ThreadPosts,
  turn: Turn,
  results: readonly ResultFile[],
  lease: Lease,
): Promise<void> {
  const { inlineBytes, tableBytes } = parts.settings.results;
  const files = new ThreadFiles(parts, workspace, turn, lease);
  const left = async (prefix: string, most: number, found: readonly ResultFile[]) => {
    const known = await parts.store.slackFiles.of(turn);
    const others = [...known.keys()].filter(
      (part) => part.startsWith(prefix) && !found.some(({ id }) => part === `${prefix}${id}`),
    );
    return found.slice(0, Math.max(0, most - others.length));
  };
  const wanted = (most: number, kinds: Readonly<Record<string, string>>) =>
    results.filter(
      (result) =>
        isOf(result, kinds) &&
        result.downloadUrl &&
        result.sizeBytes > 0 &&
        result.sizeBytes <= Math.min(most, inlineBytes),
    );
  const shownPictures = await left('picture:', mostPictures, wanted(inlineBytes, pictures));
  const shownTables = await left('table:', mostTables, wanted(tableBytes, tables));
  for (const result of shownTables) await postRows(parts, agent, posts, turn, result, lease);
  const share = (prefix: string) => (result: ResultFile) =>
    toShare(agent, `${prefix}${result.id}`, result, lease);
  await files.share([...shownPictures.map(share('picture:')), ...shownTables.map(share('table:'))]);
}

function isOf({ name, mimeType }: ResultFile, kinds: Readonly<Record<string, string>>): boolean {
  const ending = /\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(kinds, ending) || Object.values(kinds).includes(mimeType.split(';')[0] ?? '');
}

function toShare(agent: AgentClient, part: string, result: ResultFile, lease: Lease): FileToShare {
  const { name, sizeBytes } = result;
  return { part, name, altText: name.slice(0, 1_000), sizeBytes, bytes: () => bytesOf(agent, result, lease) };
}

/** The result's bytes, asked for only when somebody takes them. */
async function* bytesOf(
  agent: AgentClient,
  { id, name, sizeBytes, downloadUrl }: ResultFile,
  lease: Lease,
): AsyncGenerator<Uint8Array> {
  if (!downloadUrl) throw new Error(`The result ${id} has no link.`);
  const { body } = await agent.download(downloadUrl, { signal: lease.signal });
  yield* exactly(body, sizeBytes, name);
}

/** Posts a table's first rows; one that is no table, or that cannot be read now, is left to its link. */
async function postRows(
  parts: RelayParts,
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
    for await (const chunk of bytesOf(agent, result, lease)) chunks.push(chunk);
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
    const message = tableMessage({ name: result.name, text });
    if (message !== undefined) await posts.post(part, message, digestOf(message), 'result');
  } catch (error) {
    if (lease.signal.aborted || (passing(error) !== undefined && !(error instanceof AgentError))) throw error;
    parts.log.warn({ err: error, turn: turn.id }, 'the first rows of a table are left out');
  }
}
