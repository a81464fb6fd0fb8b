import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { InstallURLOptions, StateStore } from '@slack/bolt';
import { z } from 'zod';

/** How long somebody may take to install the app (ms). */
const lifeMs = 10 * 60_000;

const claims = z.tuple([z.string(), z.number()]);

/** What the states of installations need. */
export interface InstallStatesParts {
  /** New states are signed by the first. */
  secretKeys: readonly string[];
  /** What every installation asks for. */
  options: InstallURLOptions;
  /** Uses a state up; false where it was used before. */
  spend: (state: string) => Promise<boolean>;
  now?: () => number;
}

/**
 * The state that goes along with an installation and comes back: signed, good for ten minutes and for once. Bolt also
 * compares it with the browser's cookie.
 */
export class InstallStates implements StateStore {
  readonly #keys: readonly Buffer[];
  readonly #options: InstallURLOptions;
  readonly #spend: InstallStatesParts['spend'];
  readonly #now: () => number;

  constructor({ secretKeys, options, spend, now = Date.now }: InstallStatesParts) {
    this.#keys = secretKeys.map((secret) =>
      Buffer.from(hkdfSync('sha256', secret, '', 'taskthread install states', 32)),
    );
    this.#options = options;
    this.#spend = spend;
    this.#now = now;
  }

  generateStateParam: StateStore['generateStateParam'] = async () => {
    const [key] = this.#keys;
    if (key === undefined) throw new TypeError('States need a key.');
    const claimed = [randomBytes(16).toString('base64url'), this.#now() + lifeMs];
    const text = Buffer.from(JSON.stringify(claimed)).toString('base64url');
    return `${text}.${signed(text, key)}`;
  };

  /** Throws where the state is not ours, too old, or used. What is installed follows from our settings alone. */
  verifyStateParam: StateStore['verifyStateParam'] = async (_now, state) => {
    const [text = '', signature = '', ...more] = state.split('.');
    if (more.length > 0 || !this.#keys.some((key) => isSame(signature, signed(text, key))))
      throw new StateRefused('forged');
    const [, until] = claims.parse(JSON.parse(Buffer.from(text, 'base64url').toString()));
    if (this.#now() >= until) throw new StateRefused('old');
    const spent = createHash('sha256').update(state).digest('base64url');
    if (!(await this.#spend(spent))) throw new StateRefused('used');
    return this.#options;
  };
}

/** An installation came back with a state that is not good. */
export class StateRefused extends Error {
  readonly code = 'state_refused';
  readonly why: 'forged' | 'old' | 'used';

  constructor(why: StateRefused['why']) {
    super(`The state of an installation is not good (${why}). Begin again at /slack/install.`);
    this.name = 'StateRefused';
    this.why = why;
  }
}

function signed(text: string, key: Buffer): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}

function isSame(one: string, other: string): boolean {
  const [given, wanted] = [Buffer.from(one), Buffer.from(other)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
