import pg from 'pg';
import { z } from 'zod';
import type { EmbeddedServer } from '../../src/postgres/embedded-server.ts';
import { findRunningServer } from '../../src/postgres/running-server.ts';

/** How to reach a database server. */
export type DatabaseConnection = EmbeddedServer['connection'];

const openTurnSchema = z.object({
  /** Whether the bot's first reply is in the thread. */
  hasReply: z.boolean(),
  hasProject: z.boolean(),
  hasTask: z.boolean(),
  hasFiles: z.boolean(),
  hasContent: z.boolean(),
  hasSendIntent: z.boolean(),
  userMessageId: z.string().nullable(),
  assistantMessageId: z.string().nullable(),
  isSettled: z.boolean(),
});
const messageRowSchema = z.object({
  channel: z.string(),
  ts: z.string(),
  thread_ts: z.string(),
  state: z.string(),
});
const turnRowSchema = z.object({
  id: z.string(),
  channel: z.string(),
  thread_ts: z.string(),
  ts: z.string(),
  userMessageId: z.string().nullable(),
  finished: z.boolean(),
  outcome: z.string().nullable(),
});

/** The state of an unfinished turn, from its rows. */
export type OpenTurn = z.infer<typeof openTurnSchema>;
export type MessageRow = z.infer<typeof messageRowSchema>;
export type TurnRow = z.infer<typeof turnRowSchema>;

const OPEN_TURNS_SQL = `
  select turn.first_visible_at is not null
      or exists (select from posts where posts.turn_id = turn.id and posts.state = 'posted') as "hasReply",
    exists (select from projects where projects.channel = turn.channel and projects.project_id is not null)
      as "hasProject",
    thread.task_id is not null as "hasTask",
    jsonb_array_length(coalesce(message.content -> 'files', '[]')) > 0 as "hasFiles",
    turn.prompt is not null as "hasContent",
    turn.send_intended_at is not null as "hasSendIntent",
    turn.user_message_id as "userMessageId",
    turn.assistant_message_id as "assistantMessageId",
    turn.settled_at is not null as "isSettled"
  from turns turn
    join threads thread using (workspace, channel, thread_ts)
    join messages message
      on message.workspace = turn.workspace and message.channel = turn.channel and message.ts = turn.message_ts
  where turn.finished_at is null`;

/** Reads the bot's tables from outside, over its own connection. */
export class BotDatabase {
  readonly #client: pg.Client;
  #lost = false;

  private constructor(client: pg.Client) {
    this.#client = client;
    client.on('error', () => {
      this.#lost = true;
    });
  }

  static async open(connection: DatabaseConnection): Promise<BotDatabase> {
    const client = new pg.Client({ ...connection, connectionTimeoutMillis: 5_000 });
    const database = new BotDatabase(client);
    await client.connect();
    return database;
  }

  /** Whether the connection is lost. */
  get isLost(): boolean {
    return this.#lost;
  }

  async openTurns(): Promise<OpenTurn[]> {
    return this.#rows(openTurnSchema, OPEN_TURNS_SQL);
  }

  async waitingMessages(): Promise<MessageRow[]> {
    const sql = `select channel, ts::text, thread_ts::text, state from messages where state = 'waiting'`;
    return this.#rows(messageRowSchema, sql);
  }

  /** The turns, once for each message that goes with one, in the order of these. */
  async turns(): Promise<TurnRow[]> {
    return this.#rows(
      turnRowSchema,
      `select turn.id::text, turn.channel, turn.thread_ts::text, coalesce(message.ts, message_ts)::text as ts,
         user_message_id as "userMessageId", finished_at is not null as finished, outcome
       from turns turn
         left join messages message on message.workspace = turn.workspace and message.channel = turn.channel
           and coalesce(message.sent_with_ts, message.ts) = turn.message_ts
       order by message.ts`,
    );
  }

  /** The number of unfinished messages, turns, reminders, checks of sources and places to read back, without those of some channels. */
  async unfinished(exceptChannels: readonly string[] = []): Promise<number> {
    const sql = `select (select count(*) from messages where state in ('waiting', 'sending') and channel <> all($1))
      + (select count(*) from turns where finished_at is null and channel <> all($1))
      + (select count(*) from jobs where kind in ('reminder', 'source_check', 'backfill') and done_at is null and channel <> all($1)) as count`;
    const [row] = await this.#rows(z.object({ count: z.coerce.number() }), sql, [exceptChannels]);
    return row?.count ?? Number.NaN;
  }

  /** The attempts at jobs that a process of the bot holds. */
  async heldJobs(pid: number): Promise<string[]> {
    const sql = `select claim_id::text as held from jobs join processes on holder = processes.id
      where kind = 'turn' and pid = $1`;
    return (await this.#rows(z.object({ held: z.string() }), sql, [pid])).map(({ held }) => held);
  }

  /** How many of these attempts still keep others from the job. */
  async countHeld(attempts: readonly string[]): Promise<number> {
    const sql = 'select count(*) from jobs where claim_id = any($1::uuid[])';
    const [row] = await this.#rows(z.object({ count: z.coerce.number() }), sql, [attempts]);
    return row?.count ?? Number.NaN;
  }

  async close(): Promise<void> {
    await this.#client.end().catch(() => undefined);
  }

  async #rows<Row>(schema: z.ZodType<Row>, sql: string, values: unknown[] = []): Promise<Row[]> {
    return z.array(schema).parse((await this.#client.query(sql, values)).rows);
  }
}

/** The connection to the embedded server of a bot with this data folder. */
export async function embeddedConnection(dataFolder: string): Promise<DatabaseConnection> {
  const connection = await findRunningServer(dataFolder);
  if (connection === undefined) throw new Error(`no database server runs on ${dataFolder}`);
  return connection;
}
