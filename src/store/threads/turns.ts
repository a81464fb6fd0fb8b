import { type Kysely, type RawBuilder, sql } from 'kysely';
import { isHeldForBackfill } from '../jobs/backfill-hold.ts';
import { JOB_KIND, jobDeletion, jobWake, jobWanted, markWake } from '../jobs/jobs.ts';
import { inThread, isTurn, maySend, ofMessage, Queries, sentAs } from '../queries.ts';
import type {
  ButtonClaim,
  Message,
  MessageKey,
  SlackTs,
  Tables,
  Thread,
  ThreadKey,
  Turn,
  TurnId,
  TurnLocation,
  TurnOutcome,
} from '../schema.ts';
import { intendedPost, type PostOutcome, postInsert, postsUpdate, replyPart } from './posts.ts';
import { hasOtherWork, type TaskIntent, taskBinding, taskIntentUpdate, threadLock } from './threads.ts';
import { hasSent, isAtWork, isOpenTurn } from './turn-phase.ts';
import {
  endColumns,
  type FreezeOptions,
  followUpWanted,
  type LastStep,
  mayRecord,
  type OnStep,
  recordedSteps,
  sourceCheckWanted,
  stepColumns,
  type Together,
  type TurnUpdate,
  threadTaskId,
} from './turn-steps.ts';

/** A turn's location, without the rest of its row. */
export function turnLocationOf({ workspace, id, channel, thread_ts }: TurnLocation): TurnLocation {
  return { workspace, id, channel, thread_ts };
}

/** The message of a turn. */
export function messageKeyOf({ workspace, channel, message_ts }: Omit<Turn, 'prompt'>): MessageKey {
  return { workspace, channel, ts: message_ts };
}

/** The task of a turn: its own, because the thread may have another task since. */
export function taskIdOf(turn: Turn | undefined, thread: Thread | undefined): string | null {
  return turn?.task_id ?? thread?.task_id ?? null;
}

/** Turns: one message to the agent and its reply. */
export class Turns extends Queries {
  readonly #onStep: OnStep | undefined;

  constructor(db: Kysely<Tables>, onStep?: OnStep) {
    super(db);
    this.#onStep = onStep;
  }

  async get(workspace: string, id: string): Promise<Turn | undefined> {
    return this.first(sql<Turn>`select * from turns where ${isTurn({ workspace, id })}`);
  }

  /** The turn below whose reply a button made this turn's message; undefined for one that was written in Slack. */
  async madeBy(turn: Omit<Turn, 'prompt'>): Promise<Turn | undefined> {
    return this.first(sql<Turn>`
      select * from turns where ${inThread(turn)} and (${turn.message_ts} in (button_message_ts, sources_message_ts) or id = (
        select coalesce(resends_turn_id, revises_turn_id) from messages where ${ofMessage(messageKeyOf(turn))}))
      order by id limit 1`);
  }

  /** Whether a message of a thread from this ts on has a turn. */
  async hasTurnSince(thread: ThreadKey, ts: SlackTs): Promise<boolean> {
    return this.exists(sql`select from turns where ${inThread(thread)} and message_ts >= ${ts} limit 1`);
  }

  /** The thread's turn to work on: the running one, else the first that it passed on. */
  async open(thread: ThreadKey): Promise<Turn | undefined> {
    return this.#unfinished(thread, sql`true`);
  }

  /** The turn at work in a thread that has not settled: the running one, else the first that it passed on. */
  async running(thread: ThreadKey): Promise<Turn | undefined> {
    return this.#unfinished(thread, isAtWork);
  }

  /** The turn at work in a direct channel, in any thread, that has not settled: the one that started last. */
  async latestRunning(workspace: string, channel: string): Promise<Turn | undefined> {
    return this.first(sql<Turn>`
      select * from turns
      where workspace = ${workspace} and channel = ${channel} and ${isAtWork}
      order by id desc limit 1`);
  }

  /** The turn whose message this one began to pass on and has not sent. */
  async unfinishedPassedOn(turn: TurnLocation): Promise<Turn | undefined> {
    return this.first(sql<Turn>`
      select * from turns where ${inThread(turn)} and passed_on_by_turn_id = ${turn.id} and ${isOpenTurn}
        and not ${hasSent}`);
  }

  /** Deletes a turn whose message was not sent. */
  async delete(turn: TurnId): Promise<void> {
    await this.db.deleteFrom('turns').where(isTurn(turn)).execute();
  }

