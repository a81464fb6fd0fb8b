import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { countedListOf } from '../../src/calls/json.ts';
import {
  PayloadRefusedError,
  SlackAuthError,
  SlackError,
  SlackLeaseError,
  SlackRateLimitError,
  SlackRefusedError,
  SlackUnavailableError,
} from '../../src/slack/errors.ts';
import { SlackClient } from '../../src/slack/slack-client.ts';
import { ScriptedSlack } from '../support/scripted-slack.ts';
import { silentLog } from '../support/silent-log.ts';
import { installation, lease } from '../support/slack-installation.ts';

const schema = z.looseObject({ ts: z.string() });

let slack: ScriptedSlack;
beforeAll(async () => {
  slack = await new ScriptedSlack().start();
});
afterAll(() => slack.stop());

function client(timeoutMs = 2_000, slackApiUrl = slack.apiUrl): SlackClient {
  return new SlackClient({ installation, log: silentLog, slackApiUrl, timeoutMs });
}

async function failure(promise: Promise<unknown>): Promise<SlackError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof SlackError) return error;
    throw error;
  }
  throw new Error('The call did not fail.');
}

describe('a call', () => {
  test('sends the token and the arguments, and returns the parsed response', async () => {
    slack.on('good', { body: { ok: true, ts: '1.5', more: 1 } });
    const answer = await client().call('good', { channel: 'C1', blocks: [{ type: 'divider' }] }, { schema });
    expect(answer.ts).toBe('1.5');
    const [call] = slack.callsOf('good');
    expect(call?.headers.authorization).toBe('Bearer xoxb-test-token');
    expect(call?.args).toMatchObject({ channel: 'C1', blocks: '[{"type":"divider"}]' });
  });

  test('stops calls for a dead token, but not for one workspace without the app', async () => {
    const refused: string[] = [];
    const gate = {
      enter: () => undefined,
      accepted: () => undefined,
      refused: (error: Error) => void refused.push(error.message),
    };
    const gated = new SlackClient({ installation, log: silentLog, slackApiUrl: slack.apiUrl, gate });
    for (const error of ['team_access_not_granted', 'token_revoked']) {
      slack.on(error, { body: { ok: false, error } });
      const failed = await failure(gated.call(error, {}, { schema }));
      expect(failed).toMatchObject({ code: 'unauthorized', isInstallationDead: true });
    }
    expect(refused).toEqual([expect.stringContaining('token_revoked')]);
  });

  test('tells operators how many items of a list were left out', async () => {
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => void lines.push(line) });
    const loud = new SlackClient({ installation, log, slackApiUrl: slack.apiUrl });
    slack.on('list', { body: { ok: true, items: ['a', 1, 'b', null] } });
    slack.on('whole', { body: { ok: true, items: ['a'] } });
    const counted = z.object({ items: countedListOf(z.string()) }).transform(({ items }) => items);
    expect(await loud.call('list', {}, { schema: counted })).toEqual({ items: ['a', 'b'], leftOut: 2 });
    await loud.call('whole', {}, { schema: counted });
    const { workspace } = installation;
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ level: 40, workspace, method: 'list', leftOut: 2 }),
    ]);
  });

  test('is made once, whatever its outcome', async () => {
    slack.on('once', { status: 503 });
    await failure(client().call('once', {}, { schema }));
    expect(slack.callsOf('once')).toHaveLength(1);
  });

  test('does not go to another address, even if the method is one', async () => {
    const error = await failure(client().call(`${slack.origin}/elsewhere`, {}, { schema }));
    expect(error).toBeInstanceOf(SlackError);
    expect(slack.callsOf('elsewhere')).toHaveLength(0);
  });

  test('keeps its own timeout among many simultaneous calls', async () => {
    const patience = Promise.withResolvers<void>();
    slack.on('slow', (_call, _request, response) => {
      void patience.promise.then(() => response.end('{"ok":true,"ts":"1"}'));
      return undefined;
    });
    const api = client(60_000);
    const short = Array.from({ length: 20 }, () =>
      failure(api.call('slow', {}, { schema, guard: lease(1_000) })),
    );
    const long = Array.from({ length: 20 }, () => api.call('slow', {}, { schema, guard: lease(60_000) }));
    for (const error of await Promise.all(short)) expect(error.slackCode).toBe('timed_out');
    patience.resolve();
    for (const answer of await Promise.all(long)) expect(answer.ts).toBe('1');
  });
});

