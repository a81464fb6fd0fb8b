import type { Logger } from 'pino';
import { HttpEndpoints } from './app/http-endpoints.ts';
import { combineLifecycles, type Lifecycle, withStopTimeout } from './app/lifecycle.ts';
import { createListeners } from './app/listener-setup.ts';
import {
  createResultLinks,
  eventTransport,
  oauthOptions,
  oauthPagesDeps,
  relaySettings,
  retentionDays,
  serviceOptions,
  sharedCredentials,
  slackOptions,
  workspaceAccountLimits,
  workspaceServiceOptions,
} from './app/options-from-config.ts';
import type { Config } from './config.ts';
import { AccountSection } from './features/account/account-section.ts';
import { WorkspaceAccount } from './features/account/workspace-account.ts';
import { ChannelSettingsModal } from './features/channel-settings/channel-settings-modal.ts';
import { DirectMessages } from './features/direct-messages/direct-messages.ts';
import { StartFormHandler } from './features/start/start-form-handler.ts';
import { createTaskFeatures } from './features/tasks/task-feature.ts';
import { WorkspaceAccessSettings } from './features/workspace-settings/workspace-access-settings.ts';
import { EventIntake, type EventIntakeDeps } from './listeners/event-intake.ts';
import { parseInstallationQuery } from './listeners/press.ts';
import { SlackApp } from './listeners/slack-app.ts';
import { CredentialGate } from './operate/credential-gate.ts';
import { Telemetry } from './operate/telemetry.ts';
import { accessPolicyFor } from './relay/access/access-policy.ts';
import { type HomeActor, visibleAdminSections } from './relay/access/admins.ts';
import { LateEdits } from './relay/controls/late-edits.ts';
import { ThreadControls } from './relay/controls/thread-controls.ts';
import { WaitingReactions } from './relay/controls/waiting-reactions.ts';
import { Backfill } from './relay/inbox/backfill.ts';
import { EventGapDetector } from './relay/inbox/event-gap-detector.ts';
import { Inbox } from './relay/inbox/inbox.ts';
import { InstallationRefresh } from './relay/installations/installation-refresh.ts';
import { openRegistry } from './relay/installations/open-registry.ts';
import { ServiceAccounts } from './relay/installations/service-accounts.ts';
import { postLaterResults } from './relay/replies/result-posts.ts';
import { postReviews } from './relay/replies/review-posts.ts';
import type { RelayDeps } from './relay/runtime/deps.ts';
import { ProjectNameSync } from './relay/sending/project-name-sync.ts';
import { Dispatcher } from './relay/turns/dispatcher.ts';
import { FollowUps } from './relay/turns/follow-ups.ts';
import { Maintenance } from './relay/turns/maintenance.ts';
import { TurnRunner } from './relay/turns/turn-runner.ts';
import { identifyToken } from './slack/token-identity.ts';
import type { Database } from './store/database.ts';
import { openStore } from './store/open-store.ts';
import { ThreadQueue } from './store/queue/thread-queue.ts';
import { SharedRateLimits } from './store/slack/shared-rate-limits.ts';
import { readStats } from './store/stats.ts';
import { Store } from './store/store.ts';
import { SETTINGS_ACCOUNT } from './store/workspaces/accounts.ts';
import { Keyring } from './store/workspaces/keyring.ts';

const BOT_TOKEN_SETTING = 'SLACK_BOT_TOKEN';
const API_KEY_SETTING = 'AGENT_API_KEY';

/** The running app. */
export interface TaskthreadApp {
  /** Where /healthz and, with events by HTTP, /slack/events are. */
  readonly port: number;
  /** The workspace of the settings' token; undefined where workspaces install the app by OAuth. */
  readonly workspace: { id: string; name: string } | undefined;
  readonly store: Store;
  /** Settles when the embedded database is lost: the process should end. */
  readonly lost: Promise<Error>;
  /** Takes no more events, hands the turns over and closes everything; rejects when all is done with what failed. */
  stop(): Promise<void>;
}

/** Parts of the app that can be given to it in place of its own. */
export interface AppOverrides {
  /** Asks the tables; called for each of the app's pools. */
  store?: (db: Database['kysely']) => Store;
  /** Hears of secrets that are in no setting, so that no log shows them until the answer is called. */
  onSecret?: (secret: string) => () => void;
}

