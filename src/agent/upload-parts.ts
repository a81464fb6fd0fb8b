import { AgentRejectedError } from './errors.ts';
import { MEBIBYTE, type ServiceOptions } from './service-options.ts';

export interface PartPlan {
  /** Bytes of every part but the last. */
  readonly partBytes: number;
  readonly count: number;
}

/**
 * Splits a file into parts of the size that the service gave, or else of the configured size. Raises the size to S3's
 * limits: not too many parts, and only the last may be small. An empty file is one empty part. Throws
 * AgentRejectedError if a part would be larger than `maxBytes`.
 */
export function planParts(
  sizeBytes: number,
  givenBytes: number | null,
  serviceOptions: Pick<ServiceOptions, 'partBytes' | 'mostParts' | 'leastPartBytes'>,
  maxBytes = Number.POSITIVE_INFINITY,
): PartPlan {
  const minBytes = givenBytes ?? Math.max(serviceOptions.partBytes, serviceOptions.leastPartBytes);
  const partBytes = Math.max(minBytes, Math.ceil(sizeBytes / serviceOptions.mostParts));
  if (Math.min(partBytes, sizeBytes) > maxBytes) {
    const needed = `parts of ${Math.ceil(partBytes / MEBIBYTE)} MiB`;
    throw new AgentRejectedError({
      sentence: `The agent service needs ${needed}, but at most ${Math.floor(maxBytes / MEBIBYTE)} MiB fit in memory. Share a smaller file.`,
      outcome: 'not_sent',
      reason: `it needs ${needed}, which is too large`,
    });
  }
  return { partBytes, count: Math.max(1, Math.ceil(sizeBytes / partBytes)) };
}

/** Bytes of part `index` (from 0). */
export function partSize(plan: PartPlan, sizeBytes: number, index: number): number {
  return Math.max(0, Math.min(plan.partBytes, sizeBytes - index * plan.partBytes));
}

/** Throws AgentRejectedError unless the size is a whole number of bytes. */
export function assertUploadableSize(sizeBytes: number): void {
  if (Number.isSafeInteger(sizeBytes) && sizeBytes >= 0) return;
  throw new AgentRejectedError({
    sentence: `A file of ${sizeBytes} bytes cannot be uploaded.`,
    outcome: 'not_sent',
    reason: '',
  });
}
