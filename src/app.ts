import type { Logger } from 'pino';
import { DueWorkPoller } from './app/due-work-poller.ts';
import { createFeatures } from './app/features.ts';
import { HttpEndpoints } from './app/http-endpoints.ts';
import { combineLifecycles, type Lifecycle, withStopTimeout } from './app/lifecycle.ts';
import { registerListeners } from './app/listener-setup.ts';
import {
  createResultLinks,
  databaseLocation,
  eventTransport,
  oauthOptions,
  oauthPagesDeps,
  relaySettings,
  retentionDays,
  serviceOptions,
  sharedCredentials,
  slackOptions,
  workspaceAccountLimits,
} from './app/options-from-config.ts';
import { identifyBot, ServiceTrial } from './app/start-checks.ts';
import { CredentialGate, type CredentialGateOptions } from './calls/credential-gate.ts';
import type { Config } from './config.ts';
import { TitlesAndPrompts } from './features/direct-messages.ts';
import { parseInstallationQuery } from './listeners/envelope.ts';
import { EventIntake, type EventIntakeDeps } from './listeners/event-intake.ts';
import { SlackApp } from './listeners/slack-app.ts';
import { Telemetry } from './operate/telemetry.ts';
import { accessPolicyFor } from './relay/access/access-policy.ts';
import { ButtonActions } from './relay/controls/continue-and-retry.ts';
import { LateEdits } from './relay/controls/late-edits.ts';
import { PausedMessages } from './relay/controls/paused-messages.ts';
import { SendNow } from './relay/controls/send-now.ts';
import { StopControl } from './relay/controls/stop-control.ts';
import { StopTriggers } from './relay/controls/stop-triggers.ts';
import { UnsentReplies } from './relay/controls/unsent-reply-buttons.ts';
import { WaitingReactions } from './relay/controls/waiting-reactions.ts';
import { backfillJobs } from './relay/inbox/backfill.ts';
import { channelMoveJobs } from './relay/inbox/channel-move.ts';
import { EventGapDetector } from './relay/inbox/event-gap-detector.ts';
import { Inbox, type InboxDeps } from './relay/inbox/inbox.ts';
import { openRegistry } from './relay/installations/oauth-installations.ts';
import { ServiceAccounts } from './relay/installations/service-accounts.ts';
import { ResultLinkAccess, resolveResult } from './relay/replies/result-links.ts';
import { postLaterResults } from './relay/replies/result-posts.ts';
import { postReviews } from './relay/replies/review-posts.ts';
import type { RelayDeps, RelayLimits } from './relay/runtime/deps.ts';
import { JobRunner } from './relay/runtime/job-runner.ts';
import { inBackground } from './relay/runtime/poller.ts';
import { trySendEphemeral } from './relay/runtime/private-messages.ts';
import { RenderQueue } from './relay/runtime/render-queue.ts';
import { ReplyMemory } from './relay/runtime/reply-memory.ts';
import { projectNameJobs } from './relay/sending/channel-project.ts';
import { Dispatcher } from './relay/turns/dispatcher.ts';
import { followUpJobs } from './relay/turns/follow-ups.ts';
import { Maintenance } from './relay/turns/maintenance.ts';
import { TurnRunner } from './relay/turns/turn-runner.ts';
import * as strings from './render/strings/index.ts';
import { isAcceptedPost } from './slack/posting.ts';
import { type Database, openStore } from './store/database.ts';
import { ThreadQueue } from './store/queue/thread-queue.ts';
import { SharedRateLimits } from './store/slack/shared-rate-limits.ts';
import { readStats } from './store/stats.ts';
import { Store } from './store/store.ts';
import { Keyring } from './store/workspaces/keyring.ts';

const BOT_TOKEN_SETTING = 'SLACK_BOT_TOKEN';
const API_KEY_SETTING = 'AGENT_API_KEY';

export interface TaskthreadApp {
  /** The port of /healthz and, with events by HTTP, of /slack/events. */
  readonly port: number;
  /** The workspace of SLACK_BOT_TOKEN; undefined if workspaces install the app by OAuth. */
  readonly workspace: { id: string; name: string } | undefined;
  readonly store: Store;
  /** Settles when the embedded database is lost; the process should then end. */
  readonly lost: Promise<Error>;
  /** Stops receiving events, hands the turns over and closes everything; then rejects if anything failed. */
  stop(): Promise<void>;
}

