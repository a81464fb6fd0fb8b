import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { InstallURLOptions, StateStore } from '@slack/bolt';
import { z } from 'zod';

/** How long an installation may take (ms). */
const STATE_LIFETIME_MS = 10 * 60_000;

const claimsSchema = z.tuple([z.string(), z.number()]);

export interface OAuthStateStoreDeps {
  /** The first one signs; all verify. */
  secretKeys: readonly string[];
  /** The scopes and redirect address of every installation. */
  options: InstallURLOptions;
  /** Marks a state as used; false if it was used before. */
  markUsed: (state: string) => Promise<boolean>;
  now?: () => number;
}

/** The `state` parameter of OAuth: signed, valid for ten minutes and once. Bolt also compares it with a cookie. */
export class OAuthStateStore implements StateStore {
  readonly #deps: OAuthStateStoreDeps;
  readonly #keys: readonly Buffer[];

  constructor(deps: OAuthStateStoreDeps) {
    this.#deps = deps;
    this.#keys = deps.secretKeys.map((secret) =>
      Buffer.from(hkdfSync('sha256', secret, '', 'taskthread install states', 32)),
    );
  }

  generateStateParam: StateStore['generateStateParam'] = async () => {
    const [key] = this.#keys;
    if (key === undefined) throw new TypeError('States need a key.');
    const claimed = [
      randomBytes(16).toString('base64url'),
      (this.#deps.now ?? Date.now)() + STATE_LIFETIME_MS,
    ];
    const text = Buffer.from(JSON.stringify(claimed)).toString('base64url');
    return `${text}.${sign(text, key)}`;
  };

  /** Throws OAuthStateRejected if the state is not ours, too old, or used. */
  verifyStateParam: StateStore['verifyStateParam'] = async (_now, state) => {
    const [text = '', signature = '', ...more] = state.split('.');
    if (more.length > 0 || !this.#keys.some((key) => isEqual(signature, sign(text, key))))
      throw new OAuthStateRejected('forged');
    const [, until] = claimsSchema.parse(JSON.parse(Buffer.from(text, 'base64url').toString()));
    if ((this.#deps.now ?? Date.now)() >= until) throw new OAuthStateRejected('old');
    const spent = createHash('sha256').update(state).digest('base64url');
    if (!(await this.#deps.markUsed(spent))) throw new OAuthStateRejected('used');
    return this.#deps.options;
  };
}

export class OAuthStateRejected extends Error {
  readonly code = 'state_refused';
  readonly reason: 'forged' | 'old' | 'used';

  constructor(reason: OAuthStateRejected['reason']) {
    super(`The state of the installation is invalid (${reason}). Start again at /slack/install.`);
    this.name = 'OAuthStateRejected';
    this.reason = reason;
  }
}

function sign(text: string, key: Buffer): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}

function isEqual(one: string, other: string): boolean {
  const [given, wanted] = [Buffer.from(one), Buffer.from(other)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
