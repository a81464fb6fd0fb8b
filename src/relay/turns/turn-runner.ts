import { addAbortListener } from 'node:events';
import { v7 as nextTurnId } from 'uuid';
import { askedBy } from '../../calls/askers.ts';
import { valueIf, within } from '../../calls/retries-and-waits.ts';
import { StoreError } from '../../store/errors.ts';
import { JOB_KIND } from '../../store/jobs/jobs.ts';
import { type Job, type Message, type ThreadKey, type Turn, threadKeyText } from '../../store/schema.ts';
import type { ThreadWithWork } from '../../store/threads/threads.ts';
import { turnLocationOf } from '../../store/threads/turns.ts';
import { beginTurnOrRefuse } from '../access/quotas.ts';
import type { PassOnTime } from '../controls/messages-during-a-run.ts';
import { markWaiting } from '../controls/waiting-reactions.ts';
import { type FirstReply, releaseUnused } from '../replies/first-reply-intent.ts';
import type { RelayDeps, ThreadWork, WorkspaceClient } from '../runtime/deps.ts';
import { isDirectChannel } from '../runtime/incoming-message.ts';
import type { JobKind, JobOutcome } from '../runtime/job-runner.ts';
import type { RenewableLease } from '../runtime/lease.ts';
import { inBackground } from '../runtime/poller.ts';
import { withRetry } from '../runtime/retry-and-giving-up.ts';
import { isInterruption } from '../runtime/turn-exceptions.ts';
import { type AllowedMessage, nextAllowedMessage } from '../sending/next-message.ts';
import { isPoisoned, takeOver } from './poisoned-turn.ts';
import { runTurn } from './turn.ts';
import { TurnContext } from './turn-context.ts';

const MAX_THREADS = 5_000;
/** How soon a thread with an open turn, or without a usable token, is looked at again (ms). */
const LOOK_AGAIN_MS = 10_000;
/** A turn that has run for this long (ms) has proven stable. */
const STABLE_AFTER_MS = 60_000;
/** Slack clears the status of a working agent after an hour: it is set again before that (ms). */
const SESSION_REFRESH_MS = 50 * 60_000;
/** How long a turn waits until Slack knows that it has ended (ms): the process may stop next, or another turn begin. */
const SESSION_END_MS = 3_000;

/** Runs the next turns of threads, each in a job. */
export class TurnRunner {
  readonly #deps: RelayDeps;
  readonly #findWorkspace: (workspace: string) => Promise<WorkspaceClient | undefined>;
  readonly #running = new Map<string, TurnContext>();

  /** `findWorkspace` also finds one new to this process; undefined if the app is not installed there. */
  constructor(deps: RelayDeps, findWorkspace: (workspace: string) => Promise<WorkspaceClient | undefined>) {
    this.#deps = deps;
    this.#findWorkspace = findWorkspace;
  }

  /** Stops a turn if this process runs it. */
  requestStop(turn: Pick<Turn, 'id'>): void {
    this.#running.get(turn.id)?.requestStop();
  }

  /** Has the turn that this process runs in a thread look for a message to pass on. Returns whether it looks. */
  passOn(thread: ThreadKey, when: PassOnTime): boolean {
    const name = threadKeyText(thread);
    const context = [...this.#running.values()].find(({ turn }) => threadKeyText(turn) === name);
    return context?.passOn(when) ?? false;
  }

  /** Runs the open turn of a job's thread, or its next one; the job runs again while more waits. */
  async run(job: Job, lease: RenewableLease): Promise<JobOutcome> {
    const deps = this.#deps;
    const { workspace: id, channel, thread_ts } = job;
    const thread = { workspace: id, channel, thread_ts };
    const workspace = await this.#findWorkspace(id);
    if (workspace === undefined) {
      deps.log.debug({ ...thread }, 'there is no usable token for this workspace; the turn waits');
      return { inMs: LOOK_AGAIN_MS };
    }
    // Without the app no call succeeds: the turn waits, and this process leaves it before its next step.
    using _drain = addAbortListener(workspace.uninstalled, () => lease.drain());
    try {
      const context = await this.#nextTurn({ deps, workspace, lease }, thread, job);
      if (context === undefined) return 'done';
      await this.#runTurn(context, thread);
      if (context.isJobDone) return 'recorded';
      // A turn that stays open must not run over and over.
      const isStillOpen = (await deps.store.turns.open(thread))?.id === context.turn.id;
      return { inMs: isStillOpen ? LOOK_AGAIN_MS : 0 };
    } catch (error) {
      if (isInterruption(error, 'hand_over') || lease.signal.aborted) return 'interrupted';
      throw error;
    }
  }

  /** Runs a turn, which is in `#running` meanwhile. Once it proves stable, earlier attempts count no more. */
  async #runTurn(context: TurnContext, thread: ThreadKey): Promise<void> {
    const { store, log, replyMemory } = this.#deps;
    const turn = turnLocationOf(context.turn);
    this.#running.set(turn.id, context);
    const wasPoisoned = isPoisoned(context.turn);
    using _stableTimer = setTimeout(() => {
      if (context.lease.signal.aborted || wasPoisoned) return;
      inBackground(store.turns.resetAttempts(turn), log, 'could not reset the attempts of a turn');
    }, STABLE_AFTER_MS);
    try {
      const takeTurn = () => runTurn(context, wasPoisoned);
      await askedBy(context.turn.asked_by, () => withAgentSession(context, thread, takeTurn));
    } finally {
      // After a lost lease, this process may already run the turn again.
      if (this.#running.get(turn.id) === context) {
        this.#running.delete(turn.id);
        replyMemory.release(turn);
      }
    }
  }

