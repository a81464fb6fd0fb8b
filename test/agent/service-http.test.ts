import type { ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { AgentClient } from '../../src/agent/agent-client.ts';
import { AgentError } from '../../src/agent/errors.ts';
import { apiKey, clientOf, localServer } from '../support/local-server.ts';

const task = { id: 't1', type: 'task', created_at: 'c', status: 'idle', project_id: 'p', title: 'T' };
const newTask = { projectId: 'p', title: 'T' };
const lasting = { signal: new AbortController().signal };

async function failure(call: Promise<unknown>): Promise<AgentError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof AgentError)) throw new Error(`no AgentError: ${inspect(error)}`);
  return error;
}

describe('a call that may be repeated', () => {
  test('is retried after every kind of transient failure', async () => {
    let tries = 0;
    await using server = await localServer((request, response) => {
      tries += 1;
      if (tries === 1) request.socket.destroy();
      else if (tries === 2) response.writeHead(503).end('busy');
      else response.end(JSON.stringify(task));
    });
    const client = clientOf(server.origin);
    expect(await client.getTask('t1')).toMatchObject({ id: 't1', status: 'idle' });
    expect(tries).toBe(3);
  });

  test('succeeds without a body where it needs nothing of the response, but not with a page of a gateway', async () => {
    let answer: (response: ServerResponse) => unknown = () => {};
    await using server = await localServer((_, response) => answer(response));
    const client = clientOf(server.origin);
    for (const status of [200, 202, 204]) {
      answer = (response) => response.writeHead(status).end();
      await client.cancelTask('t1');
      await client.cancelMessage('t1', 'm1');
      await client.deleteTask('t1');
      await client.updateProject('p', { title: 'P' });
      expect(await client.readProject('p')).toBeNull();
    }
    expect(await failure(client.getTask('t1'))).toMatchObject({ code: 'not_understood' });
    answer = (response) => response.end('<html>Back soon.</html>');
    expect(await failure(client.readProject('p'))).toMatchObject({ code: 'not_understood' });
    expect(await failure(client.deleteTask('t1'))).toMatchObject({ code: 'not_understood' });
    const renamed = client.updateProject('p', { title: 'P' });
    expect(await failure(renamed)).toMatchObject({ code: 'not_understood' });
  });

  test('waits as long as Retry-After says', async () => {
    const times: number[] = [];
    await using server = await localServer((_, response) => {
      times.push(performance.now());
      if (times.length === 1) response.writeHead(429, { 'retry-after': '0.3' }).end();
      else response.end(JSON.stringify(task));
    });
    await clientOf(server.origin).getTask('t1');
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(299);
  });

  test('calls beforeRead before every attempt of a read', async () => {
    let leaves = 0;
    await using server = await localServer((_, response) => response.writeHead(503).end());
    const beforeRead = async () => {
      leaves += 1;
    };
    const client = clientOf(server.origin, { beforeRead });
    await failure(client.getTask('t1'));
    await failure(client.startTask(newTask));
    expect(leaves).toBe(3);
  });

  test('has a timeout for each attempt', async () => {
    await using server = await localServer(() => {});
    const client = clientOf(server.origin, { timeouts: { requestMs: 500 } });
    const error = await failure(client.getTask('t1'));
    expect(error).toMatchObject({ code: 'unavailable', outcome: 'unknown', attempts: 3 });
    expect(error.message).toContain('did not respond in time');
    expect(server.requests).toHaveLength(3);
  });

  test('treats a body that never ends as a timeout', async () => {
    await using server = await localServer((_, response) => response.writeHead(200).write('{'));
    const client = clientOf(server.origin, { timeouts: { requestMs: 40 }, retry: { maxAttempts: 1 } });
    expect((await failure(client.getTask('t1'))).message).toContain('did not respond in time');
  });

  test('finds a task already deleted after the first response was lost', async () => {
    let tries = 0;
    await using server = await localServer((request, response) => {
      tries += 1;
      if (tries === 1) request.socket.destroy();
      else response.writeHead(404).end();
    });
    expect(await clientOf(server.origin).deleteTask('t1')).toBeUndefined();
    expect(await failure(clientOf(server.origin).deleteTask('t1'))).toMatchObject({ code: 'not_found' });
  });
});

