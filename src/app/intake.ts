import { repeatCall, timeLimit, valueIf } from '../calls/retries-and-waits.ts';
import { parseInstallationQuery, parseOrganisationUse } from '../listeners/envelope.ts';
import { EventIntake, type EventIntakeDeps } from '../listeners/event-intake.ts';
import { type EventTransport, SlackApp } from '../listeners/slack-app.ts';
import { createSocketLease } from '../listeners/socket-mode-pool.ts';
import { accessPolicyFor, onlyWhereAnswered } from '../relay/access/access-policy.ts';
import { backfillJobs } from '../relay/inbox/backfill.ts';
import { channelMoveJobs } from '../relay/inbox/channel-move.ts';
import { EventGapDetector } from '../relay/inbox/event-gap-detector.ts';
import { Inbox, type InboxDeps } from '../relay/inbox/inbox.ts';
import { notInstalled } from '../relay/installations/installed-workspaces.ts';
import { SharedChannels } from '../relay/installations/shared-channels.ts';
import { inBackground } from '../relay/runtime/poller.ts';
import { trySendEphemeral } from '../relay/runtime/private-notices.ts';
import { backoffMs, transientFailure } from '../relay/runtime/retry-and-giving-up.ts';
import { projectNameJobs } from '../relay/sending/channel-project.ts';
import * as strings from '../render/strings/index.ts';
import { SlackUnavailableError } from '../slack/errors.ts';
import { REQUIRED_SCOPES } from '../slack/scopes.ts';
import { StoreError } from '../store/errors.ts';
import { JOB_KIND } from '../store/jobs/jobs.ts';
import type { Features } from './features.ts';
import type { AppContext, Storage } from './storage.ts';
import type { Controls, Turns } from './turns.ts';
import type { Workspaces } from './workspaces.ts';

/** How often it is tried to fill what a person has opened, with pauses of a minute in all: nobody opens it again meanwhile. */
const FILL_ATTEMPTS = 7;
/** Stands for all workspaces in the lease of an app that many have installed. */
const ANY_WORKSPACE = 'any';

export type Intake = ReturnType<typeof createIntake>;

/** Builds what receives events and records them. */
export function createIntake(
  context: AppContext,
  storage: Storage,
  workspaces: Workspaces,
  { deps, jobs }: Turns,
  { stopTriggers, afterEvent }: Controls,
  { steps, home, welcome }: Features,
) {
  const { config, limits, log, telemetry } = context;
  const { installations, oauth, ownPosts } = workspaces;
  const gapDetector = new EventGapDetector({
    store: deps.store,
    workspaces: () => installations.ids(),
    canReceiveEvents: () => slackApp.isReceiving,
    minGapMs: limits.minGapMs,
    rebuildConnections: async () => slackApp.socketMode?.rebuild(),
    log,
  });
  ownPosts.add((workspace) => gapDetector.onPost(workspace));
  const inboxDeps: InboxDeps = {
    ...deps,
    rowsKeptDays: config.KEEP_ROWS_DAYS,
    recordJob: async (write) => {
      const recorded = await jobs.record(JOB_KIND.turn, write);
      const hasJob = recorded.decision === 'next' || recorded.decision === 'waits';
      if (hasJob && !recorded.is_paused && recorded.job === undefined) jobs.runDue();
      return recorded;
    },
    onStopMessage: (message) => stopTriggers.onStopWord(message),
  };
  const onInboxOutcome: EventIntakeDeps['onInboxOutcome'] = (outcome, event) => {
    for (const work of afterEvent(outcome, event))
      inBackground(work, log, 'could not finish the work after an event');
  };
  // Slack's acknowledgements do not wait for what is read back, or is late already.
  const lateInbox = new Inbox(inboxDeps);
  const backfill = backfillJobs({ deps, inbox: lateInbox, onOutcome: onInboxOutcome });
  for (const kind of [backfill, channelMoveJobs(deps), onlyWhereAnswered(deps, projectNameJobs(deps))])
    jobs.add(kind);
  if (oauth !== undefined) jobs.add(oauth.uninstallationJobs);
  const sharedChannels = new SharedChannels(installations, storage.ackStore);
  const eventIntake = new EventIntake({
    inbox: new Inbox({ ...inboxDeps, store: storage.ackStore }),
    lateInbox,
    workspaceFor: (event) => sharedChannels.workspaceFor(event),
    bot: async (at) => (await installations.find(at))?.bot,
    onUninstallEvent: oauth?.acceptUninstallEvent,
    otherBots: async (at) => (await accessPolicyFor(deps, at)).allowedBots,
    isHuman: async ({ workspace, person }) => {
      const { people } = deps.workspace(workspace) ?? {};
      const late = timeLimit(deps.settings.lookupMs);
      const found = await people?.requirePerson(person, late).catch((cause: unknown) => {
        if (!late.aborted) throw cause;
        const call = { method: 'users.info', slackCode: 'timeout', outcome: 'none', cause } as const;
        throw new SlackUnavailableError(call, 'Slack sends the event again.');
      });
      return found?.isHuman === true;
    },
    onEvent: (id, isEcho) => gapDetector.onEvent(id, isEcho),
    onInboxOutcome,
    onStopTrigger: (trigger) => stopTriggers.handle(trigger),
    onHomeOpened: (opened) => {
      const { tab } = opened;
      const fill = (attempt: number) =>
        tab === 'messages' ? welcome.greet(opened) : home.show({ ...opened, isRepeated: attempt > 1 });
      const work = repeatCall(fill, (error, attempt) =>
        attempt < FILL_ATTEMPTS && transientFailure(error) !== undefined ? backoffMs(attempt) : undefined,
      );
      inBackground(work, log.child({ tab }), 'could not fill what a person opened', 'warn');
    },
    onWorkflowStep: steps.accept,
    onEventHandled: telemetry.onEventHandled,
    onMessageGivenUp: (target) => trySendEphemeral(deps, target, strings.messageGivenUp),
    onEventLost: (thread, since) => deps.store.backfills.addThread(thread, since),
    badThingMs: deps.settings.badThingMs,
    hasWrittenAfter: (at) => gapDetector.lastHeartbeatAt > at,
    log,
  });
  const onConnected = () => gapDetector.heartbeatNow();
  const slackApp = createSlackApp(context, storage, workspaces, { eventIntake, sharedChannels, onConnected });
  return { slackApp, gapDetector, eventIntake };
}

