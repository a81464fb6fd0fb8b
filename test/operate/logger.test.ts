import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createLogger, Redactor } from '../../src/operate/logger.ts';

const LOGGER_URL = new URL('../../src/operate/logger.ts', import.meta.url).href;

/** Put together here, so that no scanner takes this file for a leak. */
const joined = (...parts: string[]) => parts.join('');

const serviceKey = 'ats_live_"quoted\\key"/9f8e7d';
const signingSecret = '8f742231b10e8888abcd99yyyzzz85a5';
const secretKey = 'MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
const databaseUrl = 'postgres://robot:p%40ss-word!9@db.example:5432/taskthread?sslmode=require';

/** Each known shape, and the part of it that must not be seen. */
const secrets: Record<string, { whole: string; part: string }> = {
  'a bot token': {
    whole: joined('xox', 'b-2345-6789-AbCdEf'),
    part: 'AbCdEf',
  },
  'an app token': { whole: joined('xap', 'p-1-A0123-987-fedcba98'), part: 'fedcba98' },
  'a token that is rotated': { whole: joined('xox', 'e.xox', 'b-1-MyRotated0123'), part: 'MyRotated0123' },
  'a refresh token': { whole: joined('xox', 'e-1-My0RefreshToken9'), part: 'RefreshToken9' },
  "a person's token": { whole: joined('xox', 'p-11-22-Personal33'), part: 'Personal33' },
  'a service key': { whole: serviceKey, part: '9f8e7d' },
  'a signing secret': { whole: signingSecret, part: '99yyyzzz85a5' },
  'a key for encryption': { whole: secretKey, part: 'MDEyMzQ1Njc4' },
  'a signed link': {
    whole: 'https://bucket.example/a/b.csv?X-Amz-Credential=AKIA123&X-Amz-Signature=deadbeef99',
    part: 'deadbeef99',
  },
  'a response address': {
    whole: 'https://hooks.slack.com/actions/T1/222/SeCrEtPaTh',
    part: 'SeCrEtPaTh',
  },
  'an Authorization header': { whole: 'Bearer opaque.token-4711', part: 'opaque.token-4711' },
  'a header of another kind': { whole: 'Authorization: Basic dXNlcjpwYXNz', part: 'dXNlcjpwYXNz' },
  'a database address': { whole: databaseUrl, part: 'p%40ss-word' },
  "the database's password": { whole: 'p@ss-word!9', part: 'p@ss-word!9' },
};

/** Every way in which something gets into a line. */
const ways: Record<string, (log: ReturnType<typeof createLogger>, secret: string) => void> = {
  'the message': (log, secret) => log.info(`got ${secret} from there`),
  'a placeholder': (log, secret) => log.info('got %s and %j', secret, { it: secret }),
  'an error': (log, secret) => log.error({ err: new Error(`refused: ${secret}`) }, 'failed'),
  'the cause of an error': (log, secret) =>
    log.error({ err: new Error('failed', { cause: new Error(secret) }) }, 'failed'),
  'a property of an error': (log, secret) =>
    log.error({ err: Object.assign(new Error('failed'), { request: { headers: { 'x-key': secret } } }) }),
  'a nested object': (log, secret) => log.info({ a: { b: { c: { d: secret } } } }, 'nested'),
  'an array': (log, secret) => log.info({ list: ['one', [secret], { deep: [secret] }] }, 'list'),
  'a key': (log, secret) => log.info({ map: { [secret]: 1 } }, 'map'),
  'an address': (log, secret) =>
    log.info({ at: `https://a.example/x?key=${encodeURIComponent(secret)}` }, 'url'),
  'JSON inside of a text': (log, secret) => log.info({ body: JSON.stringify({ apiKey: secret }) }, 'body'),
  'a child': (log, secret) => log.child({ bound: secret }).warn('bound'),
};

function logged(say: (log: ReturnType<typeof createLogger>) => void): string {
  const lines: string[] = [];
  const redaction = new Redactor([serviceKey, signingSecret, secretKey, databaseUrl]);
  say(createLogger({ level: 'trace', redaction, destination: { write: (line) => lines.push(line) } }));
  expect(lines).toHaveLength(1);
  const line = lines.join('');
  expect(() => JSON.parse(line)).not.toThrow();
  return line;
}

