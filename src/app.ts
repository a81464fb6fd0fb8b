import type { Logger } from 'pino';
import {
  installingOf,
  oauthOf,
  ownBounds,
  ownServiceOptions,
  relaySettings,
  resultLinks,
  retentionDays,
  serviceOptions,
  sharedAccount,
  slackOptions,
  transportOf,
} from './app/from-settings.ts';
import { listenersOf } from './app/listeners.ts';
import { Pages } from './app/pages.ts';
import { type Running, repeatable, together } from './app/running.ts';
import type { Config } from './config.ts';
import { Intake, type IntakeParts } from './listen/intake.ts';
import { readWhereabouts } from './listen/press.ts';
import { SlackApp } from './listen/slack-app.ts';
import { CredentialGate } from './operate/credential-gate.ts';
import { Watch } from './operate/watch.ts';
import { AccountHome } from './relay/accounts/account-home.ts';
import { AccountSetting } from './relay/accounts/account-setting.ts';
import { ServiceAccounts } from './relay/accounts/service-accounts.ts';
import { adminSections, type Visitor } from './relay/admins.ts';
import { doorOf } from './relay/admitting/admittance.ts';
import { WorkspaceDoor } from './relay/admitting/workspace-door.ts';
import { GapReader } from './relay/arriving/gap-reader.ts';
import { Inbox } from './relay/arriving/inbox.ts';
import { Receiving } from './relay/arriving/receiving.ts';
import { ChannelSettings } from './relay/channels/channel-settings.ts';
import { NameFollowing } from './relay/channels/name-following.ts';
import type { RelayParts } from './relay/context.ts';
import { Afterthoughts } from './relay/controls/afterthoughts.ts';
import { Hands } from './relay/controls/hands.ts';
import { Marks } from './relay/controls/marks.ts';
import { DirectMessages } from './relay/direct-messages.ts';
import { Dispatcher } from './relay/dispatcher.ts';
import { openInstalled } from './relay/installing/opening.ts';
import { RegistryWatch } from './relay/installing/registry-watch.ts';
import { postLaterResults } from './relay/showing/results.ts';
import { postReviews } from './relay/showing/reviews.ts';
import { Starting } from './relay/starting/starting.ts';
import { TaskWatch } from './relay/task-watch.ts';
import { taskFeature } from './relay/tasks/task-feature.ts';
import { TurnRunner } from './relay/turn-runner.ts';
import { Upkeep } from './relay/upkeep.ts';
import { identify } from './slack/identity.ts';
import { settingsAccount } from './store/accounts.ts';
import type { Database } from './store/database.ts';
import { readFigures } from './store/figures.ts';
import { Keyring } from './store/keyring.ts';
import { Lanes } from './store/lanes.ts';
import { openStore } from './store/opening.ts';
import { ThreadQueue } from './store/queue.ts';
import { Store } from './store/store.ts';

const tokenSetting = 'SLACK_BOT_TOKEN';
const keySetting = 'AGENT_API_KEY';

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
export interface GivenParts {
  /** Asks the tables; called for each of the app's pools. */
  store?: (db: Database['kysely']) => Store;
  /** Hears of secrets that are in no setting, so that no log shows them until the answer is called. */
  onSecret?: (secret: string) => () => void;
}

