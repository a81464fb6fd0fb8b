import type { LeaseGuard } from '../calls/retries-and-waits.ts';
import type { PermitRequest, Priority } from './permit-queue.ts';
import type { RateLimitedClient } from './rate-limits.ts';
import { anyResponseSchema } from './slack-client.ts';

/** The state of a reply that waits for an edit; read again for each permit. */
export interface EditState {
  /** The text is complete: goes first. */
  isFinal: boolean;
  /** Nothing of the answer is visible yet: goes second. */
  isBlank: boolean;
  /** When the oldest text that people cannot see yet arrived (as `Date.now()`). */
  unseenSinceMs: number;
}

export interface MessageRequest {
  channel: string;
  ts: string;
  guard?: LeaseGuard | undefined;
}

/** A change of a message that waits for its permit. */
export interface ShowRequest<Newest> extends MessageRequest, Pick<PermitRequest, 'permit'> {
  /** Called with the permit, so that the latest state is sent. Undefined: nothing to change; the permit is returned. */
  render: () => Newest | undefined | Promise<Newest | undefined>;
  state: () => EditState;
  /** Skipped without a permit within this time (ms), counted from the message's earliest next edit. */
  maxWaitMs?: number | undefined;
  /** Withdraws a waiting change, which then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** The wait for the permit of a change. */
export type ChangeWait = Omit<ShowRequest<unknown>, 'render'> & Pick<PermitRequest, 'notBefore'>;

/** `left_out`: no permit in time. */
export type ShowOutcome = 'shown' | 'unchanged' | 'left_out';

/** Final edits first, then replies that show nothing yet, then the oldest unseen text. */
export function editPriority(state: EditState): Priority {
  return { order: state.isFinal ? 0 : state.isBlank ? 1 : 2, since: state.unseenSinceMs };
}

export function permitRequestOf({ state, ...wait }: ChangeWait): PermitRequest {
  const { guard, signal, maxWaitMs, permit, notBefore } = wait;
  return { guard, signal, maxWaitMs, permit, notBefore, priority: () => editPriority(state()) };
}

/**
 * Changes a message when the rate limit allows it, to the state at that time. `onSent` is called after Slack's response;
 * `onShown` with the age of the oldest text that the change made visible (ms). Throws a SlackError.
 */
export async function showNewest(
  client: RateLimitedClient,
  method: 'chat.update' | 'chat.appendStream',
  request: ShowRequest<Readonly<Record<string, unknown>>> & {
    notBefore?: PermitRequest['notBefore'];
    onSent?: () => void;
    onShown: ((unseenMs: number) => void) | undefined;
  },
): Promise<ShowOutcome> {
  const { channel, ts, guard, state, onSent, onShown } = request;
  const outcome = await client.rateLimiter.run(method, permitRequestOf(request), async (permit) => {
    const { unseenSinceMs } = state();
    let newest: Readonly<Record<string, unknown>> | undefined;
    try {
      newest = await request.render();
    } finally {
      if (newest === undefined) permit.release();
    }
    if (newest === undefined) return 'unchanged';
    const options = { schema: anyResponseSchema, guard };
    await client.slackClient.call(method, { channel, ts, ...newest }, options).finally(onSent);
    onShown?.(Date.now() - unseenSinceMs);
    return 'shown';
  });
  return outcome ?? 'left_out';
}

/** "Only call the chat.update method once every 3 seconds": https://docs.slack.dev/ai/developing-agents/ */
const LIVE_EDIT_INTERVAL_MS = 3_000;
const FINAL_EDIT_INTERVAL_MS = 1_000;

/** When each message was last posted or edited by this process. */
export class EditSpacing {
  readonly #pace: number;
  /** The newest last; older changes no longer delay an edit. A plain map, because each workspace has one. */
  readonly #lastChangeAt = new Map<string, number>();

  /** `pace`: how many times as fast as Slack's documents allow. */
  constructor(pace = 1) {
    this.#pace = pace;
  }

  /** Call after Slack's response. */
  recordChange(channel: string, ts: string): void {
    const now = performance.now();
    for (const [message, at] of this.#lastChangeAt) {
      if (now - at < LIVE_EDIT_INTERVAL_MS) break;
      this.#lastChangeAt.delete(message);
    }
    this.#lastChangeAt.delete(`${channel} ${ts}`);
    this.#lastChangeAt.set(`${channel} ${ts}`, now);
  }

  /** The earliest time of the message's next edit, as `performance.now()` (ms). */
  notBefore(channel: string, ts: string, isFinal: boolean): number {
    const last = this.#lastChangeAt.get(`${channel} ${ts}`);
    const intervalMs = isFinal ? FINAL_EDIT_INTERVAL_MS : LIVE_EDIT_INTERVAL_MS;
    return last === undefined ? 0 : last + intervalMs / this.#pace;
  }
}