  /** The thread's open turn, taken over, or a new one for its next message; undefined if no message may go. */
  async #nextTurn(work: ThreadWork, thread: ThreadKey, job: Job): Promise<TurnContext | undefined> {
    const { deps } = work;
    const row = await deps.store.threads.getWithWork(thread);
    if (row === undefined) return undefined;
    const open = row.has_open_turn ? await deps.store.turns.open(thread) : undefined;
    const takenOver = open && (await takeOver(work, open));
    const begun = takenOver ? undefined : await askedBy(row.started_by, () => beginNextTurn(work, row));
    const turn = takenOver ?? begun?.turn;
    if (turn === undefined) return undefined;
    // Every log line about the turn names its thread and task.
    const log = deps.log.child({ ...thread, ...(row.task_id === null ? {} : { task: row.task_id }) });
    log.info({ turn: turn.id, attempts: turn.attempts }, 'turn started');
    // Nobody has counted the messages that wait behind a turn that was taken over.
    if (begun === undefined || begun.message.waiting_count > 1) markWaiting(deps, thread);
    const logged = { ...work, deps: { ...deps, log } };
    return new TurnContext(logged, turn, begun && { ...begun, thread: row }, job);
  }
}

/** Begins the thread's next turn, with the first message that no quota refuses; undefined if none may go. */
async function beginNextTurn(work: ThreadWork, thread: ThreadWithWork) {
  await requestOrphanReplies(work, thread);
  for (;;) {
    const message = await nextAllowedMessage(work, thread);
    if (message === undefined) return undefined;
    const firstReply = askedBy(message.user_id, () => prepareFirstReply(work, message));
    let turn: Turn | undefined;
    try {
      turn = await beginTurnSurely(work, message);
    } finally {
      if (turn === undefined) void releaseUnused(firstReply.permit);
    }
    if (turn !== undefined) return { turn, message, firstReply };
  }
}

/** Has a thread read back from its oldest reply whose event overtook the first mention. Meanwhile, what waits is held. */
async function requestOrphanReplies({ deps }: ThreadWork, thread: ThreadWithWork): Promise<void> {
  const { orphanReplies, backfills } = deps.store;
  const [oldest] = thread.has_orphan_replies ? await orphanReplies.after(thread, thread.adopted_ts) : [];
  if (oldest !== undefined) await backfills.addOrphanReplies(thread, oldest);
}

/** Begins a turn; undefined if a quota refuses it. After a StoreError, looks whether it has begun. */
async function beginTurnSurely(work: ThreadWork, message: AllowedMessage): Promise<Turn | undefined> {
  const id = nextTurnId();
  const begin = () => beginTurnOrRefuse(work, id, message);
  const findOrBegin = async () => (await work.deps.store.turns.get(message.workspace, id)) ?? begin();
  return begin().catch((error: unknown) => {
    if (!(error instanceof StoreError)) throw error;
    return withRetry(work, findOrBegin, { about: { turn: id } });
  });
}

/** Asks for what the first reply needs while its turn is recorded: one statement then serves both calls' permits. */
function prepareFirstReply({ workspace, lease: guard }: ThreadWork, { channel }: Message): FirstReply {
  const begunAt = performance.now();
  const isShared = isDirectChannel(channel) ? undefined : workspace.people.sharing(channel, guard.signal);
  const permit = workspace.posting.permitToPost({ channel, kind: 'first', guard });
  // Whoever awaits one of them gets its failure.
  for (const asked of [isShared, permit]) asked?.catch(() => undefined);
  return { begunAt, isShared, permit };
}

/** Jobs that run turns, however long; `drainMs`: how long a hand-over may take when the process stops. */
export function turnJobs(runner: Pick<TurnRunner, 'run'>, drainMs: number): JobKind {
  return {
    kind: JOB_KIND.turn,
    share: MAX_THREADS,
    most: MAX_THREADS,
    timeoutMs: Number.POSITIVE_INFINITY,
    giveUpAfterMs: Number.POSITIVE_INFINITY,
    drainMs,
    perform: (job, lease) => runner.run(job, lease),
    onGivenUp: 'counted',
  };
}

/** Sets Slack's agent status of a thread: `processing` during `run`, then `active` (idle). Failures are ignored. */
async function withAgentSession(work: ThreadWork, thread: ThreadKey, run: () => Promise<void>) {
  const { log, store } = work.deps;
  const { sessions } = work.workspace;
  if (sessions === undefined) return run();
  const { channel, thread_ts: threadTs } = thread;
  const show = (status: 'processing' | 'active', isDue?: () => Promise<boolean>) => {
    const shown = sessions.setStatus({ channel, threadTs }, status, isDue);
    inBackground(shown, log, 'could not set the agent status of a thread');
    return shown.catch(() => undefined);
  };
  void show('processing');
  using _refresh = setInterval(() => void show('processing'), SESSION_REFRESH_MS);
  // A turn that throws stays `processing`: it goes on later, or in another process.
  await run();
  // `active` is not sent once the thread's next turn has begun in any process. If the store is closed, none begins here.
  const open = () => store.turns.open(thread).catch(valueIf(undefined, (e) => e instanceof StoreError));
  const told = show('active', async () => (await open()) === undefined);
  await within(SESSION_END_MS, told, undefined);
}