describe('a call that creates or sends', () => {
  test.each([500, 502, 503, 504])('is sent once, and may have taken effect after a %d', async (status) => {
    await using server = await localServer((_, response) => response.writeHead(status).end());
    const client = clientOf(server.origin);
    const calls = [
      () => client.createProject({ title: 'P' }),
      () => client.startTask(newTask),
      () => client.sendMessage('t1', { content: 'x' }),
      () => client.startUpload({ projectId: 'p', filename: 'f', sizeBytes: 1, mimeType: 'a/b' }),
    ];
    for (const call of calls) {
      expect(await failure(call())).toMatchObject({ code: 'unavailable', outcome: 'unknown', status });
    }
    expect(server.requests).toHaveLength(calls.length);
  });

  test.each([402, 413, 422, 429, 529])('was refused by a %d', async (status) => {
    await using server = await localServer((_, response) => response.writeHead(status).end());
    const error = await failure(clientOf(server.origin).sendMessage('t1', { content: 'x' }));
    expect(error).toMatchObject({ outcome: 'refused', status, attempts: 1 });
    expect(server.requests).toHaveLength(1);
  });

  test('is tried again a few times where something is in its way, and is refused then', async () => {
    let conflicts = 2;
    await using server = await localServer((_, response) => {
      if (conflicts > 0) response.writeHead(409).end('{"detail":"There is one of this name"}');
      else response.writeHead(201).end(JSON.stringify({ ...task, upload_url: 'https://a.example/b' }));
      conflicts -= 1;
    });
    const client = clientOf(server.origin);
    const calls = [
      () => client.createProject({ title: 'P' }),
      () => client.startTask(newTask),
      () => client.startUpload({ projectId: 'p', filename: 'f', sizeBytes: 1, mimeType: 'a/b' }),
    ];
    for (const call of calls) {
      conflicts = 2;
      await call();
      conflicts = 9;
      const refusal = {
        code: 'rejected',
        outcome: 'refused',
        attempts: 3,
        reason: 'There is one of this name',
      };
      expect(await failure(call())).toMatchObject(refusal);
      expect(conflicts).toBe(6);
    }
  });

  test('is busy only where it is about a task or a file that is there', async () => {
    await using server = await localServer((_, response) => response.writeHead(409).end());
    const client = clientOf(server.origin);
    const sent = client.sendMessage('t1', { content: 'x' });
    expect(await failure(sent)).toMatchObject({ code: 'busy', attempts: 1 });
    expect(await failure(client.partUrls('f', 'u', [1]))).toMatchObject({ code: 'busy', attempts: 1 });
    const renamed = client.updateProject('p', { title: 'Taken' });
    expect(await failure(renamed)).toMatchObject({ code: 'rejected', attempts: 1 });
    expect(server.requests).toHaveLength(3);
  });

  test('may have taken effect when the connection breaks', async () => {
    await using server = await localServer((request) => request.socket.destroy());
    const error = await failure(clientOf(server.origin).sendMessage('t1', { content: 'x' }));
    expect(error).toMatchObject({ code: 'unavailable', outcome: 'unknown' });
    expect(server.requests).toHaveLength(1);
  });

  test('was not sent if nothing listens', async () => {
    const server = await localServer(() => {});
    await server[Symbol.asyncDispose]();
    const error = await failure(clientOf(server.origin).sendMessage('t1', { content: 'x' }));
    expect(error).toMatchObject({ code: 'unavailable', outcome: 'not_sent' });
    expect(error.message).toContain('ECONNREFUSED');
  });

  test('may stay open for longer than other calls', async () => {
    await using server = await localServer((_, response) => {
      setTimeout(() => response.end('{"type":"message_result"}'), 1_000);
    });
    const client = clientOf(server.origin, { timeouts: { requestMs: 30, idleMs: 30 } });
    expect(await client.sendMessage('t1', { content: 'x' })).toMatchObject({ userMessage: null });
    const error = await failure(client.sendMessage('t1', { content: 'x' }, { timeoutMs: 500 }));
    expect(error).toMatchObject({ code: 'unavailable', outcome: 'unknown' });
  });

  test('has an unknown outcome if its response cannot be read', async () => {
    await using server = await localServer((_, response) => response.end('{"id":0.5}'));
    const error = await failure(clientOf(server.origin).startTask(newTask));
    expect(error).toMatchObject({ code: 'not_understood', outcome: 'unknown', status: 200 });
    expect(error.message).toContain('id (invalid_type)');
  });

  test('names briefly what it does not understand, however long the response is', async () => {
    const data = Array.from({ length: 20_000 }, () => 0);
    await using server = await localServer((_, response) => response.end(JSON.stringify({ data })));
    const error = await failure(clientOf(server.origin).startTask(newTask));
    expect(inspect(error).length).toBeLessThan(5_000);
    const second = await failure(clientOf(server.origin).listMessages('t'));
    expect(second.code).toBe('not_understood');
    expect(inspect(second).length).toBeLessThan(5_000);
  });

  test('refuses an id that is too long', async () => {
    const long = JSON.stringify({ ...task, id: 'x'.repeat(201) });
    await using server = await localServer((_, response) => response.end(long));
    expect(await failure(clientOf(server.origin).getTask('t1'))).toMatchObject({ code: 'not_understood' });
  });
});

