import bolt from '@slack/bolt';

const silent = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  setLevel() {},
  getLevel: () => 'error',
  setName() {},
};

/**
 * A Bolt app that answers with `sayStream`, as Slack's samples do. `bufferSize` is a setting of WebClient (default 256
 * characters). Returns a function that stops the app.
 */
export async function start({ slack: { botToken, appToken, apiUrl }, answer, bufferSize }) {
  const app = new bolt.App({
    token: botToken,
    appToken,
    socketMode: true,
    clientOptions: { slackApiUrl: apiUrl },
    logger: silent,
  });
  app.event('app_mention', async ({ event, sayStream }) => {
    const stream = sayStream(bufferSize === undefined ? {} : { buffer_size: bufferSize });
    for await (const text of answer(event.text)) await stream.append({ markdown_text: text });
    await stream.stop();
  });
  app.error(async () => {});
  await app.start();
  return () => app.stop();
}
