import { createServer } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listenLocally } from '../../../sandbox/local-server.ts';
import { NetworkProxy } from '../../../sandbox/network-proxy.ts';
import { useProxy } from '../../../src/calls/outbound-proxy.ts';
import { openAppScene } from '../../support/app-scene.ts';
import { withinMs } from '../../support/busy-machine.ts';

/** Where a connection dies in silence, the next call is there in this time (ms). */
const BACK_MS = 10_000;
/** A moment after which no call from before is still on its way. */
const ON_THE_WAY_MS = 100;

type WhenDone = typeof onTestFinished;

/** A scene over TLS in which the paths to Slack, the service and its storage are proxies. */
async function openSceneBehindProxies(whenDone: WhenDone) {
  const proxies = await Promise.all(Array.from({ length: 3 }, () => new NetworkProxy().listen()));
  const [slack, agent, storage] = proxies as [NetworkProxy, NetworkProxy, NetworkProxy];
  whenDone(async () => void (await Promise.all(proxies.map((proxy) => proxy.stop()))));
  const options = {
    tls: true,
    slack: { reach: { proxy: slack } },
    agent: { reach: { proxy: agent }, storageProxy: storage },
  };
  return { scene: await openAppScene(options, whenDone), proxies: { slack, agent, storage } };
}

/** Milliseconds until something happens that `watch` hears of, from a moment on. */
async function until(watch: (happened: () => void) => () => void): Promise<number> {
  const from = performance.now();
  const { promise, resolve } = Promise.withResolvers<number>();
  const end = watch(() => {
    const ms = performance.now() - from;
    if (ms > ON_THE_WAY_MS) resolve(ms);
  });
  return await promise.finally(end);
}

describe('calls are back soon', () => {
  test.for([
    ['slack', 1],
    ['slack', 6],
    ['agent', 1],
    ['agent', 6],
  ] as const)(
    'after the connections to the %s have died in the middle of %i answers',
    async ([dead, threads], { onTestFinished: whenDone }) => {
      const { scene, proxies } = await openSceneBehindProxies(whenDone);
      const asked = Array.from({ length: threads }, (_, index) => {
        const [channel, text] = [scene.channel(), `/slow 9000 ${index}`];
        return { channel, text, root: scene.ask(channel, text) };
      });
      for (const { channel, root } of asked)
        await scene.until(
          'the answer grows',
          () => scene.shown(channel, root).includes('Second 2 of') || undefined,
        );
      const place = scene[dead];
      const back = until((happened) => place.onCall(happened));
      proxies[dead].silence();
      expect(await back).toBeLessThan(withinMs(BACK_MS));
      for (const { text } of asked) await scene.hurry(text);
      for (const { channel, root } of asked) await scene.finished(channel, root);
      expect(scene.agent.tasks.map(({ messages }) => messages.length)).toEqual(asked.map(() => 2));
    },
  );
});

test('a WebSocket whose tunnel has gone silent is replaced, and what is said then is answered', async () => {
  const tunnels = createServer();
  tunnels.on('connect', ({ url = '' }, client) => {
    const target = connect(Number(url.split(':')[1]), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      target.pipe(client).pipe(target);
    });
    client.on('error', () => target.destroy()).on('close', () => target.destroy());
    target.on('error', () => client.destroy()).on('close', () => client.destroy());
  });
  const port = await listenLocally(tunnels);
  const path = await new NetworkProxy(() => connect(port, '127.0.0.1')).listen();
  useProxy({ HTTPS_PROXY: `http://127.0.0.1:${path.port}`, NO_PROXY: '' });
  onTestFinished(async () => {
    useProxy({ NO_PROXY: '' });
    await path.stop();
    tunnels.close();
  });
  const scene = await openAppScene({ tls: true, slack: { retryScale: 1 / 20 } }, onTestFinished);
  const isOpened = (happened: () => void) =>
    scene.slack.onCall(({ method }) => {
      if (method === 'apps.connections.open') happened();
    });
  const back = until(isOpened);
  path.silence();
  expect(await back).toBeLessThan(withinMs(2 * BACK_MS));
  const channel = scene.channel();
  await scene.finished(channel, scene.ask(channel, 'are you still there?'));
});