function createSlackApp(
  { config, limits, log, telemetry }: AppContext,
  { store, leaseStore }: Storage,
  { installations, oauth, own }: Workspaces,
  parts: { eventIntake: EventIntake; sharedChannels: SharedChannels; onConnected: () => void },
): SlackApp {
  const { eventIntake, sharedChannels, onConnected } = parts;
  const { SLACK_APP_TOKEN: appToken, SLACK_SIGNING_SECRET: signingSecret = '' } = config;
  const transport: EventTransport =
    appToken === undefined
      ? { kind: 'http', signingSecret }
      : {
          kind: 'socket',
          appToken,
          onConnected,
          socketLease: createSocketLease(
            leaseStore.socketLeases,
            own?.id ?? ANY_WORKSPACE,
            appToken,
            limits.mostSockets,
          ),
        };
  return new SlackApp({
    transport,
    eventIntake,
    authorize: async (_source, body) => {
      const use = parseOrganisationUse(body);
      // Without the database, the listener tells the person so.
      const isAway = (error: unknown) => error instanceof StoreError;
      const used = use && (await sharedChannels.workspaceOfUse(use).catch(valueIf(undefined, isAway)));
      // Where it is used: the listeners read it there.
      if (body !== undefined && used !== undefined) body.team = { id: used };
      const at = body && parseInstallationQuery(body);
      const workspace = at && (await installations.find(at));
      if (workspace === undefined) throw notInstalled();
      // Listeners call Slack through the relay, so Bolt needs no token.
      const { userId: botUserId, botId } = workspace.bot;
      return { botUserId, botId, teamId: workspace.id };
    },
    oauthPages: oauth && {
      clientId: config.SLACK_CLIENT_ID ?? '',
      clientSecret: config.SLACK_CLIENT_SECRET ?? '',
      scopes: REQUIRED_SCOPES,
      publicUrl: config.PUBLIC_URL ?? '',
      slackApiUrl: config.SLACK_API_URL,
      secretKey: config.SECRET_KEY?.[0] ?? '',
      markStateUsed: (state) => store.installations.markStateUsed(state),
      saveInstallation: (granted) => oauth.install(granted),
    },
    slackApiUrl: config.SLACK_API_URL,
    onRequestRejected: telemetry.onRequestRejected,
    log,
  });
}
