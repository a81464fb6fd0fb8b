import type { Generated } from 'kysely';
import type { ThreadKey } from '../keys.ts';
import type { SlackTs, TimeColumn } from './column-types.ts';

/** The rate limit of one kind of call in one workspace, shared by all processes. */
interface SharedRateLimitTable {
  workspace: string;
  /** A Slack method, or a method and a channel. */
  limit_key: string;
  /** GCRA's theoretical arrival time: when all permits granted so far are used up. */
  theoretical_arrival_at: Generated<Date>;
  /** No permit is granted before this time, because Slack answered 429. */
  blocked_until: Generated<Date>;
  /** The share of the full rate after the last 429; it recovers with time. */
  rate_factor: Generated<number>;
  /** When that 429 was. */
  rate_reduced_at: Generated<Date>;
}

/** A process that may hold Socket Mode connections of a Slack app; it is dead after `expires_at`. */
interface SocketLeaseTable {
  workspace: string;
  app_id: string;
  process_id: string;
  /** How many connections it may open, or still has. */
  sockets: number;
  expires_at: TimeColumn;
}

/** A thread, or (with the thread_ts 0) a channel, to read back after a gap in receiving. */
export interface BackfillTable extends ThreadKey {
  /** Nothing before this is missing. */
  since_ts: SlackTs;
  last_used_at: Date;
  /** How many gaps it was queued for: one that comes while it is read must not be lost. */
  gap_count: Generated<number>;
  claimed_by: string | null;
  claimed_until: Generated<Date>;
  queued_at: Generated<Date>;
}

/** What all processes share about Slack. */
export interface SlackTables {
  rate_limits: SharedRateLimitTable;
  socket_leases: SocketLeaseTable;
  backfills: BackfillTable;
}
