import type { Logger } from 'pino';
import { AgentClient } from './agent/client.ts';
import { offersOf } from './agent/dialect.ts';
import type { Config } from './config.ts';
import { listenToChannelSettings } from './listen/channel-settings.ts';
import { type CommandHandlers, listenToCommands, startingHandlers } from './listen/commands.ts';
import { listenToControls, type Telling } from './listen/controls.ts';
import { Intake, type IntakeParts } from './listen/intake.ts';
import { sharingOf } from './listen/sharing.ts';
import { listenToShortcuts, type TellingDirectly } from './listen/shortcuts.ts';
import { SlackApp, type Transport } from './listen/slack-app.ts';
import { listenToStartForm } from './listen/start-modal.ts';
import { listenToSteps } from './listen/steps.ts';
import { CredentialGate } from './operate/credential-gate.ts';
import { type HealthParts, HealthServer } from './operate/health.ts';
import { resultRoute } from './operate/result-route.ts';
import { Watch } from './operate/watch.ts';
import { GapReader } from './relay/arriving/gap-reader.ts';
import { Inbox } from './relay/arriving/inbox.ts';
import { Receiving } from './relay/arriving/receiving.ts';
import { ChannelSettings } from './relay/channels/channel-settings.ts';
import { NameFollowing } from './relay/channels/name-following.ts';
import type { RelayParts } from './relay/context.ts';
import { Afterthoughts } from './relay/controls/afterthoughts.ts';
import { Controls } from './relay/controls/controls.ts';
import { Marks } from './relay/controls/marks.ts';
import { StepsModal } from './relay/controls/steps-modal.ts';
import { Dispatcher } from './relay/dispatcher.ts';
import { ReadRate } from './relay/showing/read-rate.ts';
import { destinationOf, ResultLinks, resultsPath } from './relay/showing/result-links.ts';
import { postLaterResults } from './relay/showing/results.ts';
import { postReviews } from './relay/showing/reviews.ts';
import { ChannelOverview } from './relay/starting/channel-overview.ts';
import { Starting } from './relay/starting/starting.ts';
import { TaskWatch } from './relay/task-watch.ts';
import { TurnRunner } from './relay/turn-runner.ts';
import { Upkeep } from './relay/upkeep.ts';
import { workspaceOf } from './relay/workspaces.ts';
import { type Identity, identify } from './slack/identity.ts';
import type { Database } from './store/database.ts';
import { readFigures } from './store/figures.ts';
import { Lanes } from './store/lanes.ts';
import { openStore } from './store/opening.ts';
import { ThreadQueue } from './store/queue.ts';
import { Store } from './store/store.ts';

/** The service account of the settings. */
const settingsAccount = 'settings';
const mebibyte = 1024 * 1024;

/** The running app. */
export interface TaskthreadApp {
  /** Where /healthz and, with events by HTTP, /slack/events are. */
  readonly port: number;
  readonly workspace: { id: string; name: string };
  readonly store: Store;
  /** Settles when the embedded database is lost: the process should end. */
  readonly lost: Promise<Error>;
  /** Takes no more events, hands the turns over and closes everything. */
  stop(): Promise<void>;
}

/** Parts of the app that can be given to it in place of its own. */
export interface GivenParts {
  /** Asks the tables; called with the app's own database. */
  store?: (db: Database['kysely']) => Store;
}

/** Puts the parts together and starts them. Throws a StoreError or a SlackError that says what to mend. */
export async function startApp(config: Config, log: Logger, given: GivenParts = {}): Promise<TaskthreadApp> {
  const identity = await identify({
    token: config.SLACK_BOT_TOKEN,
    slackApiUrl: config.SLACK_API_URL,
    log,
  });
  const undo: (() => Promise<unknown>)[] = [];
  try {
    return await start(config, log, given, identity, undo);
  } catch (error) {
    for (const step of undo.reverse()) await step();
    throw error;
  }
}

