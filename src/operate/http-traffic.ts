import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { z } from 'zod';

/** Where a request goes: Slack, the agent service, or the target of a link. */
export type TrafficPeer = 'slack' | 'service' | 'links';

const chunkSchema = z.object({
  request: z.object({ origin: z.union([z.string(), z.instanceof(URL)]).nullish() }),
  chunk: z.custom<string | Uint8Array>((value) => typeof value === 'string' || value instanceof Uint8Array),
});

/** Counts the bytes of all HTTP bodies, those of Node's own fetch too. Returns a function that stops counting. */
export function countHttpTraffic(
  origins: { slack: string; service: string | undefined },
  count: (peer: TrafficPeer, direction: 'up' | 'down', bytes: number) => void,
): () => void {
  const slack = new URL(origins.slack).origin;
  const service = origins.service && new URL(origins.service).origin;
  const onChunk = (direction: 'up' | 'down') => (message: unknown) => {
    const { data } = chunkSchema.safeParse(message);
    if (data === undefined) return;
    const origin = String(data.request.origin ?? '').replace(/\/$/, '');
    const peer =
      origin === slack || /^https:\/\/([\w-]+\.)*slack\.com$/.test(origin)
        ? 'slack'
        : origin === service
          ? 'service'
          : 'links';
    count(peer, direction, Buffer.byteLength(data.chunk));
  };
  const up = onChunk('up');
  const down = onChunk('down');
  subscribe('undici:request:bodyChunkSent', up);
  subscribe('undici:request:bodyChunkReceived', down);
  return () => {
    unsubscribe('undici:request:bodyChunkSent', up);
    unsubscribe('undici:request:bodyChunkReceived', down);
  };
}
