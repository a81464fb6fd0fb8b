import type { RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import { textDigest } from './message-digest.ts';

type TextRange = NonNullable<RenderedMessage['source']>;

/** Which range of the answer (characters) each message of a reply shows, as far as this process sent it. */
export class DisplayedText {
  readonly #ranges = new Map<string, { from: number; to: number; digest: string }>();

  /** A part was sent, rendered from this answer; without `source` it shows none of it. */
  record(part: string, source: TextRange | undefined, answer: string): void {
    const { from, to } = source ?? { from: 0, to: 0 };
    this.#ranges.set(part, { from, to, digest: textDigest(answer.slice(from, to)) });
  }

  forget(part: string): void {
    this.#ranges.delete(part);
  }

  /** Whether a part shows this range of the current answer. */
  covers(part: string, source: TextRange, answer: string): boolean {
    const end = this.displayedUpTo(part, source.from, answer);
    return typeof end === 'number' && end >= source.to;
  }

  /** Up to where a part that begins at `from` shows the current answer. */
  displayedUpTo(part: string, from: number, answer: string): number | 'changed' | 'unknown' {
    const shown = this.#ranges.get(part);
    if (shown === undefined) return 'unknown';
    if (shown.from !== from && shown.to > shown.from) return 'changed';
    return textDigest(answer.slice(shown.from, shown.to)) === shown.digest ? shown.to : 'changed';
  }
}
