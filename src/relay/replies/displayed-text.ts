import { createHash } from 'node:crypto';
import type { RenderedMessage } from '../../render/blocks/slack-blocks.ts';

type TextRange = NonNullable<RenderedMessage['source']>;

/** What of the answer each message of a reply shows, as this process sent it. Places are characters. */
export class DisplayedText {
  readonly #parts = new Map<string, { from: number; to: number; digest: string }>();

  /** A part was sent, made from this answer; without `source` it shows nothing of it. */
  record(part: string, source: TextRange | undefined, answer: string): void {
    const { from, to } = source ?? { from: 0, to: 0 };
    this.#parts.set(part, { from, to, digest: rangeDigest(answer, from, to) });
  }

  forget(part: string): void {
    this.#parts.delete(part);
  }

  /** Whether a part shows this stretch of the answer, as the answer is now. */
  covers(part: string, source: TextRange, answer: string): boolean {
    const end = this.displayedUpTo(part, source.from, answer);
    return typeof end === 'number' && end >= source.to;
  }

  /** Up to where a part that begins at `from` shows the answer as it is now. */
  displayedUpTo(part: string, from: number, answer: string): number | 'changed' | 'unknown' {
    const shown = this.#parts.get(part);
    if (shown === undefined) return 'unknown';
    if (shown.from !== from && shown.to > shown.from) return 'changed';
    return rangeDigest(answer, shown.from, shown.to) === shown.digest ? shown.to : 'changed';
  }
}

function rangeDigest(answer: string, from: number, to: number): string {
  return createHash('sha256').update(answer.slice(from, to)).digest('base64');
}
