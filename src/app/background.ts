import type { Logger } from 'pino';
import type { ProbeResult } from '../agent/account-probe.ts';
import { AgentError } from '../agent/errors.ts';
import { noteDatabaseTime, readClocks } from '../calls/clocks.ts';
import { within } from '../calls/retries-and-waits.ts';
import type { ServiceAccounts } from '../relay/installations/service-accounts.ts';
import { Poller } from '../relay/runtime/poller.ts';
import { readDueWork } from '../store/processes/due-work.ts';
import type { Features } from './features.ts';
import type { Intake } from './intake.ts';
import type { AppContext, Storage } from './storage.ts';
import type { Controls, Turns } from './turns.ts';
import type { Workspaces } from './workspaces.ts';

/** A part that runs from the app's start to its stop. */
export interface Lifecycle {
  start?(): void | Promise<void>;
  stop(): Promise<void>;
}

/** Longest stop of a part whose work other processes repeat (ms). */
const STOP_TIMEOUT_MS = 5_000;

/** Parts that start in order and stop in parallel, so that none delays handing over the turns. */
export function combineLifecycles(parts: readonly Lifecycle[]): Lifecycle {
  return {
    start: async () => {
      for (const part of parts) await part.start?.();
    },
    stop: async () => {
      const ended = await Promise.allSettled(parts.map(async (part) => part.stop()));
      const failed = ended.flatMap((one): unknown[] => (one.status === 'rejected' ? [one.reason] : []));
      if (failed.length > 0) throw failed.reduce((first, next) => new SuppressedError(next, first));
    },
  };
}

/** A part whose work another process, or the next start, repeats: its stop takes at most five seconds. */
export function withStopTimeout(part: Lifecycle, log: Logger): Lifecycle {
  return {
    start: () => part.start?.(),
    stop: async () => {
      if ((await within(STOP_TIMEOUT_MS, part.stop(), 'late' as const)) === 'late')
        log.warn({ part: part.constructor.name }, 'a part did not stop in time; its work will be repeated');
    },
  };
}

/** What works between events and requests, in the order in which it starts. */
export function createBackground(
  context: AppContext,
  storage: Storage,
  workspaces: Workspaces,
  { jobs }: Turns,
  { stopControl, passOnUrgent }: Controls,
  { files }: Features,
  { slackApp, eventIntake, gapDetector }: Intake,
): Lifecycle {
  const { log, telemetry } = context;
  const { oauth, accounts } = workspaces;
  const sweep = expirySweep(context, storage);
  const eachMinute = [sweep, ...(oauth === undefined ? [] : [oauth.tokenRotation])];
  let lastMinute = currentMinute();
  let knownChanges: number | undefined;
  // Looks for all due work at once, in place of a poll for each part.
  const dueWork = new Poller({
    intervalMs: POLL_INTERVAL_MS,
    startsAtOnce: true,
    poll: async () => {
      const since = readClocks();
      const due = await readDueWork(storage.database.kysely);
      jobs.recordContact(since);
      noteDatabaseTime(due.now, since.wall);
      if (due.stops) stopControl.sendOpenStops();
      if (due.jobs) jobs.runDue();
      if (due.urgentMessages) await passOnUrgent();
      if (due.unlocked.length > 0) setTimeout(() => dueWork.pollNow(), UNLOCKED_INTERVAL_MS).unref();
      await storage.takeOverUnlocked(due.unlocked);
      const minute = currentMinute();
      const isMinute = minute !== lastMinute;
      // They were read at the start.
      if (isMinute || due.changeSeq !== knownChanges)
        for (const source of workspaces.refreshables) await source.refresh(isMinute);
      if (isMinute) for (const part of eachMinute) part.pollIfIdle();
      // What has failed before this is repeated with the next poll.
      lastMinute = minute;
      knownChanges = due.changeSeq;
    },
    onError: (error) => jobs.recordFailure(error),
  });
  const parts = [
    serviceTrial(accounts, telemetry.onServiceProbe, log),
    dueWork,
    stopControl,
    files,
    sweep,
    slackApp,
    eventIntake,
    gapDetector,
  ];
  return combineLifecycles([
    ...(oauth === undefined ? [] : [oauth.tokenRotation]),
    ...parts.map((part) => withStopTimeout(part, log)),
    // The last: what waits is held where a gap in receiving may have changed it.
    jobs,
  ]);
}

/** How often due work is looked for (ms): how late another process notices a stop or a change. */
const POLL_INTERVAL_MS = 1_000;
/** The same while another process may be dead (ms). */
const UNLOCKED_INTERVAL_MS = 200;
/** How often expired rows and expiring tokens are looked for, and all installations read, which also shows deleted ones (ms). */
const MINUTE_MS = 60_000;
const currentMinute = () => Math.floor(performance.now() / MINUTE_MS);

/** Deletes expired rows, each time it is asked to. The next sweep repeats a step that has failed. */
function expirySweep({ config, limits, log, telemetry }: AppContext, { store }: Storage): Poller {
  const { KEEP_WORDS_DAYS: words, KEEP_ROWS_DAYS: rows, KEEP_AUDIT_DAYS: audit } = config;
  const retention = { words, rows, audit, uninstalled: limits.uninstalledDays };
  const onFailed = (step: string, error: unknown) => {
    log.error({ step, err: error }, 'deleting expired rows failed; trying again in a minute');
    telemetry.onRetentionFailed(step);
  };
  const sweep = new Poller({
    poll: async () => {
      const swept = await store.retention.deleteExpired(retention, { signal: sweep.signal, onFailed });
      if (swept > 0) log.debug({ rows: swept }, 'deleted expired rows');
    },
    onError: (err) => log.warn({ err }, 'expired rows could not be deleted; trying again later'),
  });
  return sweep;
}

/** Tries the service's address and key once at the start: a warning says what does not work. No message waits for it. */
function serviceTrial(
  accounts: Pick<ServiceAccounts, 'probeDefault'>,
  onResult: (result: ProbeResult) => void,
  log: Logger,
): Lifecycle {
  const setting = 'AGENT_BASE_URL';
  const trial = new Poller({
    startsAtOnce: true,
    poll: async () => {
      const result = await accounts.probeDefault(trial.signal);
      if (result !== undefined) onResult(result);
      if (result === 'no_service')
        log.warn({ setting }, 'AGENT_BASE_URL accepts even a wrong key, so it is not the agent service');
    },
    onError: (error) => {
      const reason = error instanceof AgentError ? error.message : String(error);
      log.warn({ setting, reason }, 'AGENT_BASE_URL does not work at the start; messages wait until it does');
    },
  });
  return trial;
}