  /** The turn of a person's message, or the one that it goes with, if it has started. */
  async ofMessage(key: MessageKey): Promise<Turn | undefined> {
    const { workspace, channel, ts } = key;
    return this.first(sql<Turn>`
      select * from turns where workspace = ${workspace} and channel = ${channel} and message_ts = coalesce(
        (select sent_with_ts from messages where ${ofMessage(key)}), ${ts})`);
  }

  /**
   * Starts the turn of a waiting message, and records that its first reply is about to be posted. `passedOnBy`
   * is the running turn that sends it, which has a reply. Whoever waits for a message needs no reminder any more, and the message
   * no mark that it waits.
   */
  async begin(id: string, message: Message, passedOnBy: string | null = null): Promise<Turn> {
    const post = intendedPost({ ...message, id }, replyPart(0));
    const intended = passedOnBy === null ? sql`intended as (${postInsert(post)}), ` : sql``;
    return this.#one(sql`
      with ${intended}woken as (${jobWake(message, [JOB_KIND.reminder])}), unmarked as (${markWake(message)}),
        begun as (${turnInsert(id, message, passedOnBy)} returning *) select * from begun`);
  }

  /**
   * Starts the turn of a waiting message, or returns the turn that another process starts at the same time. Its job runs
   * again: a run that is looking for the message now does not find it any more, and must not end the job.
   */
  async beginOnce(id: string, message: Message): Promise<Turn | undefined> {
    const { workspace, channel, thread_ts } = message;
    const begun = sql`${turnInsert(id, message, null)} on conflict do nothing`;
    const job = jobWanted({ workspace, kind: JOB_KIND.turn, channel, thread_ts, key: '' }, 0);
    await this.changes(sql`with unmarked as (${markWake(message)}), wanted as (${job}) ${begun}`);
    return this.open(message);
  }

  /** Reassigns a turn to an earlier message of its thread; undefined if it has a frozen message, or was stopped. */
  async reassign(turn: TurnId, message: Message): Promise<Turn | undefined> {
    const reassigned = sql`
      update turns set message_ts = ${message.ts}, attached_file_ids = null, file_notes = null,
        asked_by = (select user_id from messages where ${ofMessage(message)})
      where ${isTurn(turn)} and phase in ('opening', 'preparing') and stop_requested_at is null returning *`;
    return this.first(sql<Turn>`
      with unmarked as (${markWake(message)}), reassigned as (${reassigned}), released as (
        update turns set files_sent_with_turn_id = null
        where ${inThread(message)} and files_sent_with_turn_id = ${turn.id} and message_ts > ${message.ts}
          and exists (select from reassigned))
      select * from reassigned`);
  }

  /** Records a step, which resets the count of attempts, and what the turn's posts show. */
  async record(
    turn: TurnLocation,
    values: TurnUpdate,
    { posts = [], taskIntent }: { posts?: readonly PostOutcome[]; taskIntent?: TaskIntent | undefined } = {},
  ): Promise<Turn> {
    const task = taskIntent && sql`, intended as (${taskIntentUpdate(turn, taskIntent)})`;
    return this.#mustRecord(turn, values, sql`shown as (${postsUpdate(turn, posts)})${task ?? sql``}`);
  }

  /** Records that the frozen message is about to be sent; undefined if the turn was stopped, or its content erased. */
  async intendToSend(turn: TurnLocation, values: TurnUpdate): Promise<Turn | undefined> {
    const only = sql<boolean>`phase in ('frozen', 'sending') and stop_requested_at is null and prompt is not null`;
    return this.#recordStep(turn, { ...values, send_intended_at: new Date() }, { only });
  }

  /** Records that the message is at the service. */
  async recordSent(turn: Turn, values: TurnUpdate): Promise<Turn> {
    const sent = sql`sent as (update messages set state = 'sent' where ${sentAs(messageKeyOf(turn))})`;
    return this.#mustRecord(turn, values, sent);
  }

  /**
   * Freezes a turn's message, and those that go with it, with their content, and records their writer: later edits and
   * deletions come too late. Undefined where the turn was stopped, a message is held or has changed since it was read, who set
   * the instructions that it quotes was forgotten meanwhile, or another one than `earlierTs` waits before one of them, unless
   * it is urgent.
   */
  async freeze(
    turn: Turn,
    message: Message,
    content: TurnUpdate,
    { earlierTs, startedTaskId = null, title, others = [], writer = message.user_id }: FreezeOptions = {},
  ): Promise<Turn | undefined> {
    const { instructions_set_by: signer = null } = content;
    const all = [message, ...others];
    const waits = sql`messages where ${inThread(turn)} and state = 'waiting' and ${maySend}`;
    // A stop locks the turn's row, too, an edit the message's, and erasing a person that of the settings.
    const steps = sql`
      signed as (
        select from settings
        where (workspace, channel) = (${turn.workspace}, ${turn.channel}) and instructions ->> 'set_by' = ${signer}
        for share),
      locked as (
        select id from turns
        where ${isTurn(turn)} and message_ts = ${turn.message_ts} and phase in ('opening', 'preparing') and stop_requested_at is null
          and (${signer}::text is null or exists (select from signed))
        for update),
      unchanged as (
        select ts from messages
        where exists (select from locked) and ${inThread(turn)} and state = 'waiting' and (ts, version) in (
          select * from unnest(${all.map(({ ts }) => ts)}::numeric[], ${all.map(({ version }) => version)}::int[]))
        for update),
      frozen as (
        update messages set state = 'sending', sent_with_ts = nullif(${message.ts}::numeric, ts)
        where ${inThread(turn)} and ts in (select ts from unchanged) and (select count(*) from unchanged) = ${all.length}
          and not ${isHeldForBackfill(turn)} and (${message.is_urgent} or (
            ${earlierTs ?? null}::numeric is not distinct from (select min(ts) from ${waits} and ts < ${message.ts})
            and not exists (select from ${waits} and not is_urgent and ts > ${message.ts} and ts < ${all.at(-1)?.ts ?? null}
              and ts not in (select ts from unchanged))))
        returning ts),
      unmarked as (${markWake(
        message,
        others.map(({ ts }) => ts),
      )} and exists (select from frozen)),
      joined as (
        update threads set last_used_at = now(), ${startedTaskId === null ? sql`` : sql`${taskBinding(startedTaskId)}, `}
          task_title = coalesce(${title ?? null}::text, task_title),
          participant_ids = case
            when ${writer === ''} or ${writer} = any(participant_ids) then participant_ids
            else participant_ids || ${writer}::text end
        where ${inThread(turn)} and exists (select from frozen))`;
    const only = sql`exists (select from frozen)`;
    return this.#recordStep(turn, content, { also: [steps], only, startedTaskId });
  }

  async #mustRecord(turn: TurnLocation, values: TurnUpdate, also: RawBuilder<unknown>): Promise<Turn> {
    const recorded = await this.#recordStep(turn, values, { also: [also] });
    if (recorded === undefined) throw new Error('The turn is gone, or further than this step.');
    return recorded;
  }

  /** Records a step together with other changes; undefined if the turn does not meet `only`. */
  async #recordStep(turn: TurnLocation, values: TurnUpdate, together: Together): Promise<Turn | undefined> {
    const { also = [], only = sql`true`, end, startedTaskId = null, job } = together;
    const change = this.#update(turn)
      .set({ ...stepColumns(values), ...(end === undefined ? { attempts: 0 } : endColumns(end)) })
      .where(sql<boolean>`${only} and ${mayRecord(values)}`)
      .returningAll()
      .returning(threadTaskId);
    const hasEnded = sql`exists (select from changed) and not ${hasOtherWork(turn)}`;
    const done = job ? jobDeletion(job, hasEnded) : sql`select where false`;
    const { rows } = await sql<Turn & { task: string | null; isJobDone: boolean }>`
      with ${sql.join([...also, sql`changed as (${change})`, sql`done as (${done})`])}
      select *, exists (select from done) as "isJobDone" from changed`.execute(this.db);
    if (rows[0] === undefined) return undefined;
    const { task, isJobDone, ...recorded } = rows[0];
    if (isJobDone) together.onJobDone?.();
    const steps = end === undefined ? recordedSteps(values) : [...recordedSteps(values), 'finished' as const];
    for (const step of steps) this.#onStep?.(recorded, step, task ?? startedTaskId);
    return recorded;
  }

  /** Counts a takeover without progress; returns the updated turn. */
  async countAttempt(turn: TurnId): Promise<Turn> {
    return this.#one(sql`
      update turns set attempts = attempts + 1, takeovers = takeovers + 1,
        attempts_since = case when attempts = 0 then clock_timestamp() else attempts_since end
      where ${isTurn(turn)} returning *`);
  }

  /** Resets the count of attempts: the turn was worked on for long enough. */
  async resetAttempts(turn: TurnId): Promise<void> {
    await this.#update(turn).set({ attempts: 0 }).execute();
  }

  /** Finishes a turn that meets `only`; its first outcome stays. `last` is what was not recorded before. */
  async finish(
    turn: TurnLocation,
    outcome: TurnOutcome,
    { values = {}, posts = [], firstCheckMs, checksSources, ...run }: LastStep = {},
    { also: before = [], only = sql`true` }: Pick<Together, 'also' | 'only'> = {},
  ): Promise<boolean> {
    const also = [
      ...before,
      sql`shown as (${postsUpdate(turn, posts)})`,
      sql`woken as (${jobWake(turn, [JOB_KIND.workflowStep, JOB_KIND.reminder])})`,
      ...(firstCheckMs === undefined ? [] : [sql`followed as (${followUpWanted(turn, firstCheckMs)})`]),
      ...(checksSources === true ? [sql`checked as (${sourceCheckWanted(turn)})`] : []),
    ];
    const end = values.outcome ?? outcome;
    const together = { ...run, also, end, only: sql`${isOpenTurn} and ${only}` };
    return (await this.#recordStep(turn, values, together)) !== undefined;
  }

  /** Finishes a turn under the thread's lock, unless it has paused its thread: false. */
  async finishUnlessPausing(turn: Turn, outcome: TurnOutcome, last: LastStep): Promise<boolean> {
    // It began before it had the lock: only rows that it locks are as they are now. Erasing a person takes them in this order.
    const also = [
      sql`locked as materialized (${threadLock(turn)})`,
      sql`own as materialized (select id from turns where ${isTurn(turn)} and exists (select from locked) for update)`,
      sql`place as materialized (
        select paused_by_turn_id from threads where ${inThread(turn)} and exists (select from own) for share)`,
    ];
    const only = sql`not exists (select from place where paused_by_turn_id = ${turn.id})`;
    return this.finish(turn, outcome, last, { also, only });
  }

  /** Claims a turn's button for the message `ts`, which it makes; false if it was claimed before, for another than `known`. */
  async claimButton(turn: TurnId, claim: ButtonClaim, ts: SlackTs, known?: SlackTs | null): Promise<boolean> {
    return this.changes(sql`
      update turns set ${sql.ref(claim)} = ${ts}
      where ${isTurn(turn)} and ${sql.ref(claim)} is not distinct from ${known ?? null}::numeric`);
  }

  /** The message that a button made is not sent: the button may be pressed again. */
  async releaseButton(message: ThreadKey & MessageKey): Promise<void> {
    await this.changes(sql`
      update turns set button_message_ts = nullif(button_message_ts, ${message.ts}),
        sources_message_ts = nullif(sources_message_ts, ${message.ts})
      where ${inThread(message)} and ${message.ts} in (button_message_ts, sources_message_ts)`);
  }

  /** Whether a message at the service belongs to a turn of the thread, whose task it is in. */
  async isUserMessageBound(thread: ThreadKey, userMessageId: string): Promise<boolean> {
    const bound = sql`select from turns where ${inThread(thread)} and user_message_id = ${userMessageId}`;
    return this.exists(bound);
  }

  async #one(statement: RawBuilder<unknown>): Promise<Turn> {
    const turn = await this.first(sql<Turn>`${statement}`);
    if (turn === undefined) throw new Error('The turn is gone.');
    return turn;
  }

  #update(turn: TurnId) {
    return this.db.updateTable('turns').where(isTurn(turn));
  }

  /** The running turn of a thread, then those that it passed on. */
  async #unfinished(thread: ThreadKey, condition: RawBuilder<unknown>): Promise<Turn | undefined> {
    return this.first(sql<Turn>`
      select * from turns where ${inThread(thread)} and ${isOpenTurn} and ${condition}
      order by passed_on_by_turn_id is not null, id limit 1`);
  }
}

/** The asker is whom the message's row names: they may have been erased since it was read. */
function turnInsert(id: string, message: Message, passedOnBy: string | null) {
  return sql`
    insert into turns (workspace, id, channel, thread_ts, message_ts, asked_by, passed_on_by_turn_id)
    select workspace, ${id}::uuid, channel, thread_ts, ts, user_id, ${passedOnBy}::uuid from messages where ${ofMessage(message)}`;
}
