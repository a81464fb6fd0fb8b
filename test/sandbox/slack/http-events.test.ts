import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { httpApp, until, workspaceWithBot } from '../../support/slack-workspace-fixture.ts';

/** A server that answers events with `answer` and notes the headers of what it got after the challenge. */
async function server(answer: RequestListener): Promise<{ url: string; headers: IncomingHttpHeaders[] }> {
  const headers: IncomingHttpHeaders[] = [];
  const http = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      const said: { type?: string; challenge?: string } = JSON.parse(body);
      if (said.type === 'url_verification') {
        response.end(said.challenge);
        return;
      }
      headers.push(request.headers);
      answer(request, response);
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  const address = http.address();
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`, headers };
}

describe('events over HTTP', () => {
  test('a Bolt app accepts the signature and gets events, buttons and commands', async () => {
    const { slack, ann, channel } = await workspaceWithBot();
    const { app, url } = await httpApp(slack);
    const heard: string[] = [];
    app.event('app_mention', async ({ event, client }) => {
      heard.push(event.text);
      await client.chat.postMessage({
        channel: event.channel,
        text: 'hi',
        blocks: [
          {
            type: 'actions',
            elements: [{ type: 'button', action_id: 'go', text: { type: 'plain_text', text: 'Go' } }],
          },
        ],
      });
    });
    app.action('go', async ({ ack, respond }) => {
      await ack();
      await respond({ text: 'pressed', replace_original: false });
    });
    app.command('/agent', async ({ ack, command }) => {
      await ack(`you said ${command.text}`);
    });
    await slack.useHttp({ eventsUrl: url });
    slack.say({ person: ann, channel, text: '@taskthread hello' });
    await slack.settled();
    await until(() => slack.messages(channel).length === 2);
    expect(heard).toEqual([`<@${slack.bot.userId}> hello`]);
    const ts = slack.messages(channel)[1]?.ts ?? '';
    expect((await slack.click({ person: ann, channel, ts, actionId: 'go' })).acked).toBe(true);
    await until(() => slack.ephemerals(ann, channel).length === 1);
    await slack.command({ person: ann, channel, command: '/agent', text: 'status for @ann' });
    expect(slack.ephemerals(ann, channel).map((one) => one.text)).toEqual([
      'pressed',
      'you said status for @ann',
    ]);
  });

  test('an address that does not give the challenge back is not taken', async () => {
    const { slack } = await workspaceWithBot();
    await expect(slack.useHttp({ eventsUrl: `${slack.url}/nowhere` })).rejects.toThrow('challenge');
  });

  test('an answer that is not 2xx is tried again three times, with number and reason', async () => {
    const { slack, ann, channel } = await workspaceWithBot();
    const { url, headers } = await server((_request, response) => response.writeHead(500).end());
    await slack.useHttp({ eventsUrl: url });
    slack.say({ person: ann, channel, text: 'x' });
    await slack.settled();
    const retries = headers.map((one) => [one['x-slack-retry-num'], one['x-slack-retry-reason']]);
    expect(retries).toEqual([
      [undefined, undefined],
      ['1', 'http_error'],
      ['2', 'http_error'],
      ['3', 'http_error'],
    ]);
    expect(slack.deliveryStats).toMatchObject({ lost: 1, retries: 3 });
  });

  test('a late answer is a time-out', async () => {
    const { slack, ann, channel } = await workspaceWithBot({ ackTimeoutMs: 2_000 });
    let late = true;
    const { url, headers } = await server((_request, response) => {
      if (!late) response.end();
      late = false;
    });
    await slack.useHttp({ eventsUrl: url });
    slack.say({ person: ann, channel, text: 'x' });
    await slack.settled();
    expect(headers.map((one) => one['x-slack-retry-reason'])).toEqual([undefined, 'http_timeout']);
    expect(slack.deliveryStats.acked).toBe(1);
  });

  test('a workspace that goes deaf loses its events without a retry, until that ends', async () => {
    const { slack, ann, channel } = await workspaceWithBot();
    const { url, headers } = await server((_, response) => response.end());
    await slack.useHttp({ eventsUrl: url });
    const hearAgain = slack.goDeaf();
    slack.say({ person: ann, channel, text: 'lost' });
    await slack.settled();
    expect(headers).toEqual([]);
    hearAgain();
    slack.say({ person: ann, channel, text: 'heard' });
    await slack.settled();
    expect(headers).toHaveLength(1);
    expect(slack.deliveryStats).toMatchObject({ lost: 1, retries: 0 });
  });

  test('x-slack-no-retry stops the retries', async () => {
    const { slack, ann, channel } = await workspaceWithBot();
    const { url, headers } = await server((_request, response) => {
      response.writeHead(500, { 'x-slack-no-retry': '1' }).end();
    });
    await slack.useHttp({ eventsUrl: url });
    slack.say({ person: ann, channel, text: 'x' });
    await slack.settled();
    expect(headers).toHaveLength(1);
  });
});
