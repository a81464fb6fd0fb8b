import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { ResultLinkTarget } from '../runtime/deps.ts';

/** How long a link works, in ms. */
export const LINK_LIFETIME_MS = 7 * 24 * 60 * 60_000;

/** The path of our links below the public address. */
export const RESULTS_PATH = '/results/';

const linkClaims = z.tuple([z.string(), z.string(), z.string(), z.number()]);

/** Makes and verifies our links to results: signed with the first key, for seven days. Anyone with a link can read the file. */
export class ResultLinks {
  readonly #keys: readonly Buffer[];
  readonly #base: string;
  readonly #now: () => number;

  constructor(options: { secretKeys: readonly string[]; publicUrl: string; now?: () => number }) {
    this.#keys = options.secretKeys.map((secret) =>
      Buffer.from(hkdfSync('sha256', secret, '', 'taskthread result links', 32)),
    );
    this.#base = options.publicUrl.replace(/\/+$/, '');
    this.#now = options.now ?? Date.now;
  }

  create({ workspace, turnId, resultId }: ResultLinkTarget): string {
    const payload = [workspace, turnId, resultId, Math.floor((this.#now() + LINK_LIFETIME_MS) / 1_000)];
    const text = Buffer.from(JSON.stringify(payload)).toString('base64url');
    const [current] = this.#keys;
    if (current === undefined) throw new TypeError('Links need a key.');
    return `${this.#base}${RESULTS_PATH}${text}.${signatureOf(text, current)}`;
  }

  /** The result that a link's token names; undefined if we did not make the link. */
  verify(token: string): ResultLinkTarget | 'expired' | undefined {
    const [text = '', signature = '', ...more] = token.split('.');
    if (more.length > 0 || !this.#keys.some((key) => isSameSignature(signature, signatureOf(text, key))))
      return undefined;
    const [workspace, turnId, resultId, expiresAt] = linkClaims.parse(
      JSON.parse(Buffer.from(text, 'base64url').toString()),
    );
    return this.#now() >= expiresAt * 1_000 ? 'expired' : { workspace, turnId, resultId };
  }
}

function signatureOf(text: string, key: Buffer): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}

function isSameSignature(one: string, other: string): boolean {
  const [given, wanted] = [Buffer.from(one), Buffer.from(other)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
