import type { ResultFile } from '../../agent/service-schema.ts';
import { anySignal } from '../../calls/retries-and-waits.ts';
import { withExactSize } from '../../slack/file-response.ts';
import type { TaskWork } from '../runtime/deps.ts';
import { freshLink } from './lasting-links.ts';

/** A result has no link, also if the service is asked for a new one. */
export class ResultWithoutLink extends Error {}

/**
 * The bytes of a result, `maxBytes` at most where they arrive compressed, within `timeoutMs`; the download starts with the
 * first chunk that is taken. Throws an AgentError, ResultWithoutLink, or an Error for another size than the listed one.
 */
export async function* resultBytes(
  { agent, taskId, lease }: Pick<TaskWork, 'agent' | 'taskId' | 'lease'>,
  { id, sizeBytes, downloadUrl }: ResultFile,
  { maxBytes, timeoutMs, signal: ends }: { maxBytes: number; timeoutMs: number; signal?: AbortSignal },
): AsyncGenerator<Uint8Array> {
  const signal = anySignal([lease.signal, ends, AbortSignal.timeout(timeoutMs)]);
  const { body, wasCompressed } = await agent.links.renewingOnce(async (isExpired) => {
    const link = isExpired ? await freshLink(agent, taskId, id, signal) : downloadUrl;
    if (!link) throw new ResultWithoutLink(`The result ${id} has no link.`);
    return await agent.links.get(link, signal);
  });
  if (!wasCompressed && sizeBytes !== null) return yield* withExactSize(body, sizeBytes);
  let left = maxBytes;
  for await (const chunk of body) {
    left -= chunk.length;
    if (left < 0) throw new Error(`The result ${id} is too large once it is decompressed.`);
    yield chunk;
  }
}
