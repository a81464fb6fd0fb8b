import { sql } from 'kysely';
import { isHeldForBackfill } from '../jobs/backfill-hold.ts';
import { CHANNEL_LEVEL, JOB_KIND, Jobs } from '../jobs/jobs.ts';
import { countChanges, fromNow, inThread, isWaiting, millis, Queries } from '../queries.ts';
import type { SlackTs, ThreadKey } from '../schema.ts';
import { waitsForPerson } from '../threads/person-waits.ts';

/** A channel with more used threads than this is read in their place: it shows which of them were spoken in. */
const MANY_THREADS = 3;
/** A thread that was spoken in is read before what the gap left to read by then (ms). */
const SPOKEN_IN_AHEAD_MS = 60 * 60_000;

/** The longest that waiting messages are held until they are looked for in Slack after a gap (ms). */
const FIRST_LOOK_MS = 60_000;
/** The same, until replies that overtook their mention are read: that may wait for its permit for 75 s. */
const ORPHANS_LOOK_MS = 80_000;

/** Whether a message stands in Slack under its ts: that of a button does not. For the table of messages. */
const isInSlack = sql<boolean>`messages.said_ts = messages.ts`;

/** What is read of a thread after a gap. */
const gapColumns = sql`workspace, channel, thread_ts, adopted_ts, last_used_at, is_dormant`;

/** A gap in receiving, and what is read back after it. Times in ms. */
export interface Gap {
  since: Date;
  /** Threads that were used so long before the gap are read, and those whose run lasts or whose plan waits; of a channel with many that began then, those that were spoken in. */
  threadsUsedMs: number;
  /** The top level of channels that were used so long before it is read. */
  channelsUsedMs: number;
  /** That of so many channels is read also where they were used only so long before it, the last used ones. */
  quietChannels: { usedMs: number; most: number };
  /** Messages from so long before it may be missing, too: Slack may have retried a delivery from then during the gap. */
  marginMs: number;
  /** Messages that wait are looked for first, and held meanwhile, in whatever thread: they may have been edited or deleted. */
  looksForWaiting: boolean;
}

/** What to read back after gaps in receiving. */
export class Backfills extends Queries {
  /** Asks for the threads and channels of a gap, the newest first. Returns how many. */
  async addGap(workspace: string, gap: Gap): Promise<number> {
    const { since, threadsUsedMs, channelsUsedMs, quietChannels: quiet, marginMs, looksForWaiting } = gap;
    const from = sql`${(since.getTime() - marginMs) / 1_000}::numeric(16,6)`;
    const isUsed = (ms: number) => sql`last_used_at > ${since}::timestamptz - ${millis(ms)}`;
    const wereUsed = (ms: number) => sql`workspace = ${workspace} and ${isUsed(ms)}`;
    const heldUntil = sql`extract(epoch from ${fromNow(FIRST_LOOK_MS)})`;
    const queued = sql`
      with waiting as (
        select channel, thread_ts, jsonb_build_object('oldest_ts', min(ts)::text, 'unseen', jsonb_agg(ts::text order by ts),
          'held_until', ${heldUntil}) as waiting
        from messages where ${looksForWaiting} and workspace = ${workspace} and ${isWaiting} and ${isInSlack} group by channel, thread_ts),
      -- Each by its own index, and once: a workspace may have very many threads.
      used as (
        select ${gapColumns} from threads where ${wereUsed(threadsUsedMs)}
        union
        select ${gapColumns} from waiting join threads using (channel, thread_ts) where workspace = ${workspace}
        union
        select ${gapColumns} from turns join threads using (workspace, channel, thread_ts)
        where workspace = ${workspace} and (finished_at is null or ${waitsForPerson})),
      known as (
        select *, is_recent and count(*) filter (where is_recent) over (partition by channel) > ${MANY_THREADS} as is_covered
        from (
          select workspace, channel, thread_ts, adopted_ts, last_used_at, waiting,
            waiting is null and to_timestamp(thread_ts::float8) > ${since}::timestamptz - ${millis(threadsUsedMs)} as is_recent
          from used left join waiting using (channel, thread_ts)
          where not is_dormant) as ours),
      covered as (select channel, jsonb_agg(thread_ts::text) as roots from known where is_covered group by channel)
      insert into jobs (workspace, kind, channel, thread_ts, key, person, payload, due_at)
      select workspace, ${JOB_KIND.backfill}, channel, thread_ts, '', '',
        jsonb_strip_nulls(jsonb_build_object('since_ts', since_ts::text, 'waiting', waiting, 'roots', roots)),
        -- They are due in this order.
        now() + row_number() over (order by waiting is null, last_used_at desc, thread_ts desc) * interval '1 microsecond'
      from (
        select workspace, channel, thread_ts, greatest(adopted_ts, ${from}) as since_ts, last_used_at, waiting, null as roots, 0 as place
        from known where not is_covered
        union all
        select workspace, channel, ${CHANNEL_LEVEL}::numeric, ${from}, max(last_used_at), null, roots,
          row_number() over (order by max(last_used_at) desc)
        from threads left join covered using (channel)
        where ${wereUsed(Math.max(channelsUsedMs, quiet.usedMs))} group by workspace, channel, roots
      ) as places
      where place <= ${quiet.most} or ${isUsed(channelsUsedMs)}
      on conflict (workspace, kind, channel, thread_ts, key) do update
        set version = jobs.version + 1, due_at = least(jobs.due_at, excluded.due_at), tried_since = null,
          payload = jsonb_strip_nulls(jsonb_build_object('waiting', jobs.payload -> 'waiting')) || excluded.payload
            || jsonb_build_object(
              'roots', coalesce(jobs.payload -> 'roots', '[]') || coalesce(excluded.payload -> 'roots', '[]'),
              'since_ts', least((jobs.payload ->> 'since_ts')::numeric, (excluded.payload ->> 'since_ts')::numeric)::text)`;
    return countChanges(this.db, queued);
  }

