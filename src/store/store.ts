import type { Kysely, Transaction } from 'kysely';
import { AuditTrail } from './audit-trail.ts';
import { Channels, Projects } from './channels-and-projects.ts';
import { PersonErasure } from './erasure/person-erasure.ts';
import { Retention } from './erasure/retention.ts';
import { WorkspaceErasure } from './erasure/workspace-erasure.ts';
import { FeedbackRatings } from './feedback-ratings.ts';
import { KeptFiles } from './files/kept-files.ts';
import { PostedResults } from './files/posted-results.ts';
import { ServiceUploads } from './files/uploads.ts';
import { Jobs } from './jobs/jobs.ts';
import { Queries } from './queries.ts';
import type { Tables } from './schema.ts';
import { Backfills } from './slack/backfills.ts';
import { SocketLeases } from './slack/socket-leases.ts';
import { TaskStarts } from './tasks/task-starts.ts';
import { TaskDeletions, TaskRecords } from './tasks/tasks.ts';
import { InboxWriter, OrphanReplyIds, PendingEdits } from './threads/inbox.ts';
import { Messages } from './threads/messages.ts';
import { PersonWaits } from './threads/person-waits.ts';
import { Posts } from './threads/posts.ts';
import { RegistryAnswers } from './threads/registry-answers.ts';
import { PausedThreads, StopRequests } from './threads/stops.ts';
import { Threads } from './threads/threads.ts';
import type { OnStep } from './threads/turn-steps.ts';
import { TurnUsage } from './threads/turn-usage.ts';
import { Turns } from './threads/turns.ts';
import { Usage } from './usage-by-month.ts';
import { Accounts } from './workspaces/accounts.ts';
import { EncryptedTexts, type Keyring } from './workspaces/encryption.ts';
import { Installations, Workspaces } from './workspaces/installations.ts';
import { SettingsStore } from './workspaces/settings-store.ts';

/** All queries, on one connection pool or inside one transaction. */
export class Store extends Queries {
  readonly accounts = new Accounts(this.db);
  readonly turnUsage = new TurnUsage(this.db);
  readonly backfills = new Backfills(this.db);
  readonly audit = new AuditTrail(this.db);
  readonly channels = new Channels(this.db);
  readonly encryptedTexts = new EncryptedTexts(this.db);
  readonly feedback = new FeedbackRatings(this.db);
  readonly pausedThreads = new PausedThreads(this.db);
  readonly installations = new Installations(this.db);
  readonly jobs = new Jobs(this.db);
  readonly keptFiles = new KeptFiles(this.db);
  readonly messages = new Messages(this.db);
  readonly pendingEdits = new PendingEdits(this.db);
  readonly personErasure = new PersonErasure(this.db);
  readonly workspaceErasure = new WorkspaceErasure(this.db);
  readonly personWaits = new PersonWaits(this.db);
  readonly posts = new Posts(this.db);
  readonly projects = new Projects(this.db);
  readonly settings: SettingsStore;
  readonly socketLeases = new SocketLeases(this.db);
  readonly results = new PostedResults(this.db);
  readonly retention = new Retention(this.db);
  readonly registryAnswers = new RegistryAnswers(this.db);
  readonly taskStarts = new TaskStarts(this.db);
  readonly stopRequests = new StopRequests(this.db);
  readonly orphanReplies = new OrphanReplyIds(this.db);
  readonly taskDeletions = new TaskDeletions(this.db);
  readonly tasks = new TaskRecords(this.db);
  readonly threads = new Threads(this.db);
  readonly turns: Turns;
  readonly usage = new Usage(this.db);
  readonly uploads = new ServiceUploads(this.db);
  readonly workspaces = new Workspaces(this.db);
  readonly inbox = new InboxWriter(this.db);
  readonly #onStep: OnStep | undefined;
  readonly #keyring: Keyring | undefined;

  /** `onStep` is called for every recorded step of a turn, for logs and metrics; `keyring` encrypts the texts of settings. */
  constructor(db: Kysely<Tables>, onStep?: OnStep, keyring?: Keyring) {
    super(db);
    this.turns = new Turns(db, onStep);
    this.settings = new SettingsStore(db, keyring);
    this.#onStep = onStep;
    this.#keyring = keyring;
  }

  /** Runs `work` in one transaction, which an error rolls back. */
  async transaction<T>(work: (store: Store) => Promise<T>): Promise<T> {
    return this.db.transaction().execute((trx) => work(this.within(trx)));
  }

  /** The same queries inside a transaction. */
  protected within(trx: Transaction<Tables>): Store {
    return new Store(trx, this.#onStep, this.#keyring);
  }
}