describe('the timeout', () => {
  test('ends the request and leaves the outcome unknown', async () => {
    slack.on('never', () => undefined);
    const error = await failure(client(1_000).call('never', {}, { schema }));
    expect(error).toBeInstanceOf(SlackUnavailableError);
    expect(error).toMatchObject({ slackCode: 'timed_out', outcome: 'unknown', method: 'never' });
    await expect.poll(() => slack.callsOf('never')[0]?.cutOff).toBe(true);
  });

  test('covers the body as well as the headers', async () => {
    slack.on('half', (_call, _request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"ok":');
      return undefined;
    });
    const error = await failure(client(150).call('half', {}, { schema }));
    expect(error).toMatchObject({ code: 'unavailable', slackCode: 'timed_out', outcome: 'unknown' });
  });
});

describe('the lease', () => {
  test('prevents a call after it has ended', async () => {
    const error = await failure(client().call('fenced', {}, { schema, guard: lease(0) }));
    expect(error).toBeInstanceOf(SlackLeaseError);
    expect(error.outcome).toBe('none');
    expect(slack.callsOf('fenced')).toHaveLength(0);
  });

  test('ends a call in progress when it is lost', async () => {
    slack.on('lost', () => undefined);
    const guard = lease(60_000);
    const pending = failure(client(60_000).call('lost', {}, { schema, guard }));
    await expect.poll(() => slack.callsOf('lost').length).toBe(1);
    guard.lose();
    const error = await pending;
    expect(error).toBeInstanceOf(SlackLeaseError);
    expect(error.outcome).toBe('unknown');
  });
});