async function start(
  config: Config,
  log: Logger,
  given: GivenParts,
  { installation, name }: Identity,
  undo: (() => Promise<unknown>)[],
): Promise<TaskthreadApp> {
  const { database, embedded } = await openStore(
    { url: config.DATABASE_URL, folder: config.DATA_FOLDER },
    undo,
    log,
  );
  const slackGate = new CredentialGate({ setting: 'SLACK_BOT_TOKEN', log });
  const agentGate = new CredentialGate({ setting: 'AGENT_API_KEY', log });
  const watch = new Watch({
    log,
    origins: { slack: config.SLACK_API_URL, service: config.AGENT_BASE_URL },
    figures: () => readFigures(database.kysely),
    held: () => dispatcher.held,
    refusedCredentials: () =>
      [slackGate, agentGate].flatMap((gate) => (gate.refusedSince === undefined ? [] : [gate.setting])),
  });
  undo.push(async () => watch.close());
  const store = given.store?.(database.kysely) ?? new Store(database.kysely, watch.onStep);
  await store.workspaces.put({
    workspace: installation.workspace,
    name,
    bot_user: installation.botUser,
    bot_id: installation.botId,
  });
  const queue = new ThreadQueue({ database, log });
  undo.push(() => queue.stop());
  await queue.start();
  // Whoever held jobs or connections on the embedded server is dead: its lock is ours.
  if (embedded !== undefined) await Promise.all([queue.reclaimAll(), store.receivers.clear()]);

  const workspace = workspaceOf(installation, {
    slackApiUrl: config.SLACK_API_URL,
    lanes: watch.lanes(new Lanes(database.kysely)),
    distributed: config.SLACK_DISTRIBUTED,
    editsPerMinute: config.SLACK_EDITS_PER_MINUTE,
    fileBytes: config.FILE_LIMIT_MIB * mebibyte,
    gate: slackGate,
    onCall: watch.onCall,
    onEdit: watch.onEdit,
    log,
  });
  const rate = new ReadRate(config.AGENT_READS_PER_SECOND);
  const agent = new AgentClient({
    baseUrl: config.AGENT_BASE_URL,
    apiKey: config.AGENT_API_KEY,
    dialect: config.AGENT_DIALECT,
    allowedHosts: config.PRIVATE_HOSTS,
    gate: agentGate,
    beforeRead: (signal) => rate.open(signal),
    onRateLimited: (pauseMs) => rate.hold(pauseMs),
    onTry: watch.onTry,
    log,
  });
  undo.push(() => agent.close());
  const links = resultLinks(config);
  const parts: RelayParts = {
    store,
    log,
    settings: relaySettings(config, links),
    workspace: (id) => (id === installation.workspace ? workspace : undefined),
    enqueue: (trx, thread) => queue.send(trx, thread),
    agent: () => agent,
  };
  const marks = new Marks(parts);
  const runner = new TurnRunner(parts, marks, () => rate);
  const dispatcher = new Dispatcher({ queue, run: (thread, lease) => runner.run(thread, lease), log });
  const upkeep = new Upkeep({
    store,
    queue,
    marks,
    keep: { words: config.KEEP_WORDS_DAYS, rows: config.KEEP_ROWS_DAYS, audit: config.KEEP_AUDIT_DAYS },
    log,
  });
  const afterthoughts = new Afterthoughts(parts);
  const workspaces = () => [installation.workspace];
  const accountOf = () => settingsAccount;
  const inbox = new Inbox({ store, enqueue: (thread) => queue.sendSoon(thread), accountOf });
  const names = new NameFollowing(parts);
  const channelSettings = new ChannelSettings(parts, { accountOf, onNameDue: () => names.look() });
  const onAdmission: IntakeParts['onAdmission'] = (admission, event) => {
    marks.admitted(admission, event);
    afterthoughts.admitted(admission, event);
    if (admission.kind === 'renamed') names.look();
  };
  const gapReader = new GapReader({ parts, inbox, workspaces, onAdmission });
  const receiving = new Receiving({
    store,
    workspaces,
    alive: () => slackApp.receiving,
    gapMs: config.GAP_MINUTES * 60_000,
    onSign: () => {
      gapReader.look();
      names.look();
    },
    log,
  });
  const intake = new Intake({
    inbox,
    bot: (id) => parts.workspace(id)?.bot,
    onEvent: (id) => receiving.heard(id),
    onAdmission,
    onHeard: watch.onHeard,
    log,
  });
  const tell: Telling = (place, sentence) => marks.tell(place, sentence);
  const starting = new Starting({ ...parts, accountOf: () => settingsAccount });
  const overview = new ChannelOverview(parts);
  const commands: CommandHandlers = {
    ...startingHandlers(starting.forms),
    status: (typed) => overview.running(typed),
    stop: (typed) => overview.running(typed),
    // ---- Handlers of other rooms: the tasks of a channel, and its settings. ----
    tasks: (typed) => overview.tasks(typed),
    settings: (use) => channelSettings.open(use),
    // -----------------------------------------------------------------------------
  };
  const tellDirectly: TellingDirectly = (id, person, sentence) =>
    starting.forms.tellDirectly(id, person, sentence);
  const slackApp = new SlackApp({
    transport: transportOf(config, store, installation.workspace),
    intake,
    listeners: [
      (app) => listenToSteps(app, new StepsModal(parts), tell, log),
      (app) => listenToControls(app, new Controls(parts), tell, log),
      (app) => listenToCommands(app, commands, log),
      (app) => listenToShortcuts(app, starting.forms, { inChannel: tell, directly: tellDirectly }, log),
      (app) => listenToStartForm(app, starting, tell, log),
      (app) => listenToChannelSettings(app, channelSettings, log),
    ],
    authorize: async () => ({
      botToken: installation.token,
      botUserId: installation.botUser,
      botId: installation.botId,
      teamId: installation.workspace,
    }),
    slackApiUrl: config.SLACK_API_URL,
    onLive: () => receiving.sign(),
    log,
  });
  let draining = false;
  const pages = {
    database: async () =>
      database.pool.query('select 1').then(
        () => true,
        () => false,
      ),
    draining: () => draining,
    report: () => ({
      workspace: installation.workspace,
      turns: dispatcher.held,
      slackTokenRefusedSince: slackGate.refusedSince ?? null,
      agentKeyRefusedSince: agentGate.refusedSince ?? null,
      events: slackApp.connections === undefined ? 'http' : 'socket',
      ...(slackApp.connections && { sockets: slackApp.connections }),
      ...watch.report(),
    }),
  };
  const serve = async (at: number, parts: Partial<HealthParts>) => {
    const server = new HealthServer({ fallback: undefined, ...pages, ...parts });
    const taken = await server.start(at, config.HOST);
    undo.push(() => server.stop());
    return taken;
  };
  const { METRICS_PORT } = config;
  const fallback =
    links === undefined
      ? slackApp.requestListener
      : resultRoute(resultsPath, (token) => destinationOf(parts, links, token), slackApp.requestListener);
  const port = await serve(
    config.PORT,
    METRICS_PORT === undefined ? { fallback, metrics: watch.page } : { fallback },
  );
  if (METRICS_PORT !== undefined) await serve(METRICS_PORT, { metrics: watch.page });
  dispatcher.start();
  undo.push(() => dispatcher.stop({ drainMs: config.DRAIN_SECONDS * 1_000 }));
  const taskWatch = new TaskWatch(parts, [postLaterResults, postReviews]);
  taskWatch.start();
  undo.push(() => taskWatch.stop());
  starting.channelStarts.start();
  undo.push(() => starting.channelStarts.stop());
  upkeep.start();
  undo.push(() => upkeep.stop());
  undo.push(() => names.stop());
  undo.push(() => slackApp.stop());
  await slackApp.start();
  undo.push(() => gapReader.stop());
  undo.push(() => receiving.stop());
  receiving.start();
  const events = slackApp.connections === undefined ? 'http' : 'socket';
  log.info({ workspace: installation.workspace, port, events }, 'taskthread is running');
  return {
    port,
    workspace: { id: installation.workspace, name },
    store,
    lost: embedded?.lost ?? new Promise(() => undefined),
    stop: async () => {
      draining = true;
      for (const step of undo.splice(0).reverse()) await step();
    },
  };
}

