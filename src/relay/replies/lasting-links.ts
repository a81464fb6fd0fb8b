import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { AgentClient } from '../../agent/agent-client.ts';
import { AgentError, AgentNotFoundError } from '../../agent/errors.ts';
import { ttlCache } from '../../calls/shared-calls.ts';
import { taskIdOf } from '../../store/threads/turns.ts';
import { SETTINGS_ACCOUNT } from '../../store/workspaces/accounts.ts';
import type { RelayDeps, ResultLinkTarget } from '../runtime/deps.ts';

/** How long a link works, in ms. */
export const LINK_LIFETIME_MS = 7 * 24 * 60 * 60_000;

export const RESULTS_PATH = '/results/';

const linkClaims = z.tuple([z.string(), z.string(), z.string(), z.number()]);

/** Makes and verifies our links to results: signed with the first key, for seven days. Anyone may use one. */
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

  /** Makes a link to a result, which works for seven days. */
  create({ workspace, turnId, resultId }: ResultLinkTarget): string {
    const claims = [workspace, turnId, resultId, Math.floor((this.#now() + LINK_LIFETIME_MS) / 1_000)];
    const encoded = Buffer.from(JSON.stringify(claims)).toString('base64url');
    const [currentKey] = this.#keys;
    if (currentKey === undefined) throw new TypeError('Links need a key.');
    return `${this.#base}${RESULTS_PATH}${encoded}.${signatureOf(encoded, currentKey)}`;
  }

  /** The result that a link's token names, or `expired`; undefined if we did not make the link. */
  verify(token: string): ResultLinkTarget | 'expired' | undefined {
    const [encoded = '', signature = '', ...more] = token.split('.');
    if (more.length > 0 || !this.#keys.some((key) => isSameSignature(signature, signatureOf(encoded, key))))
      return undefined;
    const claims: unknown = JSON.parse(Buffer.from(encoded, 'base64url').toString());
    const [workspace, turnId, resultId, expiresAt] = linkClaims.parse(claims);
    return this.#now() >= expiresAt * 1_000 ? 'expired' : { workspace, turnId, resultId };
  }
}

function signatureOf(encoded: string, key: Buffer): string {
  return createHmac('sha256', key).update(encoded).digest('base64url');
}

function isSameSignature(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Where a link of ours leads now; `isOwnService` if a workspace's admin chose the service. */
export type ResultLinkDestination =
  | { kind: 'found'; url: string; isOwnService: boolean }
  /** Not a link of ours. */
  | { kind: 'unknown' }
  /** The link has expired, the task or the file is gone, or the app was uninstalled there. */
  | { kind: 'expired' }
  /** The service is unavailable, or there are too many requests. */
  | { kind: 'unavailable' };

/** The longest that a request waits for the service (ms). */
const TIMEOUT_MS = 10_000;
/** How long a destination is remembered (ms); the service's links last longer. */
const CACHE_MS = 3_000;
const CACHE_SIZE = 1_000;
/** Most lookups at once, and most requests that wait for them, of one workspace and of all. */
const MAX_WORKSPACE_LOOKUPS = 4;
const MAX_LOOKUPS = 32;
const MAX_WORKSPACE_REQUESTS = 100;
const MAX_REQUESTS = 200;

/** Makes the function that says where a link leads: one lookup for all who ask at once, and few at a time. */
export function linkFinder(
  links: Pick<ResultLinks, 'verify'>,
  resolve: (target: ResultLinkTarget, signal: AbortSignal) => Promise<ResultLinkDestination>,
  timeoutMs: number = TIMEOUT_MS,
) {
  const limitRequests = callLimiter(MAX_REQUESTS, MAX_WORKSPACE_REQUESTS);
  const limitLookups = callLimiter(MAX_LOOKUPS, MAX_WORKSPACE_LOOKUPS);
  const destinations = ttlCache(CACHE_SIZE, CACHE_MS, (_, target: ResultLinkTarget) =>
    limitLookups(target.workspace, () => resolve(target, AbortSignal.timeout(timeoutMs))),
  );
  return async (token: string): Promise<ResultLinkDestination> => {
    const target = links.verify(token);
    if (target === undefined) return { kind: 'unknown' };
    if (target === 'expired') return { kind: 'expired' };
    const find = () => destinations.fetch(token, { context: target });
    return (await limitRequests(target.workspace, find)) ?? { kind: 'unavailable' };
  };
}

/** Makes a function that runs a workspace's call, or returns undefined while too many run, in all or of the workspace. */
function callLimiter(maxCalls: number, maxWorkspaceCalls: number) {
  const running: string[] = []; // The workspace of each call.
  return async <T>(workspace: string, run: () => Promise<T>): Promise<T | undefined> => {
    const own = running.filter((other) => other === workspace);
    if (running.length >= maxCalls || own.length >= maxWorkspaceCalls) return undefined;
    running.push(workspace);
    return await run().finally(() => running.splice(running.indexOf(workspace), 1));
  };
}

/** Where a result is now: the service's fresh link, or why there is none. Throws a StoreError. */
export async function resolveResult(
  deps: Pick<RelayDeps, 'store' | 'agent' | 'log' | 'workspace'>,
  target: ResultLinkTarget,
  signal: AbortSignal,
): Promise<ResultLinkDestination> {
  if (deps.workspace(target.workspace) === undefined) return { kind: 'expired' };
  try {
    const turn = await deps.store.turns.get(target.workspace, target.turnId);
    const thread = turn && (await deps.store.threads.get(turn));
    const taskId = thread && taskIdOf(turn, thread);
    if (!taskId) return { kind: 'expired' };
    const url = await freshLink(deps.agent(thread.account_id), taskId, target.resultId, signal);
    if (!url) return { kind: 'expired' };
    return { kind: 'found', url: new URL(url).href, isOwnService: thread.account_id !== SETTINGS_ACCOUNT };
  } catch (error) {
    if (error instanceof AgentNotFoundError) return { kind: 'expired' };
    if (!(error instanceof AgentError)) throw error;
    deps.log.warn({ err: error }, 'could not resolve a link to a result');
    return { kind: 'unavailable' };
  }
}

/** The service's link to a result as of now; null if it gives none, undefined if the result is gone. */
export async function freshLink(
  agent: AgentClient,
  taskId: string,
  resultId: string,
  signal: AbortSignal,
): Promise<string | null | undefined> {
  // With `reconcile`, the service would first look for new results of the task.
  const { results } = await agent.allResults(taskId, { reconcile: false, signal });
  return results.find(({ id }) => id === resultId)?.downloadUrl;
}
