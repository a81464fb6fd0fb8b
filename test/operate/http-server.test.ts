import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { HealthServer, type HealthServerDeps } from '../../src/operate/http-server.ts';
import { Telemetry } from '../../src/operate/telemetry.ts';
import { silentLog } from '../support/silent-log.ts';

async function serve(deps: Partial<HealthServerDeps> = {}): Promise<string> {
  const server = new HealthServer({
    findTrouble: async () => undefined,
    draining: () => false,
    report: () => ({ workspace: 'T1' }),
    fallback: undefined,
    ...deps,
  });
  const port = await server.start(0, '127.0.0.1');
  onTestFinished(() => server.stop());
  return `http://127.0.0.1:${port}`;
}

describe('the HTTP server', () => {
  test('/healthz reports alive, whatever the database does', async () => {
    const at = await serve({ findTrouble: async () => 'it is read-only' });
    const answer = await fetch(`${at}/healthz`);
    expect([answer.status, await answer.json()]).toEqual([200, { status: 'alive' }]);
  });

  test('ends headers that take longer than 10 s, and bodies that take longer than 30 s', async () => {
    const fallback: HealthServerDeps['fallback'] = (request, response) => {
      request.resume();
      request.once('end', () => response.end());
    };
    const { port } = new URL(await serve({ fallback }));
    const headers = 'POST /slack/events HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n';
    const lasted = async (begun: string) => {
      const socket = connect(Number(port), '127.0.0.1');
      const from = performance.now();
      socket.write(begun);
      socket.on('error', () => undefined).resume();
      await new Promise((resolve) => socket.once('close', resolve));
      return performance.now() - from;
    };
    const [silent, head, body] = await Promise.all(['', headers, `${headers}\r\n1`].map(lasted));
    expect(silent).toBeLessThan(20_000);
    expect(head).toBeLessThan(20_000);
    expect(body).toBeGreaterThan(20_000);
    expect(body).toBeLessThan(50_000);
  });

  test('answers at once while a thousand connections are silent', async () => {
    const at = await serve();
    const sockets = Array.from({ length: 1_200 }, () => connect(Number(new URL(at).port), '127.0.0.1'));
    onTestFinished(() => sockets.forEach((socket) => void socket.destroy()));
    for (const socket of sockets) socket.on('error', () => undefined).resume();
    await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
    const answer = await fetch(`${at}/healthz`, { signal: AbortSignal.timeout(8_000) });
    expect(answer.status).toBe(200);
  });

  test.each([
    [
      { findTrouble: async () => 'it is read-only' },
      { database: false, reason: 'it is read-only', draining: false },
    ],
    [{ draining: () => true }, { database: true, draining: true }],
  ])('/readyz is 503 only without the database or while draining: %o', async (parts, told) => {
    const answer = await fetch(`${await serve(parts)}/readyz`);
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ ready: false, ...told, workspace: 'T1' });
  });

  test('/readyz stays 200 and reports when the service rejects the key', async () => {
    const telemetry = new Telemetry(silentLog).watch({
      stats: () => Promise.reject(new Error('no database here')),
      findTrouble: async () => undefined,
      messagesLeft: () => ({}),
      largestFile: 0,
      missingScopes: () => [],
      heldThreads: () => 0,
      rejectedSettings: () => [],
      deafWorkspaces: () => 0,
      slackConnections: () => undefined,
      rejectedWorkspaceCredentials: () => ({ token: 0, key: 0 }),
    });
    telemetry.onEventHandled({ kind: 'message', outcome: 'admitted', ms: 1 });
    const attempt = (status: number | undefined) =>
      telemetry.onServiceAttempt({ call: 'GET /tasks', status, attempt: 1, durationMs: 1 });
    for (const status of [undefined, 401, 429, 503]) {
      attempt(status);
      const service = { ok: false, lastAnswerAt: null, lastStatus: status ?? null };
      expect(telemetry.report()).toMatchObject({ service });
    }
    attempt(404);
    expect(telemetry.report()).toMatchObject({ service: { ok: true, lastAnswerAt: expect.any(Date) } });
    telemetry.onServiceProbe('no_service');
    expect(telemetry.report()).toMatchObject({ service: { ok: false, lastAnswerAt: null, lastStatus: 404 } });
    for (const status of [200, 401]) attempt(status);
    const answer = await fetch(`${await serve({ report: () => telemetry.report() })}/readyz`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({
      ready: true,
      startedAt: expect.stringMatching(/Z$/),
      requestsRejectedAt: {},
      slackThrottledAt: {},
      missingScopes: {},
      database: true,
      draining: false,
      lastEventAt: expect.stringMatching(/^\d{4}-/),
      service: {
        ok: false,
        lastAnswerAt: expect.stringMatching(/^\d{4}-/),
        lastStatus: 401,
        lastSeconds: 0.001,
      },
      deafWorkspaces: 0,
      ownRefused: { token: 0, key: 0 },
    });
  });

  test('/metrics exists only if enabled, and an error in it is a plain 500', async () => {
    expect((await fetch(`${await serve()}/metrics`)).status).toBe(404);
    const broken = await serve({ metrics: () => Promise.reject(new Error('odd')) });
    expect((await fetch(`${broken}/metrics`)).status).toBe(500);
  });

  test.each(['/healthz', '/readyz', '/nothing'])('%s has security headers', async (path) => {
    const { headers } = await fetch(`${await serve()}${path}`);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test.each([
    ['an address that is none', 'GET //[ HTTP/1.1\r\nHost: a\r\n\r\n', '404'],
    ['headers that are too large', `GET / HTTP/1.1\r\nHost: a\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`, '431'],
    ['what is no HTTP', 'hello?\r\n\r\n', '400'],
  ])('%s does no harm', async (_, request, status) => {
    const at = await serve();
    const socket = connect(Number(new URL(at).port), '127.0.0.1');
    socket.end(request);
    let answer = '';
    for await (const chunk of socket) answer += String(chunk);
    expect(answer).toContain(` ${status} `);
    expect((await fetch(`${at}/healthz`)).status).toBe(200);
  });
});