describe('a file', () => {
  test('is asked for in any media type, everything else in JSON', async () => {
    const accepted: unknown[] = [];
    await using server = await localServer((request, response) => {
      accepted.push(request.headers.accept);
      response.end(JSON.stringify(task));
    });
    const client = clientOf(server.origin);
    (await client.openFileContent('f')).body.destroy();
    await client.getTask('t1');
    expect(accepted).toEqual(['*/*', 'application/json']);
  });
});

describe('a list with items that cannot be read', () => {
  test('is read without them, with one line in the log, unless all must be readable', async () => {
    const message = { id: 'm', role: 'user', content: [] };
    const page = JSON.stringify({ data: [{ ...message, role: null }, message] });
    await using server = await localServer((_, response) => response.end(page));
    const lines: unknown[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(JSON.parse(line)) });
    const client = clientOf(server.origin, { log });
    const read = async (options = {}) => {
      const ids: string[] = [];
      for await (const { id } of client.messagesAfter('t', null, options)) ids.push(id);
      return ids;
    };
    for (let time = 0; time < 3; time += 1) expect(await read()).toEqual(['m']);
    expect(lines).toMatchObject([{ leftOut: 1, call: expect.stringContaining('/messages') }]);
    expect(await failure(read({ readable: 'all' }))).toMatchObject({ code: 'not_understood' });
  });
});

describe('an error body without end', () => {
  test('is read only as far as it is shown', async () => {
    await using server = await localServer((_, response) => {
      response.writeHead(422);
      const pour = () => {
        while (response.write('word '.repeat(4000)));
        response.once('drain', pour);
      };
      pour();
    });
    const error = await failure(clientOf(server.origin).getTask('t1'));
    expect(error).toMatchObject({ code: 'rejected', reason: expect.stringMatching(/^word word .*…$/) });
    expect(error.message.length).toBeLessThan(700);
  });
});

describe('the lease guard', () => {
  test('prevents a call after the lease has ended', async () => {
    await using server = await localServer((_, response) => response.end('{}'));
    const guard = { ...lasting, remainingMs: () => 0 };
    const client = clientOf(server.origin);
    for (const call of [
      client.sendMessage('t1', { content: 'x' }, { guard }),
      client.startTask(newTask, { guard }),
      client.createProject({ title: 'P' }, { guard }),
    ]) {
      expect(await failure(call)).toMatchObject({ code: 'lease_lost', outcome: 'not_sent' });
    }
    expect(server.requests).toHaveLength(0);
  });

  test('is checked again on the open connection, before the first byte', async () => {
    await using server = await localServer((_, response) => response.end('{}'));
    let asked = 0;
    const guard = { ...lasting, remainingMs: () => (++asked === 1 ? 1000 : 0) };
    const error = await failure(clientOf(server.origin).sendMessage('t1', { content: 'x' }, { guard }));
    expect(error).toMatchObject({ code: 'lease_lost', outcome: 'not_sent' });
    expect(server.requests).toHaveLength(0);
  });

  test('leaves a call open for longer than what remains of the lease, which is renewed meanwhile', async () => {
    await using server = await localServer((_, response) => {
      setTimeout(() => response.end('{"type":"message_result"}'), 800);
    });
    const guard = { ...lasting, remainingMs: () => 200 };
    const sent = await clientOf(server.origin).sendMessage('t1', { content: 'x' }, { guard });
    expect(sent).toMatchObject({ task: null });
  });

  test('ends a call in progress when the lease is lost', async () => {
    const lost = new AbortController();
    await using server = await localServer(() => lost.abort());
    const guard = { signal: lost.signal, remainingMs: () => 1000 };
    const error = await failure(clientOf(server.origin).sendMessage('t1', { content: 'x' }, { guard }));
    expect(error).toMatchObject({ code: 'lease_lost', outcome: 'unknown' });
  });
});

