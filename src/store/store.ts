import type { Kysely, Transaction } from 'kysely';
import { Accounts } from './accounts.ts';
import { InboxWriter } from './admissions.ts';
import { TurnUsage } from './allowances.ts';
import { AuditTrail } from './audit.ts';
import { BackfillQueue } from './catch-ups.ts';
import { RunningTurns } from './channel-tasks.ts';
import { ChannelSettingsStore } from './channels.ts';
import type { PreparedQuery } from './database.ts';
import { FeedbackRatings } from './feedback.ts';
import { PausedThreads } from './holds.ts';
import { Installations } from './installations.ts';
import { IntroductionNotices } from './introductions.ts';
import { Messages } from './messages.ts';
import { Erasure } from './oblivion.ts';
import { Posts } from './posts.ts';
import { ProjectNames } from './project-names.ts';
import { Projects } from './projects.ts';
import { SocketLeases } from './receivers.ts';
import { PostedResults } from './results.ts';
import { Retention } from './retention.ts';
import { PostedReviews } from './reviews.ts';
import { SlackFiles } from './slack-files.ts';
import { TaskStarts } from './starts.ts';
import { StopRequests } from './stops.ts';
import { OrphanReplyIds } from './strays.ts';
import type { Tables } from './tables.ts';
import { TaskDeletions } from './task-deletions.ts';
import { TaskRecords } from './tasks.ts';
import { Threads } from './threads.ts';
import { OneTimeNotices } from './told-once.ts';
import type { OnStep } from './turn-steps.ts';
import { Turns } from './turns.ts';
import { ServiceUploads } from './uploads.ts';
import { FollowUpSchedule } from './watches.ts';
import { WorkspaceSettingsStore } from './workspace-settings.ts';
import { Workspaces } from './workspaces.ts';

/** Every table's questions on one connection pool, or inside one transaction. */
export class Store {
  readonly db: Kysely<Tables>;
  readonly inbox: InboxWriter;
  readonly accounts: Accounts;
  readonly turnUsage: TurnUsage;
  readonly backfills: BackfillQueue;
  readonly audit: AuditTrail;
  readonly channelSettings: ChannelSettingsStore;
  readonly runningTurns: RunningTurns;
  readonly feedback: FeedbackRatings;
  readonly pausedThreads: PausedThreads;
  readonly introductionNotices: IntroductionNotices;
  readonly installations: Installations;
  readonly messages: Messages;
  readonly erasure: Erasure;
  readonly posts: Posts;
  readonly projectNames: ProjectNames;
  readonly projects: Projects;
  readonly socketLeases: SocketLeases;
  readonly results: PostedResults;
  readonly retention: Retention;
  readonly reviews: PostedReviews;
  readonly slackFiles: SlackFiles;
  readonly taskStarts: TaskStarts;
  readonly stopRequests: StopRequests;
  readonly orphanReplies: OrphanReplyIds;
  readonly taskDeletions: TaskDeletions;
  readonly tasks: TaskRecords;
  readonly threads: Threads;
  readonly oneTimeNotices: OneTimeNotices;
  readonly turns: Turns;
  readonly uploads: ServiceUploads;
  readonly followUps: FollowUpSchedule;
  readonly workspaces: Workspaces;
  readonly workspaceSettings: WorkspaceSettingsStore;
  readonly #onStep: OnStep | undefined;

  /** `onStep` hears of every step of a turn that is recorded, for logs and figures. */
  constructor(db: Kysely<Tables>, onStep?: OnStep, prepared?: PreparedQuery) {
    this.#onStep = onStep;
    this.db = db;
    this.inbox = new InboxWriter(db, prepared);
    this.accounts = new Accounts(db);
    this.turnUsage = new TurnUsage(db);
    this.backfills = new BackfillQueue(db);
    this.audit = new AuditTrail(db);
    this.channelSettings = new ChannelSettingsStore(db);
    this.runningTurns = new RunningTurns(db);
    this.feedback = new FeedbackRatings(db);
    this.pausedThreads = new PausedThreads(db);
    this.introductionNotices = new IntroductionNotices(db);
    this.installations = new Installations(db);
    this.messages = new Messages(db);
    this.erasure = new Erasure(db);
    this.posts = new Posts(db);
    this.projectNames = new ProjectNames(db);
    this.projects = new Projects(db);
    this.socketLeases = new SocketLeases(db);
    this.results = new PostedResults(db);
    this.retention = new Retention(db);
    this.reviews = new PostedReviews(db);
    this.slackFiles = new SlackFiles(db);
    this.taskStarts = new TaskStarts(db);
    this.stopRequests = new StopRequests(db);
    this.orphanReplies = new OrphanReplyIds(db);
    this.taskDeletions = new TaskDeletions(db);
    this.tasks = new TaskRecords(db);
    this.threads = new Threads(db);
    this.oneTimeNotices = new OneTimeNotices(db);
    this.turns = new Turns(db, onStep);
    this.uploads = new ServiceUploads(db);
    this.followUps = new FollowUpSchedule(db);
    this.workspaces = new Workspaces(db);
    this.workspaceSettings = new WorkspaceSettingsStore(db);
  }

  /** Runs `work` in one transaction; a throw rolls it back. */
  async transaction<T>(work: (store: Store, trx: Transaction<Tables>) => Promise<T>): Promise<T> {
    return this.db.transaction().execute((trx) => work(this.within(trx), trx));
  }

  /** The same questions inside a transaction. */
  protected within(trx: Transaction<Tables>): Store {
    return new Store(trx, this.#onStep);
  }
}