describe('the log', () => {
  for (const [shape, { whole, part }] of Object.entries(secrets)) {
    test.each(Object.keys(ways))(`does not show ${shape} in %s`, (way) => {
      const line = logged((log) => ways[way]?.(log, whole));
      expect(line).not.toContain(part);
      expect(line).not.toContain(encodeURIComponent(part));
      expect(line).not.toContain(JSON.stringify(part).slice(1, -1));
    });
  }

  test('shows the beginning of a line that is too long, without secrets, as JSON', () => {
    const line = logged((log) => log.error({ serviceKey, list: 'x'.repeat(1_000_000) }, 'too much'));
    expect(line.length).toBeLessThan(20_000);
    expect(JSON.parse(line)).toMatchObject({ level: 'error', app: 'taskthread', length: expect.any(Number) });
    expect(line).toContain('xxxx');
    expect(line).not.toContain('9f8e7d');
  });

  test.each(['a://:', 'token', 'http://', '\\"token', '"secret'])(
    'is soon done with "%s" over and over',
    (shape) => {
      const redaction = new Redactor();
      expect(redaction.redact(shape.repeat(60_000 / shape.length)).length).toBeGreaterThan(50_000);
    },
  );

  test('does not show fields that are named like secrets, at any depth', () => {
    const line = logged((log) =>
      log.info({
        a: { signingSecret: 'short1', headers: { authorization: 'opaque', cookie: 'd=1' } },
        password: 'pw"\\x',
      }),
    );
    for (const value of ['short1', 'opaque', 'd=1', 'pw']) expect(line).not.toContain(value);
  });

  test('leaves everything else unchanged', () => {
    const turn = '0190a0b0-c0d0-7000-8000-000000000001';
    const said =
      'the Slack token SLACK_BOT_TOKEN is under "Basic Information", see https://a.example/docs#tokens';
    const line = logged((log) => log.info({ turn, channel: 'C1', ms: 12 }, said));
    expect(JSON.parse(line)).toMatchObject({ turn, channel: 'C1', ms: 12, msg: said });
  });

  test.each([1_000, 9_500])('shows no half of a secret when it cuts a line (%i)', (before) => {
    const text = `${'a '.repeat(before / 2)}${`${serviceKey} Bearer opaque.token-4711 `.repeat(100_000)}`;
    const line = logged((log) => log.warn({ err: new Error(text), turn: 't1' }, 'a step waits'));
    expect(line.length).toBeLessThan(64 * 1024);
    expect(JSON.parse(line)).toMatchObject({
      level: 'warn',
      app: 'taskthread',
      cut: true,
      msg: 'a step waits',
    });
    expect(line).not.toMatch(/ats_live|opaque/);
  });

  test.each([
    ['as it stands', { clientSecret: 'hidden '.repeat(20_000) }],
    ['in JSON inside of a text', { body: JSON.stringify({ clientSecret: 'hidden '.repeat(20_000) }) }],
  ])('cuts a line within a field that is named like a secret, %s', (_, bound) => {
    expect(logged((log) => log.info(bound, 'x'.repeat(9_000)))).not.toContain('hidden');
  });

  test.each([
    ['"', 'token'],
    ['"', 'token\\'],
    ['\\"', 'api_key'],
    ['a://', ':'],
    ['', 'https://'],
    ['', 'X-Amz-'],
    ['', 'Bearer '],
  ])('is redacted in linear time: %j and %j over and over', (first, pattern) => {
    expect(new Redactor().redact(first + pattern.repeat(2_000_000 / pattern.length))).not.toBe('');
  });

  test('has each key once, even if a line repeats what its logger is bound to', () => {
    const place = { workspace: 'T1', channel: 'C1', root: '1.000000' };
    const line = logged((log) => log.child(place).info({ ...place, turn: 't1' }, 'turn resumed'));
    for (const key of ['level', 'app', ...Object.keys(place), 'turn', 'msg'])
      expect(line.split(`"${key}":`)).toHaveLength(2);
    expect(JSON.parse(line)).toMatchObject({ ...place, turn: 't1', msg: 'turn resumed' });
  });

  test('keeps a value that differs from the bound one, under another key', () => {
    const line = logged((log) => log.child({ task: 'one' }).info({ task: 'other', time: 7 }, 'moved'));
    expect(line.split('"time":"')).toHaveLength(2);
    expect(JSON.parse(line)).toMatchObject({ task: 'one', line: { task: 'other', time: 7 } });
  });

  test('names the level, and tells the time by ISO 8601', () => {
    const lines: string[] = [];
    const destination = { write: (line: string) => void lines.push(line) };
    createLogger({ level: 'info', destination }).warn('late');
    const [named] = lines.map((line) => JSON.parse(line));
    expect(named).toMatchObject({ level: 'warn', time: expect.stringMatching(/^\d{4}-.*Z$/), msg: 'late' });
  });

  test('shows the stack of the first error of a kind, and of others not', () => {
    const lines: string[] = [];
    const log = createLogger({ level: 'info', destination: { write: (line) => void lines.push(line) } });
    const failure = (code: string) =>
      Object.assign(new Error(`no answer to ${lines.length}`, { cause: new Error('cut') }), { code });
    for (let attempt = 1; attempt <= 3; attempt += 1)
      log.child({ attempt }).warn({ err: failure('unavailable') }, 'retrying a step');
    log.warn({ err: failure('denied') }, 'retrying a step');
    log.warn({ err: failure('denied') }, 'giving up');
    const errors = lines.map((line) => JSON.parse(line).err);
    expect(errors.map(({ stack }) => stack !== undefined)).toEqual([true, false, false, true, true]);
    expect(errors[1]).toEqual({ type: 'Error', code: 'unavailable', message: 'no answer to 1: cut' });
  });

  test('shows an error that is logged alone', () => {
    const line = logged((log) => log.child({ turn: 't1' }).error(new Error('odd')));
    expect(JSON.parse(line)).toMatchObject({ turn: 't1', err: { message: 'odd' }, msg: 'odd' });
  });

  test('hides a secret that became known later', () => {
    const redaction = new Redactor();
    redaction.addSecret('a-key-set-in-app-home');
    expect(redaction.redact('{"k":"a-key-set-in-app-home"}')).toBe('{"k":"[redacted]"}');
  });
});

