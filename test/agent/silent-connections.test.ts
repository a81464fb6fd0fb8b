import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { clientOf, localServer } from '../support/local-server.ts';

test.concurrent('a link that says nothing is asked once more beside, and its answer read', async () => {
  await using storage = await localServer((_request, response) => {
    if (storage.requests.length > 1) response.end('the result');
  });
  const client = clientOf(storage.origin);
  const { body } = await client.links.get(`${storage.origin}/result`);
  expect(await text(body)).toBe('the result');
  expect(storage.requests).toHaveLength(2);
  await client.close();
});

test.concurrent('an answer that breaks off in silence is asked for again', async () => {
  await using service = await localServer((_request, response) => {
    const text = JSON.stringify({ id: 't1', title: 'one', status: 'idle', project_id: 'p1' });
    if (service.requests.length > 1) response.setHeader('content-type', 'application/json').end(text);
    else response.write(text.slice(0, 10));
  });
  const client = clientOf(service.origin);
  expect((await client.getTask('t1')).id).toBe('t1');
  expect(service.requests).toHaveLength(2);
  await client.close();
});

test.concurrent('an upload of which nothing is heard is sent anew before a minute is over', async () => {
  await using storage = await localServer((request, response) => {
    request.resume();
    if (storage.requests.length > 1) response.setHeader('etag', '"1"').end();
  });
  const client = clientOf(storage.origin, { timeouts: { idleMs: 600_000 } });
  const upload = {
    name: 'upload link',
    method: 'PUT',
    url: `${storage.origin}/upload`,
    headers: {},
    body: () => Readable.from([Buffer.from('bytes')]),
    sizeBytes: 5,
    signal: undefined,
  } as const;
  expect(await client.links.put(upload)).toBe('"1"');
  expect(storage.requests).toHaveLength(2);
  await client.close();
});