  /** Whether a thread's waiting messages are held until they are looked for in Slack. */
  async holds(thread: ThreadKey): Promise<boolean> {
    return this.exists(sql`select where ${isHeldForBackfill(thread)}`);
  }

  /** Asks for a channel's mentions of the bot. */
  async addMentions(at: Pick<ThreadKey, 'workspace' | 'channel'>, since_ts: SlackTs): Promise<void> {
    await this.#addPlace({ ...at, thread_ts: CHANNEL_LEVEL }, { since_ts, mentions_only: true });
  }

  /** Asks for one thread, unless it is to be read already. */
  async addThread(thread: ThreadKey, since_ts: SlackTs): Promise<void> {
    await this.#addPlace(thread, { since_ts }, '', -SPOKEN_IN_AHEAD_MS);
  }

  /** Asks for a thread's replies that came before the mention which made it ours. What waits there is held meanwhile. */
  async addOrphanReplies(thread: ThreadKey, since_ts: SlackTs): Promise<void> {
    const { workspace, channel, thread_ts } = thread;
    const heldUntil = sql`extract(epoch from ${fromNow(ORPHANS_LOOK_MS)})`;
    const waiting = sql`jsonb_build_object('oldest_ts', ${since_ts}::text, 'unseen', '[]'::jsonb, 'held_until', ${heldUntil})`;
    // A read that is under way may have passed them: then the next turn of the thread asks again.
    await this.changes(sql`
      with asked as (
        insert into jobs (workspace, kind, channel, thread_ts, key, person, payload, due_at)
        select ${workspace}, ${JOB_KIND.backfill}, ${channel}, ${thread_ts}::numeric, '', '',
          jsonb_build_object('since_ts', ${since_ts}::text, 'has_orphans', true, 'waiting', ${waiting}), ${fromNow(-SPOKEN_IN_AHEAD_MS)}
        on conflict do nothing returning 1)
      delete from orphan_replies where ${inThread(thread)} and exists (select from asked)`);
  }

  /** Asks for one message by itself; false if that was asked for before. */
  async addMessage(thread: ThreadKey, ts: SlackTs): Promise<boolean> {
    return await this.#addPlace(thread, { since_ts: ts, is_single: true }, ts);
  }

  async #addPlace(
    { workspace, channel, thread_ts }: ThreadKey,
    payload: { since_ts: SlackTs; mentions_only?: true; is_single?: true },
    key = '',
    inMs = 0,
  ): Promise<boolean> {
    const job = { workspace, kind: JOB_KIND.backfill, channel, thread_ts, key, payload };
    return new Jobs(this.db).add(job, inMs);
  }
}