/** Puts the parts together and starts them. Throws a StoreError or a SlackError that says what to mend. */
export async function startApp(
  config: Config,
  log: Logger,
  overrides: AppOverrides = {},
): Promise<TaskthreadApp> {
  const { SLACK_BOT_TOKEN: token, SLACK_API_URL: slackApiUrl } = config;
  const identity = token === undefined ? undefined : await identifyToken({ token, slackApiUrl, log });
  await using cleanup = new AsyncDisposableStack();

  // The database, and what watches the rest.
  const { database, embedded } = await openStore(
    { url: config.DATABASE_URL, folder: config.DATA_FOLDER },
    cleanup,
    log,
  );
  const credentialGate = (setting: string, workspace?: string) =>
    new CredentialGate({ setting: workspace === undefined ? setting : `${setting} of ${workspace}`, log });
  const telemetry = new Telemetry({
    log,
    origins: { slack: config.SLACK_API_URL, service: config.AGENT_BASE_URL },
    stats: () => readStats(database.kysely),
    heldThreads: () => dispatcher.heldJobCount,
    rejectedSettings: () => [
      ...(installations.tokenRefusedSince() === undefined ? [] : [BOT_TOKEN_SETTING]),
      ...(accounts.keyRefusedSince() === undefined ? [] : [API_KEY_SETTING]),
    ],
    rejectedWorkspaceCredentials: () => ({
      token: installations.refusedOwnTokenCount(),
      key: accounts.refusedOwnKeyCount(),
    }),
  });
  cleanup.defer(async () => telemetry.close());
  const storeOn = (db: Database['kysely'], prepared?: Database['preparedQuery']) =>
    overrides.store?.(db) ?? new Store(db, telemetry.onTurnStep, prepared);
  const store = storeOn(database.kysely);
  const queue = new ThreadQueue({ database, log });
  cleanup.defer(() => queue.stop());
  await queue.start();
  // Whoever held jobs or connections on the embedded server is dead: its lock is ours.
  if (embedded !== undefined) await Promise.all([queue.reclaimAll(), store.socketLeases.releaseAll()]);

  // Slack and the service, as each workspace reaches them.
  const keyring = config.SECRET_KEY && new Keyring(config.SECRET_KEY);
  const onSecret = overrides.onSecret ?? (() => () => undefined);
  const { registry: installations, oauthInstallations } = await openRegistry({
    store,
    identity,
    oauth: oauthOptions(config, keyring),
    workspaceOptions: {
      ...slackOptions(config),
      rateLimitStore: telemetry.withPermitMetrics(new SharedRateLimits(database.kysely)),
      onCall: telemetry.onSlackCall,
      onEdit: telemetry.onSlackEdit,
      log,
    },
    tokenGateFor: (workspace) => credentialGate(BOT_TOKEN_SETTING, workspace),
  });
  const options = { ...serviceOptions(config), onTry: telemetry.onServiceAttempt, log };
  const accounts = new ServiceAccounts({
    store,
    keyring,
    defaultCredentials: sharedCredentials(config),
    clientOptions: options,
    ownAccountOptions: { ...workspaceAccountLimits(config), onTry: telemetry.onWorkspaceServiceAttempt },
    keyGateFor: (workspace) => credentialGate(API_KEY_SETTING, workspace),
    redactSecret: onSecret,
    log,
  });
  cleanup.defer(() => accounts.close());
  const installationRefresh = new InstallationRefresh(
    [...(oauthInstallations === undefined ? [] : [oauthInstallations.workspaces]), accounts],
    log,
  );

  // Turns, and what they leave.
  const links = createResultLinks(config);
  const deps: RelayDeps = {
    store,
    log,
    settings: relaySettings(config, links),
    workspace: (id) => installations.workspace(id),
    enqueue: (trx, thread) => queue.enqueue(trx, thread),
    agent: (account) => accounts.agentClient(account),
    accountOf: (id) => accounts.currentAccount(id),
    onTaskStarted: (thread, title) => direct.onTaskStarted(thread, title),
  };
  const direct = new DirectMessages(deps, { isAgent: config.AGENT_SESSIONS });
  const waitingReactions = new WaitingReactions(deps);
  const runner = new TurnRunner({
    deps,
    waitingReactions,
    readRateFor: (account) => accounts.readRate(account),
    findWorkspace: (workspace) => installations.find({ workspace }),
    requeue: (thread) => queue.enqueueMissing([thread]),
  });
  const hands = new ThreadControls(deps, waitingReactions, (turn) => runner.requestStop(turn));
  const dispatcher = new Dispatcher({ queue, run: (thread, lease) => runner.run(thread, lease), log });
  const maintenance = new Maintenance({
    store,
    queue,
    waitingReactions,
    retention: retentionDays(config),
    log,
  });
  const followUps = new FollowUps(deps, [postLaterResults, postReviews]);

  // What people say.
  const lateEdits = new LateEdits(deps);
  const workspaces = () => installations.ids();
  const inbox = new Inbox({
    ...deps,
    store: storeOn(database.ackKysely, database.preparedQuery),
    enqueue: (at) => queue.enqueueSoon(at),
    onStopMessage: hands.onStopWord,
  });
  const projectNameSync = new ProjectNameSync(deps);
  const onAdmission: EventIntakeDeps['onInboxOutcome'] = (admission, event) => {
    waitingReactions.onInboxOutcome(admission, event);
    lateEdits.onInboxOutcome(admission, event);
    hands.onInboxOutcome(admission, event);
    if (admission.kind === 'renamed') projectNameSync.runSoon();
    direct.onInboxOutcome(admission, event);
  };
  const backfill = new Backfill({ deps, inbox, workspaces, onOutcome: onAdmission });
  const receivingMonitor = new EventGapDetector({
    store,
    workspaces,
    canReceiveEvents: () => slackApp.isReceiving,
    minGapMs: config.GAP_MINUTES * 60_000,
    onHeartbeat: () => {
      backfill.trigger();
      projectNameSync.runSoon();
    },
    log,
  });
  const eventIntake = new EventIntake({
    inbox,
    bot: async (at) => (await installations.find(at))?.bot,
    onUninstallEvent:
      oauthInstallations && ((departure) => oauthInstallations.uninstallEvents.handle(departure)),
    otherBots: async (at) => (await accessPolicyFor(deps, at)).bots,
    onEvent: (id) => receivingMonitor.onEvent(id),
    onInboxOutcome: onAdmission,
    onStopTrigger: (sign) => hands.onStopTrigger(sign),
    onEventHandled: telemetry.onEventHandled,
    log,
  });

  // What people press and set.
  const channelSettings = new ChannelSettingsModal(deps, {
    accountOf: deps.accountOf,
    isSharedAccount: (account) => oauthInstallations !== undefined && account === SETTINGS_ACCOUNT,
    onProjectNameDue: () => projectNameSync.runSoon(),
  });
  const showHome = (visitor: HomeActor) =>
    tasks.home.show({ ...visitor, state: { page: 0, channelPage: 0 } });
  const accountHome = new AccountSection({
    ...deps,
    account: new WorkspaceAccount({
      ...deps,
      keyring,
      hasDefaultAccount: sharedCredentials(config) !== undefined,
      clientOptions: workspaceServiceOptions(config),
      redactSecret: onSecret,
      onChanged: () => accounts.refresh(),
    }),
    onChanged: showHome,
  });
  const workspaceAccess = new WorkspaceAccessSettings(deps, showHome);
  const tasks = createTaskFeatures(deps, {
    sections: (workspace, person) =>
      visibleAdminSections(deps, { workspace, person }, [workspaceAccess, accountHome]),
    openChannelSettings: (request) => channelSettings.open(request),
  });
  const starting = new StartFormHandler(deps, (message) => hands.onMessageAdded(message));

  // The ways in.
  const transport = eventTransport(config, store, identity?.installation.workspace);
  const slackApp = new SlackApp({
    transport,
    eventIntake,
    listeners: createListeners(deps, {
      hands,
      accountHome,
      workspaceAccess,
      channelSettings,
      starting,
      tasks,
      direct,
    }),
    authorize: async (_source, body) => {
      const at = body && parseInstallationQuery(body);
      const authorization = at && (await installations.authorization(at));
      if (authorization === undefined) throw new Error('The app is not installed there.');
      return authorization;
    },
    oauthPages: oauthInstallations && oauthPagesDeps(config, store, oauthInstallations),
    slackApiUrl: config.SLACK_API_URL,
    onConnected: () => receivingMonitor.heartbeatNow(),
    log,
  });
  const pages = new HttpEndpoints({
    config,
    database,
    installations,
    accounts,
    dispatcher,
    telemetry,
    slackApp,
    links,
    events: transport.kind,
    relay: deps,
    workspace: identity?.installation.workspace,
  });

  const background: Lifecycle[] = [
    hands,
    followUps,
    starting.questionPoster,
    tasks.deletion,
    tasks.files,
    maintenance,
    projectNameSync,
    slackApp,
    backfill,
    receivingMonitor,
  ];
  const workers = combineLifecycles([
    ...(oauthInstallations === undefined ? [] : [oauthInstallations.tokenRotation]),
    {
      start: () => dispatcher.start(),
      stop: () => dispatcher.stop({ drainMs: config.DRAIN_SECONDS * 1_000 }),
    },
    ...background.map((part) => withStopTimeout(part, log)),
  ]);

  // It stops the other way round.
  for (const part of [installationRefresh, pages, workers]) {
    cleanup.defer(() => part.stop());
    await part.start?.();
  }

  const { port } = pages;
  log.info({ workspaces: installations.ids().length, port, events: transport.kind }, 'taskthread is running');
  const all = cleanup.move();
  return {
    port,
    workspace: identity && { id: identity.installation.workspace, name: identity.name },
    store,
    lost: embedded?.lost ?? new Promise(() => undefined),
    stop: async () => {
      pages.draining = true;
      await all.disposeAsync();
    },
  };
}
