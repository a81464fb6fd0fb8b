import type { Kysely, Transaction } from 'kysely';
import { Accounts } from './accounts.ts';
import { Admissions } from './admissions.ts';
import { Allowances } from './allowances.ts';
import { Audit } from './audit.ts';
import { CatchUps } from './catch-ups.ts';
import { ChannelTasks } from './channel-tasks.ts';
import { Channels } from './channels.ts';
import type { Prepared } from './database.ts';
import { Feedback } from './feedback.ts';
import { Holds } from './holds.ts';
import { Installations } from './installations.ts';
import { Introductions } from './introductions.ts';
import { Messages } from './messages.ts';
import { Oblivion } from './oblivion.ts';
import { Posts } from './posts.ts';
import { ProjectNames } from './project-names.ts';
import { Projects } from './projects.ts';
import { Receivers } from './receivers.ts';
import { Results } from './results.ts';
import { Retention } from './retention.ts';
import { Reviews } from './reviews.ts';
import { SlackFiles } from './slack-files.ts';
import { Starts } from './starts.ts';
import { Stops } from './stops.ts';
import { Strays } from './strays.ts';
import type { Tables } from './tables.ts';
import { TaskDeletions } from './task-deletions.ts';
import { Tasks } from './tasks.ts';
import { Threads } from './threads.ts';
import { ToldOnce } from './told-once.ts';
import type { OnStep } from './turn-steps.ts';
import { Turns } from './turns.ts';
import { Uploads } from './uploads.ts';
import { Watches } from './watches.ts';
import { WorkspaceSettingsRows } from './workspace-settings.ts';
import { Workspaces } from './workspaces.ts';

/** Every table's questions on one connection pool, or inside one transaction. */
export class Store {
  readonly db: Kysely<Tables>;
  readonly admissions: Admissions;
  readonly accounts: Accounts;
  readonly allowances: Allowances;
  readonly catchUps: CatchUps;
  readonly audit: Audit;
  readonly channels: Channels;
  readonly channelTasks: ChannelTasks;
  readonly feedback: Feedback;
  readonly holds: Holds;
  readonly introductions: Introductions;
  readonly installations: Installations;
  readonly messages: Messages;
  readonly oblivion: Oblivion;
  readonly posts: Posts;
  readonly projectNames: ProjectNames;
  readonly projects: Projects;
  readonly receivers: Receivers;
  readonly results: Results;
  readonly retention: Retention;
  readonly reviews: Reviews;
  readonly slackFiles: SlackFiles;
  readonly starts: Starts;
  readonly stops: Stops;
  readonly strays: Strays;
  readonly taskDeletions: TaskDeletions;
  readonly tasks: Tasks;
  readonly threads: Threads;
  readonly toldOnce: ToldOnce;
  readonly turns: Turns;
  readonly uploads: Uploads;
  readonly watches: Watches;
  readonly workspaces: Workspaces;
  readonly workspaceSettings: WorkspaceSettingsRows;
  readonly #onStep: OnStep | undefined;

  /** `onStep` hears of every step of a turn that is recorded, for logs and figures. */
  constructor(db: Kysely<Tables>, onStep?: OnStep, prepared?: Prepared) {
    this.#onStep = onStep;
    this.db = db;
    this.admissions = new Admissions(db, prepared);
    this.accounts = new Accounts(db);
    this.allowances = new Allowances(db);
    this.catchUps = new CatchUps(db);
    this.audit = new Audit(db);
    this.channels = new Channels(db);
    this.channelTasks = new ChannelTasks(db);
    this.feedback = new Feedback(db);
    this.holds = new Holds(db);
    this.introductions = new Introductions(db);
    this.installations = new Installations(db);
    this.messages = new Messages(db);
    this.oblivion = new Oblivion(db);
    this.posts = new Posts(db);
    this.projectNames = new ProjectNames(db);
    this.projects = new Projects(db);
    this.receivers = new Receivers(db);
    this.results = new Results(db);
    this.retention = new Retention(db);
    this.reviews = new Reviews(db);
    this.slackFiles = new SlackFiles(db);
    this.starts = new Starts(db);
    this.stops = new Stops(db);
    this.strays = new Strays(db);
    this.taskDeletions = new TaskDeletions(db);
    this.tasks = new Tasks(db);
    this.threads = new Threads(db);
    this.toldOnce = new ToldOnce(db);
    this.turns = new Turns(db, onStep);
    this.uploads = new Uploads(db);
    this.watches = new Watches(db);
    this.workspaces = new Workspaces(db);
    this.workspaceSettings = new WorkspaceSettingsRows(db);
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