/** Puts the parts together and starts them. Throws a StoreError or a SlackError that says what to mend. */
export async function startApp(config: Config, log: Logger, given: GivenParts = {}): Promise<TaskthreadApp> {
  const { SLACK_BOT_TOKEN: token, SLACK_API_URL: slackApiUrl } = config;
  const identity = token === undefined ? undefined : await identify({ token, slackApiUrl, log });
  await using undo = new AsyncDisposableStack();

  // The database, and what watches the rest.
  const { database, embedded } = await openStore(
    { url: config.DATABASE_URL, folder: config.DATA_FOLDER },
    undo,
    log,
  );
  const gateOf = (setting: string, workspace?: string) =>
    new CredentialGate({ setting: workspace === undefined ? setting : `${setting} of ${workspace}`, log });
  const watch = new Watch({
    log,
    origins: { slack: config.SLACK_API_URL, service: config.AGENT_BASE_URL },
    figures: () => readFigures(database.kysely),
    held: () => dispatcher.held,
    refusedCredentials: () => [
      ...(installed.refusedSince() === undefined ? [] : [tokenSetting]),
      ...(accounts.refusedSince() === undefined ? [] : [keySetting]),
    ],
    ownRefused: () => ({ token: installed.ownRefused(), key: accounts.ownRefused() }),
  });
  undo.defer(async () => watch.close());
  const storeOn = (db: Database['kysely'], prepared?: Database['prepared']) =>
    given.store?.(db) ?? new Store(db, watch.onStep, prepared);
  const store = storeOn(database.kysely);
  const queue = new ThreadQueue({ database, log });
  undo.defer(() => queue.stop());
  await queue.start();
  // Whoever held jobs or connections on the embedded server is dead: its lock is ours.
  if (embedded !== undefined) await Promise.all([queue.reclaimAll(), store.receivers.clear()]);

  // Slack and the service, as each workspace reaches them.
  const keyring = config.SECRET_KEY && new Keyring(config.SECRET_KEY);
  const onSecret = given.onSecret ?? (() => () => undefined);
  const { installed, tenancy } = await openInstalled({
    store,
    identity,
    oauth: oauthOf(config, keyring),
    calls: {
      ...slackOptions(config),
      lanes: watch.lanes(new Lanes(database.kysely)),
      onCall: watch.onCall,
      onEdit: watch.onEdit,
      log,
    },
    gateOf: (workspace) => gateOf(tokenSetting, workspace),
  });
  const options = { ...serviceOptions(config), onTry: watch.onTry, log };
  const accounts = new ServiceAccounts({
    store,
    keyring,
    shared: sharedAccount(config),
    options,
    own: { ...ownBounds(config), onTry: watch.onOwnTry },
    gateOf: (workspace) => gateOf(keySetting, workspace),
    onSecret,
    log,
  });
  undo.defer(() => accounts.close());
  const registries = new RegistryWatch(
    [...(tenancy === undefined ? [] : [tenancy.installed]), accounts],
    log,
  );

  // Turns, and what they leave.
  const links = resultLinks(config);
  const parts: RelayParts = {
    store,
    log,
    settings: relaySettings(config, links),
    workspace: (id) => installed.workspace(id),
    enqueue: (trx, thread) => queue.send(trx, thread),
    agent: (account) => accounts.agent(account),
    accountOf: (id) => accounts.current(id),
    onTask: (thread, title) => direct.begun(thread, title),
  };
  const direct = new DirectMessages(parts, { isAgent: config.AGENT_SESSIONS });
  const marks = new Marks(parts);
  const runner = new TurnRunner({
    parts,
    marks,
    rateOf: (account) => accounts.rate(account),
    find: (workspace) => installed.find({ workspace }),
    again: (thread) => queue.sendMissing([thread]),
  });
  const hands = new Hands(parts, marks, (turn) => runner.stopAsked(turn));
  const dispatcher = new Dispatcher({ queue, run: (thread, lease) => runner.run(thread, lease), log });
  const upkeep = new Upkeep({ store, queue, marks, keep: retentionDays(config), log });
  const taskWatch = new TaskWatch(parts, [postLaterResults, postReviews]);

  // What people say.
  const afterthoughts = new Afterthoughts(parts);
  const workspaces = () => installed.ids();
  const inbox = new Inbox({
    ...parts,
    store: storeOn(database.prompt, database.prepared),
    enqueue: (at) => queue.sendSoon(at),
    stopSaid: hands.stopSaid,
  });
  const names = new NameFollowing(parts);
  const onAdmission: IntakeParts['onAdmission'] = (admission, event) => {
    marks.admitted(admission, event);
    afterthoughts.admitted(admission, event);
    hands.admitted(admission, event);
    if (admission.kind === 'renamed') names.look();
    direct.admitted(admission, event);
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
    bot: async (at) => (await installed.find(at))?.bot,
    onDeparture: tenancy && ((departure) => tenancy.departures.accept(departure)),
    otherBots: async (at) => (await doorOf(parts, at)).bots,
    onEvent: (id) => receiving.heard(id),
    onAdmission,
    onSign: (sign) => hands.signed(sign),
    onHeard: watch.onHeard,
    log,
  });

  // What people press and set.
  const channelSettings = new ChannelSettings(parts, {
    accountOf: parts.accountOf,
    isShared: (account) => tenancy !== undefined && account === settingsAccount,
    onNameDue: () => names.look(),
  });
  const showHome = (visitor: Visitor) => tasks.home.show({ ...visitor, place: { page: 0, channelPage: 0 } });
  const accountHome = new AccountHome({
    ...parts,
    setting: new AccountSetting({
      ...parts,
      keyring,
      shared: sharedAccount(config) !== undefined,
      options: ownServiceOptions(config),
      onSecret,
      onSet: () => accounts.refresh(),
    }),
    onChanged: showHome,
  });
  const door = new WorkspaceDoor(parts, showHome);
  const tasks = taskFeature(parts, {
    sections: (workspace, person) => adminSections(parts, { workspace, person }, [door, accountHome]),
    openChannelSettings: (request) => channelSettings.open(request),
  });
  const starting = new Starting(parts, (message) => hands.added(message));

  // The ways in.
  const transport = transportOf(config, store, identity?.installation.workspace);
  const slackApp = new SlackApp({
    transport,
    intake,
    listeners: listenersOf(parts, {
      hands,
      accountHome,
      door,
      channelSettings,
      starting,
      tasks,
      direct,
    }),
    authorize: async (_source, body) => {
      const at = body && readWhereabouts(body);
      const authorization = at && (await installed.authorization(at));
      if (authorization === undefined) throw new Error('The app is not installed there.');
      return authorization;
    },
    installing: tenancy && installingOf(config, store, tenancy),
    slackApiUrl: config.SLACK_API_URL,
    onLive: () => receiving.sign(),
    log,
  });
  const pages = new Pages({
    config,
    database,
    installed,
    accounts,
    dispatcher,
    watch,
    slackApp,
    links,
    events: transport.kind,
    relay: parts,
    workspace: identity?.installation.workspace,
  });

  const beside: Running[] = [
    hands,
    taskWatch,
    starting.channelStarts,
    tasks.deletion,
    tasks.files,
    upkeep,
    names,
    slackApp,
    gapReader,
    receiving,
  ];
  const works = together([
    ...(tenancy === undefined ? [] : [tenancy.rotation]),
    {
      start: () => dispatcher.start(),
      stop: () => dispatcher.stop({ drainMs: config.DRAIN_SECONDS * 1_000 }),
    },
    ...beside.map((part) => repeatable(part, log)),
  ]);

  // It stops the other way round.
  for (const part of [registries, pages, works]) {
    undo.defer(() => part.stop());
    await part.start?.();
  }

  const { port } = pages;
  log.info({ workspaces: installed.ids().length, port, events: transport.kind }, 'taskthread is running');
  const all = undo.move();
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