export interface AppOverrides extends Pick<CredentialGateOptions, 'probeMs'> {
  /** Called for each of the app's database pools. */
  store?: (db: Database['kysely']) => Store;
  /** Keeps a secret that isn't a setting out of the log until the returned function is called. */
  onSecret?: (secret: string) => () => void;
  /** The time between the two refusals of a token that end its installation (ms). */
  confirmAfterMs?: number;
  limits?: Partial<RelayLimits> | undefined;
}

/** Builds the app and starts it. Throws a ConfigError, a StoreError or a SlackError that says what to fix. */
export async function startApp(
  config: Config,
  log: Logger,
  overrides: AppOverrides = {},
): Promise<TaskthreadApp> {
  await using cleanup = new AsyncDisposableStack();

  // The database, the queue and the metrics.
  const { database, embedded } = await openStore(databaseLocation(config), cleanup, log);
  const identity = await identifyBot(config, log);
  const credentialGate = (setting: string, workspace?: string) =>
    new CredentialGate({ setting, workspace, log, probeMs: overrides.probeMs });
  const telemetry = new Telemetry({
    log,
    origins: { slack: config.SLACK_API_URL, service: config.AGENT_BASE_URL },
    stats: () => readStats(database.kysely),
    heldThreads: () => dispatcher.heldJobCount,
    rejectedSettings: () => [
      ...(installations.tokenRefusedSince() === undefined ? [] : [BOT_TOKEN_SETTING]),
      ...(accounts.keyRefusedSince() === undefined ? [] : [API_KEY_SETTING]),
    ],
    deafWorkspaces: () => gapDetector.deafWorkspaces,
    rejectedWorkspaceCredentials: () => ({
      token: installations.refusedOwnTokenCount(),
      key: accounts.refusedOwnKeyCount(),
    }),
  });
  cleanup.defer(async () => telemetry.close());
  const storeOn = (db: Database['kysely']) => overrides.store?.(db) ?? new Store(db, telemetry.onTurnStep);
  const store = storeOn(database.kysely);
  const ackStore = storeOn(database.ackKysely);
  const leaseStore = storeOn(database.leaseKysely);
  const queue = new ThreadQueue({ database, log });
  cleanup.defer(() => queue.stop());
  await queue.start();
  // We hold the embedded server's lock, so any process that held jobs or connections there has ended.
  if (embedded !== undefined)
    await Promise.all([queue.reclaimAll(), store.socketLeases.releaseAll(), store.jobs.releaseAll()]);

  // Slack and the agent service, for each workspace.
  const keyring = config.SECRET_KEY && new Keyring(config.SECRET_KEY);
  const onSecret = overrides.onSecret ?? (() => () => undefined);
  const { registry: installations, oauthInstallations: oauth } = await openRegistry({
    store,
    identity,
    oauth: oauthOptions(config, keyring),
    workspaceOptions: {
      ...slackOptions(config, overrides.limits),
      rateLimitStore: telemetry.metrics.withPermitMetrics(new SharedRateLimits(database.kysely)),
      onCall: (call) => {
        telemetry.metrics.onSlackCall(call);
        if (isAcceptedPost(call)) gapDetector.onPost(call.workspace);
      },
      onEdit: telemetry.metrics.onSlackEdit,
      log,
    },
    tokenGateFor: (workspace) => credentialGate(BOT_TOKEN_SETTING, workspace),
    confirmAfterMs: overrides.confirmAfterMs,
  });
  const accounts = new ServiceAccounts({
    store,
    keyring,
    defaultCredentials: sharedCredentials(config),
    clientOptions: { ...serviceOptions(config), onAttempt: telemetry.onServiceAttempt, log },
    ownAccountOptions: { ...workspaceAccountLimits(config), onAttempt: telemetry.onWorkspaceServiceAttempt },
    keyGateFor: (workspace) => credentialGate(API_KEY_SETTING, workspace),
    redactSecret: onSecret,
    log,
  });
  cleanup.defer(() => accounts.close());
  const refreshables = [...(oauth === undefined ? [] : [oauth.workspaces]), accounts];

  // Turns, and what controls them.
  const links = createResultLinks(config);
  const deps: RelayDeps = {
    store,
    log,
    settings: relaySettings(config, links, overrides.limits),
    workspace: (id) => installations.workspace(id),
    enqueue: (trx, thread) => queue.enqueue(trx, thread),
    rendering: new RenderQueue(),
    replyMemory: new ReplyMemory(),
    agent: (account) => accounts.agentClient(account),
    accountOf: (id) => accounts.currentAccount(id),
    onBlockRefused: telemetry.metrics.onBlockRefused,
    onTaskStarted: (thread, title) => directMessages.onTaskStarted(thread, title),
  };
  const directMessages = new TitlesAndPrompts(deps);
  const waitingReactions = new WaitingReactions(deps);
  const readRateFor = (account: string) => accounts.readRate(account);
  const runner = new TurnRunner({
    deps,
    waitingReactions,
    readRateFor,
    findWorkspace: (workspace) => installations.find({ workspace }),
    requeue: (thread) => queue.enqueueMissing([thread]),
  });
  const controlDeps = { ...deps, store: ackStore };
  const stopControl = new StopControl(controlDeps, (turn) => runner.requestStop(turn));
  const pausedMessages = new PausedMessages(controlDeps, waitingReactions);
  const buttonActions = new ButtonActions(controlDeps, pausedMessages);
  const sendNow = new SendNow(controlDeps, (thread, isAsked) => runner.passOn(thread, isAsked));
  const unsentReplies = new UnsentReplies(controlDeps);
  const stopTriggers = new StopTriggers(controlDeps, stopControl, pausedMessages, waitingReactions);
  const dispatcher = new Dispatcher({ queue, run: (...job) => runner.run(...job), log });
  const { onRetentionFailed } = telemetry.metrics;
  const rows = { store, retention: retentionDays(config), onRetentionFailed };
  const maintenance = new Maintenance({ ...rows, queue, installations, waitingReactions, log });
  const followUps = followUpJobs(deps, [postLaterResults, postReviews], readRateFor);

  // Messages from Slack.
  const lateEdits = new LateEdits(deps);
  const inboxDeps: InboxDeps = {
    ...deps,
    rowsKeptDays: config.KEEP_ROWS_DAYS,
    enqueue: (at, isNew) => queue.enqueueSoon(at, isNew),
    onStopMessage: (message) => stopTriggers.onStopWord(message),
  };
  const inbox = new Inbox({ ...inboxDeps, store: ackStore });
  const onInboxOutcome: EventIntakeDeps['onInboxOutcome'] = (outcome, event) => {
    const parts = [waitingReactions, lateEdits, pausedMessages, stopTriggers, sendNow];
    for (const part of [...parts, unsentReplies]) {
      const work = Promise.resolve(part.onInboxOutcome(outcome, event));
      inBackground(work, log, 'could not finish the work after an event');
    }
  };
  // Slack's acknowledgements do not wait for what is read back.
  const backfill = backfillJobs({ deps, inbox: new Inbox(inboxDeps), onOutcome: onInboxOutcome });
  const gapDetector = new EventGapDetector({
    store,
    workspaces: () => installations.ids(),
    canReceiveEvents: () => slackApp.isReceiving,
    minGapMs: config.GAP_MINUTES * 60_000,
    rebuildConnections: async () => slackApp.socketMode?.rebuild(),
    log,
  });
  const eventIntake = new EventIntake({
    inbox,
    bot: async (at) => (await installations.find(at))?.bot,
    onUninstallEvent: oauth && ((event) => oauth.uninstallEvents.handle(event)),
    otherBots: async (at) => (await accessPolicyFor(deps, at)).bots,
    onEvent: (id, isEcho) => gapDetector.onEvent(id, isEcho),
    onInboxOutcome,
    onStopTrigger: (trigger) => stopTriggers.handle(trigger),
    onWorkflowStep: (run) => features.workflowStep.accept(run),
    onEventHandled: telemetry.onEventHandled,
    onMessageGivenUp: (target) => trySendEphemeral(deps, target, strings.messageGivenUp),
    onEventLost: (thread, since) => store.backfills.addThread(thread, since),
    badThingMs: deps.settings.badThingMs,
    hasWrittenAfter: (at) => gapDetector.lastHeartbeatAt > at,
    log,
  });

  // What people open and set.
  const jobs = new JobRunner({ store, log, onRun: telemetry.metrics.onJobRun });
  const features = createFeatures(deps, config, {
    account: {
      keyring,
      redactSecret: onSecret,
      clientOptions: (id) => accounts.ownAccountOptions(id),
      onChanged: () => accounts.refresh(),
    },
    jobs,
    onMessageAdded: (message) => pausedMessages.onWaitingChanged(message),
  });
  const kinds = [...features.jobKinds, projectNameJobs(deps), backfill, followUps, channelMoveJobs(deps)];
  for (const kind of kinds) jobs.add(kind);

  // Slack's requests and our own pages.
  const transport = eventTransport(config, leaseStore, identity?.installation.workspace);
  const controls = { stopControl, pausedMessages, buttonActions, directMessages, sendNow, unsentReplies };
  const handlers = { ...features, ...controls };
  const slackApp = new SlackApp({
    transport,
    eventIntake,
    listen: (app) => registerListeners(app, deps, handlers),
    authorize: async (_source, body) => {
      const at = body && parseInstallationQuery(body);
      const workspace = at && (await installations.find(at));
      if (workspace === undefined) throw new Error('The app is not installed there.');
      // Listeners call Slack through the relay, so Bolt needs no token.
      const { userId: botUserId, botId } = workspace.bot;
      return { botUserId, botId, teamId: workspace.id };
    },
    oauthPages: oauth && oauthPagesDeps(config, store, oauth),
    slackApiUrl: config.SLACK_API_URL,
    onConnected: () => gapDetector.heartbeatNow(),
    log,
  });
  const resultLinks = links && new ResultLinkAccess(links, (...asked) => resolveResult(deps, ...asked));
  const pages = new HttpEndpoints({
    config,
    log,
    database,
    installations,
    accounts,
    dispatcher,
    telemetry,
    slackApp,
    findResult: resultLinks && ((token, signal) => resultLinks.find(token, signal)),
    workspace: identity?.installation.workspace,
  });

  const dueWork = new DueWorkPoller({
    database,
    beginDue: async (due) => {
      if (due.stops) stopControl.sendOpenStops();
      if (due.jobs) jobs.runDue();
      if (due.expiredJobs) await queue.releaseExpired();
      if (due.urgentMessages) await sendNow.passOnUrgent();
    },
    refreshables,
    log,
  });
  const background: Lifecycle[] = [
    new ServiceTrial(accounts, telemetry.onServiceProbe, log),
    dueWork,
    jobs,
    stopControl,
    ...features.background,
    maintenance,
    slackApp,
    eventIntake,
    gapDetector,
  ];
  const workers = combineLifecycles([
    ...(oauth === undefined ? [] : [oauth.tokenRotation, oauth.uninstallEvents]),
    ...background.map((part) => withStopTimeout(part, log)),
    // The last: what waits is held where a gap in receiving may have changed it.
    {
      start: () => dispatcher.start(),
      stop: () => dispatcher.stop(config.DRAIN_SECONDS * 1_000),
    },
  ]);

  for (const source of refreshables) await source.refresh(true);
  // They stop in reverse order.
  for (const part of [pages, workers]) {
    cleanup.defer(() => part.stop());
    await part.start?.();
  }

  log.info(
    { workspaces: installations.ids().length, port: pages.port, events: transport.kind },
    'taskthread is running',
  );
  const all = cleanup.move();
  return {
    port: pages.port,
    workspace: identity && { id: identity.installation.workspace, name: identity.name },
    store,
    lost: embedded?.lost ?? new Promise(() => undefined),
    stop: async () => {
      pages.draining = true;
      await all.disposeAsync();
    },
  };
}
