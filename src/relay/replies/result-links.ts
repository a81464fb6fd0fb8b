import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { AgentError, AgentNotFoundError } from '../../agent/errors.ts';
import { resultPages } from '../../render/messages/result-list.ts';
import { taskIdOf } from '../../store/threads/turns.ts';
import { permittedTurn } from '../access/control-permission.ts';
import type { ControlOutcome, ControlRequest } from '../runtime/control-types.ts';
import type { RelayDeps, ResultLinkTarget } from '../runtime/deps.ts';
import { sendEphemeral } from '../runtime/private-messages.ts';
import { toListedResult } from './result-posts.ts';

/** How long a link works, in ms. */
const LINK_LIFETIME_MS = 7 * 24 * 60 * 60_000;

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

  /** The result that a link's token names; undefined where we did not make the link. */
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

/** Shows the person who asks new links to a turn's results; only they see them. Throws a SlackError. */
export async function sendFreshLinks(deps: RelayDeps, request: ControlRequest): Promise<ControlOutcome> {
  const { workspace, person } = request;
  const { store } = deps;
  const turn = await permittedTurn(deps, request, 'fresh_links', true);
  if (typeof turn === 'string') return turn;
  const { id, channel, thread_ts } = turn;
  const thread = await store.threads.getOrThrow(turn);
  const taskId = taskIdOf(turn, thread);
  if (taskId === null) return 'unknown';
  const claimed = await store.results.ofThread(turn);
  try {
    const { results: all } = await deps.agent(thread.account_id).allResults(taskId);
    const results = all.filter((result) => claimed.get(result.id)?.turn_id === id);
    if (results.length === 0) return 'gone';
    for (const message of resultPages(results.map((result) => toListedResult(result))))
      await sendEphemeral(deps, { workspace, channel, person, threadTs: thread_ts }, message);
    return 'done';
  } catch (error) {
    if (error instanceof AgentNotFoundError) return 'gone';
    if (!(error instanceof AgentError)) throw error;
    deps.log.warn({ err: error, turn: id }, "could not read a turn's results for fresh links");
    return 'away';
  }
}
