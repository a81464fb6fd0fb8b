import type { ResultFile } from '../../agent/service-schema.ts';
import { anySignal } from '../../calls/retries-and-waits.ts';
import { withExactSize } from '../../slack/file-response.ts';
import type { TaskWork } from '../runtime/deps.ts';
import { freshLink } from './lasting-links.ts';

/** The service lists no link to a result, or gives none when the listed one has expired. */
export class ResultWithoutLink extends Error {}

/**
 * The bytes of a result, downloaded within `timeoutMs` once the first chunk is taken. If they arrive
 * compressed, or no size is listed, there are at most `maxBytes`. Throws an AgentError, ResultWithoutLink, or
 * an Error for a web page or another size than the listed one.
 */
export async function* resultBytes(
  { agent, taskId, lease }: Pick<TaskWork, 'agent' | 'taskId' | 'lease'>,
  { id, name, mimeType, sizeBytes, downloadUrl }: ResultFile,
  { maxBytes, timeoutMs, signal: ends }: { maxBytes: number; timeoutMs: number; signal?: AbortSignal },
): AsyncGenerator<Uint8Array> {
  const signal = anySignal([lease.signal, ends, AbortSignal.timeout(timeoutMs)]);
  const response = await agent.links.renewingOnce(async (isExpired) => {
    const link = isExpired ? await freshLink(agent, taskId, id, signal) : downloadUrl;
    if (!link) throw new ResultWithoutLink(`The result ${id} has no link.`);
    return await agent.links.get(link, signal, undefined, { name, sizeBytes });
  });
  const { body, wasCompressed } = response;
  if (!wasCompressed && sizeBytes !== null) return yield* withExactSize(body, sizeBytes);
  // Without a size to compare, only the response's type tells a sign-in page from the file.
  const mayBePage = /(?:^[^.]*|\.x?html?)$/i.test(name) || isPage(mimeType);
  if (isPage(response.header('content-type')) && !mayBePage) {
    body.destroy();
    throw new Error(`A web page came in place of the result ${id}.`);
  }
  let left = maxBytes;
  for await (const chunk of body) {
    left -= chunk.length;
    if (left < 0) throw new Error(`The result ${id} is larger than ${maxBytes} bytes.`);
    yield chunk;
  }
}

function isPage(type = ''): boolean {
  return /^(?:text\/html|application\/xhtml)\b/i.test(type);
}
