import { App, HTTPReceiver, LogLevel } from '@slack/bolt';
import pg from 'pg';
import { z } from 'zod';
import { startAndAnnounce } from './announced-start.ts';

/**
 * The least that answers a mention: bare Bolt that makes a turn's calls to Slack and the service, and writes one row. It
 * repeats nothing, survives nothing and shows no progress. Prints its port in the same log line as the bot.
 */
const env = z
  .object({
    DATABASE_URL: z.string(),
    SLACK_API_URL: z.string(),
    SLACK_BOT_TOKEN: z.string(),
    SLACK_SIGNING_SECRET: z.string(),
    AGENT_BASE_URL: z.string(),
    AGENT_API_KEY: z.string(),
  })
  .parse(process.env);
const pool = new pg.Pool({ connectionString: env.DATABASE_URL, max: 10 });
await pool.query('create table if not exists bare (ts text primary key, body jsonb)');

const idSchema = z.looseObject({ id: z.string() });
const sentSchema = z.looseObject({ assistant_message: idSchema });
const messageSchema = z.looseObject({
  status: z.string(),
  content: z.array(z.looseObject({ text: z.string().optional() })),
});

async function call<Schema extends z.ZodType>(
  schema: Schema,
  path: string,
  body?: object,
): Promise<z.infer<Schema>> {
  const answer = await fetch(`${env.AGENT_BASE_URL}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${env.AGENT_API_KEY}`, 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  });
  return schema.parse(await answer.json());
}

const receiver = new HTTPReceiver({
  signingSecret: env.SLACK_SIGNING_SECRET,
  logLevel: LogLevel.ERROR,
});
const app = new App({
  receiver,
  clientOptions: { slackApiUrl: env.SLACK_API_URL },
  authorize: async () => ({ botToken: env.SLACK_BOT_TOKEN }),
  logLevel: LogLevel.ERROR,
});

const project = await call(idSchema, '/projects', { title: 'bare' });

app.event('app_mention', async ({ event, client }) => {
  await pool.query('insert into bare values ($1, $2)', [event.ts, JSON.stringify(event)]);
  const { channel, ts: thread_ts } = event;
  const text = 'Got it, getting started…';
  const plain = { type: 'plain_text' as const, text, emoji: false };
  const stop = {
    type: 'button' as const,
    action_id: 'stop',
    text: { ...plain, text: 'Stop' },
    value: event.ts,
  };
  const blocks = [
    { type: 'context' as const, elements: [plain] },
    { type: 'actions' as const, elements: [stop] },
  ];
  const reply = await client.chat.postMessage({ channel, thread_ts, text, blocks });
  const question = event.text.replace(/<[^>]+>\s*/, '');
  const task = await call(idSchema, '/experimental/tasks', { project_id: project.id, title: question });
  const path = `/experimental/tasks/${task.id}`;
  const { assistant_message: sent } = await call(sentSchema, `${path}/messages`, { content: question });
  let answer: z.infer<typeof messageSchema>;
  do answer = await call(messageSchema, `${path}/messages/${sent.id}`);
  while (answer.status !== 'completed');
  await call(idSchema, path);
  await call(z.unknown(), `${path}/messages?after_id=${sent.id}`);
  await call(z.unknown(), `${path}/results?limit=100`);
  const markdown = answer.content.map((block) => block.text ?? '').join('');
  await client.chat.update({
    channel,
    ts: reply.ts ?? '',
    text: markdown,
    blocks: [{ type: 'markdown', text: markdown }],
  });
});
await startAndAnnounce(app);