describe('an error', () => {
  test('429 says how long to wait', async () => {
    slack.on('busy', {
      status: 429,
      headers: { 'retry-after': '7' },
      body: { ok: false, error: 'ratelimited' },
    });
    const error = await failure(client().call('busy', {}, { schema }));
    expect(error).toBeInstanceOf(SlackRateLimitError);
    expect(error).toMatchObject({ retryAfterMs: 7_000, outcome: 'none' });
  });

  test('429 until a date waits by the clock of the server', async () => {
    const at = (ms: number) => new Date(Date.now() - 3_000_000 + ms).toUTCString();
    const headers = { date: at(0), 'retry-after': at(20_000) };
    slack.on('busy', { status: 429, headers, body: { ok: false, error: 'ratelimited' } });
    const error = await failure(client().call('busy', {}, { schema }));
    expect(error).toMatchObject({ retryAfterMs: 20_000 });
  });

  test.each(['1790000000', '9'.repeat(400)])('429 with a pause of %s s waits an hour', async (seconds) => {
    slack.on('busy', { status: 429, headers: { 'retry-after': seconds } });
    expect(await failure(client().call('busy', {}, { schema }))).toMatchObject({ retryAfterMs: 3_600_000 });
  });

  test('429 without a header waits ten seconds', async () => {
    slack.on('busy', { status: 429 });
    expect(await failure(client().call('busy', {}, { schema }))).toMatchObject({
      code: 'throttled',
      retryAfterMs: 10_000,
    });
  });

  test.each(['ratelimited', 'rate_limited'])('ok:false %s in a 200 is a rate limit too', async (code) => {
    slack.on('busy', { headers: { 'retry-after': '3' }, body: { ok: false, error: code } });
    expect(await failure(client().call('busy', {}, { schema }))).toMatchObject({
      code: 'throttled',
      retryAfterMs: 3_000,
    });
  });

  test('a missing scope is named', async () => {
    slack.on('scope', {
      body: { ok: false, error: 'missing_scope', needed: 'reactions:write', provided: 'chat:write' },
    });
    const error = await failure(client().call('scope', {}, { schema }));
    expect(error).toBeInstanceOf(SlackAuthError);
    expect(error).toMatchObject({
      isInstallationDead: false,
      message: expect.stringContaining('reactions:write'),
    });
    expect(error.message).toContain('reactions:write');
  });

  test('refused blocks are logged with what Slack says about them, without what it quotes', async () => {
    const long = `[ERROR] ${'x'.repeat(500)}`;
    const messages = [
      '[ERROR] must be more than 0 characters [json-pointer:/blocks/0/text]',
      '[ERROR] invalid url: https://a.example/of/a/person [json-pointer:/blocks/1/image_url]',
      '[ERROR] unknown value "said by somebody" [json-pointer:/blocks/2]',
      long,
      7,
      ...Array.from({ length: 20 }, (_, at) => `[ERROR] more [json-pointer:/blocks/${at}]`),
    ];
    const errors = ['must be more than 0 characters [json-pointer:/blocks/0/text]'];
    slack.on('blocks', {
      body: { ok: false, error: 'invalid_blocks', errors, response_metadata: { messages } },
    });
    const error = await failure(client().call('blocks', {}, { schema }));
    expect(error).toBeInstanceOf(PayloadRefusedError);
    const lines: string[] = [];
    pino({}, { write: (line) => lines.push(line) }).error({ err: error }, 'refused');
    const { reasons } = z
      .object({ err: z.looseObject({ reasons: z.array(z.string()) }) })
      .parse(JSON.parse(lines.join(''))).err;
    expect(reasons.slice(0, 4)).toEqual([
      messages[0],
      '[ERROR] invalid url: … [json-pointer:/blocks/1/image_url]',
      '[ERROR] unknown value … [json-pointer:/blocks/2]',
      long.slice(0, 300),
    ]);
    expect(reasons).toHaveLength(10);
    expect(error.message).not.toContain('json-pointer');
  });

  test.each([
    ['only errors', { errors: ['invalid slack file [json-pointer:/blocks/0/slack_file]'] }, 1],
    ['nothing', {}, 0],
    ['other types', { errors: 'none', response_metadata: { messages: [7] } }, 0],
  ])('refused blocks are a refusal even if Slack gives %s', async (_what, extra, count) => {
    slack.on('blocks', { body: { ok: false, error: 'invalid_blocks', ...extra } });
    const error = await failure(client().call('blocks', {}, { schema }));
    expect(error).toMatchObject({ code: 'payload_refused', reasons: { length: count } });
  });

  test.each([500, 502, 503, 408])('HTTP %i leaves the outcome unknown', async (status) => {
    slack.on('broken', { status });
    const error = await failure(client().call('broken', {}, { schema }));
    expect(error).toMatchObject({ code: 'unavailable', outcome: 'unknown', slackCode: `http_${status}` });
  });

  test.each([200, 502, 503])('an HTML page with HTTP %i is not an answer from Slack', async (status) => {
    const body = '<!doctype html><title>Slack is down for maintenance</title>';
    slack.on('broken', { status, headers: { 'content-type': 'text/html' }, body });
    const error = await failure(client().call('broken', {}, { schema }));
    expect(error).toMatchObject({ code: 'unavailable', outcome: 'unknown' });
    expect(error.message).not.toContain('doctype');
  });

  test('ok:true with a warning is a success', async () => {
    const warnings = ['missing_text_in_message', 'superfluous_charset'];
    const warned = { warning: warnings.join(','), response_metadata: { warnings } };
    slack.on('warned', { body: { ok: true, ts: '1.5', ...warned } });
    expect(await client().call('warned', {}, { schema })).toMatchObject({ ts: '1.5' });
  });

  test('HTTP 404 says what to check', async () => {
    slack.on('broken', { status: 404 });
    const error = await failure(client().call('broken', {}, { schema }));
    expect(error).toBeInstanceOf(SlackRefusedError);
    expect(error.message).toContain('SLACK_API_URL');
  });

  test('a cut connection leaves the outcome unknown', async () => {
    slack.on('cut', (_call, request) => {
      request.socket.destroy();
      return undefined;
    });
    expect(await failure(client().call('cut', {}, { schema }))).toMatchObject({
      slackCode: 'network',
      outcome: 'unknown',
    });
  });

  test('a refused connection had no effect', async () => {
    const gone = await new ScriptedSlack().start();
    const { apiUrl } = gone;
    await gone.stop();
    const error = await failure(client(2_000, apiUrl).call('x', {}, { schema }));
    expect(error).toMatchObject({ slackCode: 'network', outcome: 'none' });
  });

  test.each([
    ['no JSON', '<html>proxy</html>'],
    ['no object', 'null'],
    ['another shape', '{"ok":true}'],
  ])('an answer that is %s is unreadable, its outcome unknown', async (_what, body) => {
    slack.on('odd', { body });
    const error = await failure(client().call('odd', {}, { schema }));
    expect(error).toMatchObject({ slackCode: 'unreadable_answer', code: 'unavailable', outcome: 'unknown' });
    expect(error.message).not.toContain('<html>');
  });

  test('a redirect is not followed', async () => {
    slack.on('moved', { status: 302, headers: { location: `${slack.origin}/api/thief` } });
    await failure(client().call('moved', {}, { schema }));
    expect(slack.callsOf('thief')).toHaveLength(0);
  });

  test('neither tokens nor people’s words are logged at info or above', async () => {
    const lines: string[] = [];
    const loud = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
    slack.on('quiet', { status: 503 });
    const api = new SlackClient({ installation, log: loud, slackApiUrl: slack.apiUrl });
    await failure(api.call('quiet', { text: 'secret words' }, { schema }));
    expect(lines.join('')).not.toMatch(/xoxb|secret words/);
  });
});