describe('an abort', () => {
  test('ends a call in progress', async () => {
    const stop = new AbortController();
    await using server = await localServer(() => stop.abort());
    const error = await failure(clientOf(server.origin).getTask('t1', { signal: stop.signal }));
    expect(error).toMatchObject({ code: 'aborted', outcome: 'unknown', attempts: 1 });
  });

  test('before the call sends nothing', async () => {
    await using server = await localServer((_, response) => response.end('{}'));
    const call = clientOf(server.origin).startTask(newTask, { signal: AbortSignal.abort() });
    expect(await failure(call)).toMatchObject({ code: 'aborted', outcome: 'not_sent' });
    expect(server.requests).toHaveLength(0);
  });
});

describe('the key', () => {
  test('is sent as a bearer token and appears in no error and no log', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'trace' }, { write: (line) => lines.push(line) });
    const statuses = [400, 401, 403, 404, 409, 422, 429, 500, 200];
    await using server = await localServer((request, response) => {
      response.writeHead(statuses.shift() ?? 200, { 'x-request-id': 'req_1' });
      response.end(`{"detail":"Your header was ${request.headers.authorization}"`.repeat(2));
    });
    const client = clientOf(server.origin, { log });
    while (statuses.length > 0) {
      const error = await failure(client.createProject({ title: 'P' }));
      expect(inspect(error, { depth: 10 })).not.toContain(apiKey);
      expect(error.requestId).toBe('req_1');
    }
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${apiKey}`);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join('')).not.toContain(apiKey);
  });

  test.each([301, 302, 303, 307, 308])('does not follow a redirect %d', async (status) => {
    await using elsewhere = await localServer((_, response) => response.end(JSON.stringify(task)));
    await using server = await localServer((_, response) => {
      response.writeHead(status, { location: elsewhere.origin }).end();
    });
    const client = clientOf(server.origin);
    expect(await failure(client.getTask('t1'))).toMatchObject({ code: 'not_understood', status });
    expect(await failure(client.sendMessage('t1', { content: 'x' }))).toMatchObject({ status });
    expect(elsewhere.requests).toHaveLength(0);
  });

  test.each(['', 'two words', 'line\nbreak', 'schlüssel'])('is refused as %j', (key) => {
    expect(() => new AgentClient({ baseUrl: 'https://a/v1', apiKey: key })).toThrow('AGENT_API_KEY');
  });

  test.each(['', 'host/v1', 'ftp://host/v1', 'https://user:word@host/v1', 'https://host/v1?a=1'])(
    'is not taken to the address %j',
    (baseUrl) => {
      expect(() => new AgentClient({ baseUrl, apiKey })).toThrow('AGENT_BASE_URL');
    },
  );
});

describe('a service in a private network', () => {
  test.each([
    'http://127.0.0.1/v1',
    'https://10.0.0.1/v1',
    'https://[::1]/v1',
    'https://[::ffff:169.254.169.254]/v1',
    'https://2130706433/v1',
    'http://service.example/v1',
  ])('is not called at %s', (baseUrl) => {
    expect(() => new AgentClient({ baseUrl, apiKey })).toThrow('add it to PRIVATE_HOSTS');
    const host = new URL(baseUrl).hostname.replaceAll(/[[\]]/g, '');
    expect(() => new AgentClient({ baseUrl, apiKey, allowedHosts: [host] })).not.toThrow();
  });

  test('is not called through a public name either, because the connection checks the resolved address', async () => {
    await using server = await localServer((_, response) => response.end(JSON.stringify(task)));
    const { port } = new URL(server.origin);
    const client = clientOf('', { baseUrl: `https://localhost:${port}/v1`, allowedHosts: [] });
    const error = await failure(client.getTask('t1'));
    expect(inspect(error, { depth: 10 })).toContain('localhost has a private address');
    expect(server.requests).toHaveLength(0);
    await client.close();
  });
});

describe('the address of a call', () => {
  test('keeps each id in one segment of the path', async () => {
    await using server = await localServer((_, response) => response.end(JSON.stringify(task)));
    const client = clientOf(`${server.origin}/base`);
    await client.getTask('a/../b?c#d');
    expect(server.requests[0]?.url).toBe('/base/v1/experimental/tasks/a%2F..%2Fb%3Fc%23d');
    for (const id of ['', '.', '..']) {
      expect(await failure(client.getTask(id))).toMatchObject({ outcome: 'not_sent' });
    }
    expect(server.requests).toHaveLength(1);
  });
});
