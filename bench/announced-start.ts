import type { App } from '@slack/bolt';

/** Starts a Bolt app on a free port, and prints that in the same log line as the bot. */
export async function startAndAnnounce(app: App): Promise<void> {
  const server = await app.start(0);
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  console.log(JSON.stringify({ msg: 'taskthread is running', port }));
}