test('a password with a bare % is redacted unchanged', () => {
  const redaction = new Redactor(['postgres://robot:100%-sure@db.example/taskthread']);
  expect(redaction.redact('it is 100%-sure')).toBe('it is [redacted]');
});

test('a secret is redacted until its last owner has removed it', () => {
  const redaction = new Redactor();
  const [one, other] = [redaction.addSecret('key-of-somebody-1'), redaction.addSecret('key-of-somebody-1')];
  one();
  one();
  expect(redaction.redact('it is key-of-somebody-1')).toBe('it is [redacted]');
  other();
  expect(redaction.redact('it is key-of-somebody-1')).toBe('it is key-of-somebody-1');
});

test('a log that nobody reads drops what exceeds a megabyte, counts it, and lets its process end', async () => {
  const program = `
    const { createLogger, standardOutput } = await import(${JSON.stringify(LOGGER_URL)});
    let dropped = 0;
    const log = createLogger({ level: 'info', destination: standardOutput(() => { dropped += 1; }) });
    for (let line = 0; line < 3_000; line += 1) log.info('x'.repeat(1_000));
    process.stderr.write(String(dropped));
    process.exit(4);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect(code).toBe(4);
  // A megabyte waits, and what the system keeps of a pipe or a socket.
  expect(Number(said)).toBeGreaterThan(1_000);
  expect(Number(said)).toBeLessThan(2_500);
});

test('the values of a row that PostgreSQL refuses are left out', () => {
  const refusal = {
    detail: 'Failing row contains (my own words).',
    where: "unnamed portal parameter $1 = 'my own words'",
  };
  const line = logged((log) =>
    log.error({ err: Object.assign(new Error('a constraint'), refusal) }, 'refused'),
  );
  expect(line).toContain('a constraint');
  expect(line).not.toContain('my own words');
});
