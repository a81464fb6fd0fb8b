import { App, HTTPReceiver, LogLevel } from '@slack/bolt';
import pg from 'pg';
import { startAndAnnounce } from './announced-start.ts';

/**
 * The least that an app must do to lose no event: bare Bolt that commits one row before it acknowledges.
 * Prints its port in the same log line as the bot.
 */
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL ?? '', max: 10 });
await pool.query('create table if not exists floor (event_id text primary key, body jsonb)');

class BaselineApp extends App {
  override async processEvent(...[event]: Parameters<App['processEvent']>): Promise<void> {
    const { event_id: id } = event.body;
    await pool.query('insert into floor values ($1, $2) on conflict do nothing', [
      id,
      JSON.stringify(event.body),
    ]);
    await event.ack();
  }
}

const receiver = new HTTPReceiver({
  signingSecret: process.env.SLACK_SIGNING_SECRET ?? '',
  processBeforeResponse: true,
  logLevel: LogLevel.ERROR,
});
const app = new BaselineApp({
  receiver,
  authorize: async () => ({}),
  processBeforeResponse: true,
  logLevel: LogLevel.ERROR,
});
await startAndAnnounce(app);
