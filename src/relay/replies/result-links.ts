import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { AgentError, AgentNotFoundError } from '../../agent/errors.ts';
import { taskIdOf } from '../../store/threads/turns.ts';
import type { RelayDeps, ResultLinkTarget } from '../runtime/deps.ts';

/** How long a link of ours leads anywhere, in ms. */
const LINK_LIFETIME_MS = 7 * 24 * 60 * 60_000;

/** Where our links are, below the public address. */
export const RESULTS_PATH = '/results/';

const linkClaims = z.tuple([z.string(), z.string(), z.string(), z.string(), z.number()]);

/** Where a link of ours leads now. */
export type ResultLinkDestination =
  | { kind: 'there'; url: string }
  /** Not a link of ours. */
  | { kind: 'unknown' }
  /** Its time is over, the task or the file is gone, or the app was uninstalled there. */
  | { kind: 'over' }
  /** The service cannot be asked just now. */
  | { kind: 'later' };

/** Makes and reads links of ours to results: signed by the first key, and dead after seven days. Who holds one can read the file. */
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

  create({ workspace, channel, root, resultId }: ResultLinkTarget): string {
    const payload = [
      workspace,
      channel,
      root,
      resultId,
      Math.floor((this.#now() + LINK_LIFETIME_MS) / 1_000),
    ];
    const text = Buffer.from(JSON.stringify(payload)).toString('base64url');
    const [current] = this.#keys;
    if (current === undefined) throw new TypeError('Links need a key.');
    return `${this.#base}${RESULTS_PATH}${text}.${signatureOf(text, current)}`;
  }

  /** What a link's last part names; `over` after its time, undefined where we did not make it. */
  verify(token: string): ResultLinkTarget | 'over' | undefined {
    const [text = '', signature = '', ...more] = token.split('.');
    if (more.length > 0 || !this.#keys.some((key) => isSameSignature(signature, signatureOf(text, key))))
      return undefined;
    const [workspace, channel, root, resultId, expiresAt] = linkClaims.parse(
      JSON.parse(Buffer.from(text, 'base64url').toString()),
    );
    return this.#now() >= expiresAt * 1_000 ? 'over' : { workspace, channel, root, resultId };
  }
}

function signatureOf(text: string, key: Buffer): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}

function isSameSignature(one: string, other: string): boolean {
  const [given, wanted] = [Buffer.from(one), Buffer.from(other)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** Finds where a link of ours leads: to a fresh link of the service, as long as the task is there. */
export async function resolveResultLink(
  deps: Pick<RelayDeps, 'store' | 'agent' | 'log' | 'workspace'>,
  links: ResultLinks,
  token: string,
): Promise<ResultLinkDestination> {
  const target = links.verify(token);
  if (target === undefined) return { kind: 'unknown' };
  if (target === 'over' || deps.workspace(target.workspace) === undefined) return { kind: 'over' };
  try {
    const thread = await deps.store.threads.get(target);
    const posted = await deps.store.results.ofThread(target);
    const postedResult = posted.get(target.resultId);
    if (thread === undefined || postedResult === undefined) return { kind: 'over' };
    const turn = await deps.store.turns.get(target.workspace, postedResult.turn);
    const taskId = taskIdOf(turn, thread);
    if (taskId === null) return { kind: 'over' };
    const results = await deps.agent(thread.account).allResults(taskId, { reconcile: false });
    const url = results.find(({ id }) => id === target.resultId)?.downloadUrl ?? '';
    const isWeb = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
    return isWeb ? { kind: 'there', url: new URL(url).href } : { kind: 'over' };
  } catch (error) {
    if (error instanceof AgentNotFoundError) return { kind: 'over' };
    if (!(error instanceof AgentError)) throw error;
    deps.log.warn({ err: error }, 'a link to a result could not be followed');
    return { kind: 'later' };
  }
}