function transportOf(config: Config, store: Store, workspace: string): Transport {
  const appToken = config.SLACK_APP_TOKEN;
  if (appToken === undefined) return { kind: 'http', signingSecret: config.SLACK_SIGNING_SECRET ?? '' };
  const sharing = sharingOf(store.receivers, { workspace, appToken, most: config.SLACK_SOCKETS });
  return { kind: 'socket', appToken, sharing };
}

/** Links of ours to results, where the settings want them. */
function resultLinks(config: Config): ResultLinks | undefined {
  const { STABLE_LINKS, PUBLIC_URL, SECRET_KEY } = config;
  if (!STABLE_LINKS || PUBLIC_URL === undefined || SECRET_KEY === undefined) return undefined;
  return new ResultLinks({ secretKey: SECRET_KEY, publicUrl: PUBLIC_URL });
}

function relaySettings(config: Config, links: ResultLinks | undefined): RelayParts['settings'] {
  return {
    skill: config.AGENT_SKILL,
    offers: offersOf(config.AGENT_DIALECT),
    transcriptMessages: config.TRANSCRIPT_MESSAGES,
    transcriptCharacters: config.TRANSCRIPT_CHARACTERS,
    files: {
      fileBytes: config.FILE_LIMIT_MIB * mebibyte,
      messageBytes: config.FILES_LIMIT_MIB * mebibyte,
      messageFiles: config.FILES_MOST,
      allowed: config.FILE_TYPES_ALLOWED,
      refused: config.FILE_TYPES_REFUSED,
    },
    results: {
      inlineBytes: config.INLINE_LIMIT_MIB * mebibyte,
      tableBytes: config.TABLE_LIMIT_KIB * 1024,
      watchMs: config.WATCH_MINUTES * 60_000,
      watchEveryMs: config.WATCH_SECONDS * 1_000,
      stableLink: links === undefined ? undefined : (result) => links.make(result),
    },
    backgroundWaitMs: config.BACKGROUND_WAIT_SECONDS * 1_000,
    silenceMs: config.SILENCE_SECONDS * 1_000,
    replyMessages: config.REPLY_MESSAGES,
    controlsBy: config.CONTROLS_BY,
  };
}
