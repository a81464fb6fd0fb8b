import type { Kysely, Transaction } from 'kysely';
import { AuditTrail } from './audit/audit-trail.ts';
import { Erasure } from './audit/erasure.ts';
import { FeedbackRatings } from './audit/feedback-ratings.ts';
import { OneTimeNotices } from './audit/one-time-notices.ts';
import { Retention } from './audit/retention.ts';
import type { PreparedQuery } from './database.ts';
import { PostedResults } from './files/posted-results.ts';
import { PostedReviews } from './files/posted-reviews.ts';
import { ServiceUploads } from './files/service-uploads.ts';
import { SlackFiles } from './files/slack-files.ts';
import { ChannelSettingsStore } from './projects/channel-settings-store.ts';
import { ProjectNames } from './projects/project-names.ts';
import { Projects } from './projects/projects.ts';
import type { Tables } from './schema.ts';
import { BackfillQueue } from './slack/backfill-queue.ts';
import { SocketLeases } from './slack/socket-leases.ts';
import { FollowUpSchedule } from './tasks/follow-up-schedule.ts';
import { RunningTurns } from './tasks/running-turns.ts';
import { TaskDeletions } from './tasks/task-deletions.ts';
import { TaskRecords } from './tasks/task-records.ts';
import { TaskStarts } from './tasks/task-starts.ts';
import { EarlyEdits } from './threads/early-edits.ts';
import { InboxWriter } from './threads/inbox-writer.ts';
import { Messages } from './threads/messages.ts';
import { OrphanReplyIds } from './threads/orphan-reply-ids.ts';
import { PausedThreads } from './threads/paused-threads.ts';
import { Posts } from './threads/posts.ts';
import { StopRequests } from './threads/recorded-stops.ts';
import { Threads } from './threads/threads.ts';
import type { OnStep } from './threads/turn-steps.ts';
import { TurnUsage } from './threads/turn-usage.ts';
import { Turns } from './threads/turns.ts';
import { Accounts } from './workspaces/accounts.ts';
import { Installations } from './workspaces/installations.ts';
import { OAuthStates } from './workspaces/oauth-states.ts';
import { WorkspaceSettingsStore } from './workspaces/workspace-settings-store.ts';
import { Workspaces } from './workspaces/workspaces.ts';

/** All queries, on one connection pool or inside one transaction. */
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
  readonly installations: Installations;
  readonly messages: Messages;
  readonly earlyEdits: EarlyEdits;
  readonly oauthStates: OAuthStates;
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

  /** `onStep` is called for every recorded step of a turn, for logs and metrics. */
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
    this.installations = new Installations(db);
    this.messages = new Messages(db);
    this.earlyEdits = new EarlyEdits(db);
    this.oauthStates = new OAuthStates(db);
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

  /** Runs `work` in one transaction, which an error rolls back. */
  async transaction<T>(work: (store: Store, trx: Transaction<Tables>) => Promise<T>): Promise<T> {
    return this.db.transaction().execute((trx) => work(this.within(trx), trx));
  }

  /** The same queries inside a transaction. */
  protected within(trx: Transaction<Tables>): Store {
    return new Store(trx, this.#onStep);
  }
}
