import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  ConfigError,
  readCommandConfig,
  readConfig,
  secretValues,
  settingRows,
} from '../../src/config/environment-and-secret-files.ts';
import { formerSettings } from '../../src/config/settings.ts';

const whole = {
  SLACK_BOT_TOKEN: 'xoxb-1',
  SLACK_APP_TOKEN: 'xapp-1',
  AGENT_BASE_URL: 'https://agent.example/v1',
  AGENT_API_KEY: 'key',
};

/** The error's message; '' if there is none. */
function errorOf(environment: Record<string, string | undefined>): string {
  try {
    readConfig(environment);
    return '';
  } catch (error) {
    return error instanceof ConfigError ? error.message : String(error);
  }
}

describe('settings', () => {
  test('the four required settings suffice', () => {
    const config = readConfig(whole);
    expect(config.PORT).toBe(3000);
    expect(config.AGENT_DIALECT.cursorParam).toBe('after_id');
  });

  test('are at most fifty', () => {
    expect(settingRows().length).toBeLessThanOrEqual(50);
  });

  test('of an earlier release are refused with what to do instead', () => {
    expect(errorOf({ ...whole, ADMITS: 'guests' })).toContain(
      'ADMITS is now called ALLOWED_USERS: rename it.',
    );
    expect(
      errorOf({ ...whole, WATCH_MINUTES: '5', FILES_LIMIT_MIB: '9' })
        .split('\n')
        .slice(1),
    ).toEqual([
      '  WATCH_MINUTES is no setting any more: remove it. Its value is fixed.',
      '  FILES_LIMIT_MIB is no setting any more: remove it. Its value is fixed.',
    ]);
    expect(errorOf({ ...whole, FILE_TYPES_REFUSED: '.zip' })).toContain(
      'FILE_TYPES_REFUSED is part of FILE_TYPES now: add its types there, each with ! before it.',
    );
    const former = [...formerSettings.keys()];
    const named = errorOf({ ...whole, ...Object.fromEntries(former.map((name) => [name, '1'])) });
    expect(named.split('\n').slice(1)).toEqual(former.map((name) => `  ${name} ${formerSettings.get(name)}`));
    expect(named).toContain('DATABASE_LISTEN_URL_FILE is now called DATABASE_DIRECT_URL_FILE: rename it.');
    const names = settingRows().map(({ name }) => name);
    const renamed = [...named.matchAll(/is now called (\w+?)(?:_FILE)?:/g)].map(([, now]) => now);
    expect(renamed).toHaveLength(7);
    expect(names).toEqual(expect.arrayContaining(renamed));
    expect(names.filter((name) => formerSettings.has(name))).toEqual([]);
  });

  test('the database may not have so few connections that a renewal of tokens waits for itself', () => {
    expect(errorOf({ ...whole, DATABASE_CONNECTIONS: '4' })).toContain('DATABASE_CONNECTIONS is invalid');
    expect(readConfig({ ...whole, DATABASE_CONNECTIONS: '5' }).DATABASE_CONNECTIONS).toBe(5);
  });

  test('missing settings are named, with where to find them', () => {
    const message = errorOf({});
    for (const name of ['SLACK_BOT_TOKEN', 'AGENT_BASE_URL', 'AGENT_API_KEY']) {
      expect(message).toContain(`${name} is missing`);
    }
    expect(message).toContain('OAuth & Permissions');
  });

  test('all that is wrong is named in one round, each once', () => {
    const message = errorOf({
      SLACK_BOT_TOKEN: 'xoxp-a-person',
      AGENT_BASE_URL: 'http://agent.example/v1',
      PUBLIC_URL: 'http://bot.example',
      DATABASE_URL: 'mysql://host/name',
      SECRET_KEY_FILE: '/no/such/file',
      STABLE_LINKS: 'true',
    });
    expect(message).toContain('SLACK_BOT_TOKEN is invalid');
    expect(message).toContain('OAuth & Permissions');
    expect(message).toContain('SLACK_APP_TOKEN is missing');
    expect(message).toContain('AGENT_API_KEY is missing');
    expect(message).toContain('AGENT_BASE_URL must be https');
    expect(message).toContain('PUBLIC_URL must begin with https://');
    expect(message).toContain('DATABASE_URL is invalid (must begin with postgres:// or postgresql://)');
    expect(message).toContain('SECRET_KEY_FILE names a file that cannot be read');
    expect(message).not.toMatch(/(SLACK_BOT_TOKEN|SECRET_KEY) is missing/);
  });

  test('a command of the database needs no other settings', () => {
    const database = { DATABASE_URL: 'postgresql://host/name' };
    expect(readCommandConfig(database).DATABASE_URL).toBe(database.DATABASE_URL);
    expect(() => readCommandConfig({ DATABASE_URL: 'host' })).toThrow('DATABASE_URL is invalid');
  });

  test('an empty value counts as not set', () => {
    expect(errorOf({ ...whole, AGENT_API_KEY: '' })).toContain('AGENT_API_KEY is missing');
    expect(readConfig({ ...whole, DATABASE_URL: '' }).DATABASE_URL).toBeUndefined();
  });

  test('blanks around a value are no part of it', () => {
    const config = readConfig({
      ...whole,
      SLACK_BOT_TOKEN: ' xoxb-1\r',
      AGENT_API_KEY: 'key\n',
      '\uFEFFPORT': '80',
    });
    expect(config).toMatchObject({ SLACK_BOT_TOKEN: 'xoxb-1', AGENT_API_KEY: 'key', PORT: 80 });
  });

  test.each(['SLACK_BOT_TOKEN', 'AGENT_API_KEY', 'AGENT_DIALECT'] as const)(
    '%s in quotes, as docker keeps them, is refused with what to remove',
    (name) => {
      for (const quoted of ['"xoxb-1"', "'{}'"]) {
        const message = errorOf({ ...whole, [name]: quoted });
        expect(message).toContain(`${name} is invalid (it is in quotes: remove them).`);
        expect(message).not.toContain(quoted);
      }
    },
  );

  test.each([
    ['DATA_FOLDER', '/var/lib/taskthread # on the large disk'],
    ['DATABASE_URL', 'postgres://u:p@host/name # main'],
    ['AGENT_SKILL', 'annotate\t# for now'],
    ['SLACK_BOT_TOKEN', 'xoxb-1 # of the lab'],
    ['LOG_LEVEL', 'info #'],
  ])('%s with a comment behind its value, as docker and systemd keep it, is refused', (name, value) => {
    expect(errorOf({ ...whole, [name]: value })).toContain(
      `${name} is invalid (it holds a comment: put that on a line of its own).`,
    );
    expect(errorOf({ ...whole, [name]: value.replace(/\s#.*/, '') })).toBe('');
  });

  test.each([
    ['DATA_FOLDER', '/srv/lab #2'],
    ['PROMPTS_FILE', '/srv/lab #2/prompts.json'],
    ['AGENT_SKILL', 'Primer design #2'],
    ['STOP_WORDS', 'stopp, #halt'],
  ])('%s=%s holds no comment', (name, value) => {
    expect(errorOf({ ...whole, [name]: value })).toBe('');
  });

  test.each([
    ['SLACK_BOT_TOKEN', 'xoxb-…'],
    ['SLACK_APP_TOKEN', 'xapp-…'],
    ['SLACK_CONFIG_TOKEN', 'xoxe.xoxp-1 2'],
    ['AGENT_API_KEY', 'Bearer key'],
    ['AGENT_API_KEY', 'clé'],
  ])('%s=%s, which no header can hold, is refused before anything starts', (name, value) => {
    expect(errorOf({ ...whole, [name]: value })).toContain(
      `${name} is invalid (must be visible ASCII characters without blanks).`,
    );
  });

  test.each([
    'postgres://u:p@/name?host=/run/postgresql',
    'postgres:///name?host=/run/postgresql',
    'postgres://u:p@%2Frun%2Fpostgresql/name',
    'postgres://u:p@[::1]:5432/name',
  ])('%s is the address of a database', (url) => {
    expect(readConfig({ ...whole, DATABASE_URL: url }).DATABASE_URL).toBe(url);
  });

  test('a number that is none is refused by its name, and a blank value counts as not set', () => {
    expect(errorOf({ ...whole, PORT: 'three' })).toContain('PORT is invalid (not a number).');
    expect(readConfig({ ...whole, TURNS_PER_HOUR_PERSON: ' ' }).TURNS_PER_HOUR_PERSON).toBe(60);
  });

  test.each(['TURNS_PER_HOUR_PERSON', 'TURNS_PER_HOUR_WORKSPACE', 'KEEP_WORDS_DAYS', 'KEEP_AUDIT_DAYS'])(
    'so large a %s that the database would refuse it is refused at once',
    (name) => {
      expect(errorOf({ ...whole, [name]: '9999999999' })).toContain(`${name} is invalid (`);
      expect(readConfig({ ...whole, [name]: '1000000' })).toHaveProperty(name, 1_000_000);
    },
  );

  test('proxies are read as other programs read them, after the settings of that name', () => {
    const ambient = { ...whole, https_proxy: 'http://a.example', no_proxy: '.b.example' };
    expect(readConfig(ambient)).toMatchObject({ HTTPS_PROXY: 'http://a.example', NO_PROXY: '.b.example' });
    const set = { HTTPS_PROXY: 'http://c.example', NO_PROXY: ' ' };
    expect(readConfig({ ...ambient, ...set })).toMatchObject({ ...set, NO_PROXY: '.b.example' });
    const short = readConfig({ ...whole, HTTPS_PROXY: 'me:secret@proxy:3128' });
    expect(short.HTTPS_PROXY).toBe('http://me:secret@proxy:3128');
    for (const other of [
      'socks5://proxy:1080',
      'no proxy',
      'http://me:50%off@proxy:3128',
      'http://me:%ff@proxy',
    ])
      expect(errorOf({ ...whole, HTTPS_PROXY: other })).toContain('HTTPS_PROXY is invalid');
  });

  test('a misspelt setting is refused with the right name, unless that is set too', () => {
    const { SLACK_APP_TOKEN, ...others } = whole;
    const misspelt = errorOf({ ...others, SLACK_APP_TOKN: SLACK_APP_TOKEN });
    expect(misspelt).toContain(
      'SLACK_APP_TOKN is not a setting of Taskthread, and SLACK_APP_TOKEN is not set.',
    );
    expect(misspelt).toContain('SLACK_APP_TOKEN is missing');
    for (const [name, meant] of [
      ['KEEP_WORD_DAYS', 'KEEP_WORDS_DAYS'],
      ['LOGLEVEL', 'LOG_LEVEL'],
      ['allowed_users', 'ALLOWED_USERS'],
      ['SECRET_KEY_FLIE', 'SECRET_KEY_FILE'],
    ] as const)
      expect(errorOf({ ...whole, [name]: '1' })).toContain(`Rename it to ${meant}`);
    expect(errorOf({ ...whole, LOGLEVEL: 'debug', LOG_LEVEL: 'info', SLACK_BOT_TOKEM: 'x' })).toBe('');
    const ofOthers = {
      HOME: '/root',
      HOSTNAME: 'a',
      PATH: '/bin',
      PORTS: '1',
      DATABASE: 'x',
      NODE_ENV: 'production',
      HTTP_PROXY: 'http://a.example',
      http_proxy: 'http://a.example',
    };
    expect(errorOf({ ...whole, ...ofOthers, MALLOC_ARENA_MAX: '2', SLACK_PAYLOADS: 'x' })).toBe('');
  });

  test('events need an app token or a signing secret', () => {
    const message = errorOf({ ...whole, SLACK_APP_TOKEN: undefined });
    expect(message).toContain('SLACK_APP_TOKEN is missing');
    expect(message).toContain('SLACK_SIGNING_SECRET is missing');
  });

  const { SLACK_BOT_TOKEN: _token, ...rest } = whole;
  const many = {
    ...rest,
    SLACK_CLIENT_ID: '1.2',
    SLACK_CLIENT_SECRET: 's',
    PUBLIC_URL: 'https://bot.example',
    SECRET_KEY: 'k'.repeat(32),
    INSTALL_WORKSPACES: '*',
  };

  test('several workspaces need OAuth credentials, an address and a key, but no token', () => {
    expect(readConfig(many).SLACK_BOT_TOKEN).toBeUndefined();
    for (const name of ['SLACK_CLIENT_ID', 'SLACK_CLIENT_SECRET', 'PUBLIC_URL', 'SECRET_KEY'])
      expect(errorOf({ ...many, [name]: undefined })).toContain(`${name} is missing`);
    expect(errorOf({ ...many, SLACK_BOT_TOKEN: 'xoxb-1' })).toContain('Remove SLACK_BOT_TOKEN');
    expect(errorOf({ ...many, INSTALL_WORKSPACES: '' })).toContain('INSTALL_WORKSPACES is missing');
    expect(readConfig({ ...many, INSTALL_WORKSPACES: 'T1, E2' }).INSTALL_WORKSPACES).toEqual(['T1', 'E2']);
    expect(errorOf({ ...many, INSTALL_WORKSPACES: 'lab' })).toContain('INSTALL_WORKSPACES is invalid');
    expect(errorOf({ ...whole, INSTALL_WORKSPACES: 'T1' })).toContain('without SLACK_CLIENT_ID');
  });

  test('workspaces may set their own service accounts if a key encrypts them', () => {
    const { AGENT_BASE_URL: _url, AGENT_API_KEY: _key, ...own } = many;
    expect(readConfig(own).AGENT_API_KEY).toBeUndefined();
    expect(errorOf({ ...own, AGENT_API_KEY: 'key' })).toContain('AGENT_BASE_URL is missing');
    expect(errorOf({ ...own, SLACK_CLIENT_ID: undefined, SECRET_KEY: undefined })).toContain(
      'AGENT_API_KEY is missing',
    );
  });

  test('SECRET_KEY may hold the new and the old key, and both are secrets', () => {
    const [fresh, old] = ['n'.repeat(32), 'o'.repeat(32)];
    const config = readConfig({ ...many, SECRET_KEY: `${fresh}, ${old}` });
    expect(config.SECRET_KEY).toEqual([fresh, old]);
    expect(secretValues(config)).toEqual(expect.arrayContaining([fresh, old, 's']));
    expect(errorOf({ ...many, SECRET_KEY: `${fresh},short` })).toContain('SECRET_KEY is invalid');
  });

  test.each([
    ['SLACK_BOT_TOKEN', 'xoxp-a-person'],
    ['AGENT_BASE_URL', 'agent.example'],
    ['PORT', '99999'],
    ['LOG_LEVEL', 'loud'],
    ['AGENT_DIALECT', '{"cursorParam":'],
    ['AGENT_DIALECT', '{"nothingLikeIt":"x"}'],
    ['SLACK_DISTRIBUTED', 'perhaps'],
  ])('%s=%s is invalid, and the setting is named', (name, value) => {
    expect(errorOf({ ...whole, [name]: value })).toContain(`${name} is invalid`);
  });

  test.each([
    ['PUBLIC_URL', 'bot.example.org:443', 'https://bot.example.org'],
    ['PUBLIC_URL', 'ftp://bot.example.org', 'https://bot.example.org'],
    ['PUBLIC_URL', 'https:bot.example.org', 'https://bot.example.org'],
    ['PUBLIC_URL', 'https://me:secret@bot.example.org', 'https://bot.example.org'],
    ['PUBLIC_URL', 'https://bot.example.org?x=1', 'https://bot.example.org'],
    ['PUBLIC_URL', 'https://tools.example.org/bot', 'https://bot.example.org'],
    ['SLACK_API_URL', 'localhost:3000/api/', 'https://slack.com/api/'],
    ['SLACK_API_URL', 'slack.com/api/', 'https://slack.com/api/'],
    ['AGENT_BASE_URL', 'agent.example:443/v1', 'https://agent.example.org/v1'],
    ['AGENT_BASE_URL', 'https://agent.example/v1#top', 'https://agent.example.org/v1'],
    ['HTTPS_PROXY', 'ftp://proxy.example:21', 'http://proxy.example.org:3128'],
    ['HTTPS_PROXY', 'socks5://proxy.example:1080', 'http://proxy.example.org:3128'],
    ['DATABASE_URL', 'localhost:5432/taskthread', 'postgres://'],
    ['DATABASE_URL', 'postgres://u:p/w@host/name', 'percent-encoded'],
    ['DATABASE_URL', 'postgres://u:p@secret/w@host/name', 'percent-encoded'],
    ['DATABASE_URL', 'postgres://u:p@secret#w@host/name', 'percent-encoded'],
    ['DATABASE_URL', 'postgres://u:p?w@host/name', 'percent-encoded'],
    ['DATABASE_URL', 'postgres://u:p#w@host/name', 'percent-encoded'],
    ['DATABASE_DIRECT_URL', 'postgres://u:50%@host/name', 'percent-encoded'],
    ['DATABASE_DIRECT_URL', 'postgres://u:%ff@host/name', 'percent-encoded'],
    ['DATABASE_DIRECT_URL', 'postgres://u:p/w@one:5432,two:5432/name', 'percent-encoded'],
    ['PRIVATE_HOSTS', 'https://agent.internal', 'agent.example.org'],
    ['ACCOUNT_HOSTS', 'one.internal,two.internal:8443', 'agent.example.org'],
    ['AGENT_DIALECT', '{"cursorParam":', '(must be a JSON object'],
    ['HOST', 'http://0.0.0.0', '127.0.0.1'],
    ['HOST', '0.0.0.0:3000', '127.0.0.1'],
    ['HOST', '[::]', '127.0.0.1'],
  ])('%s=%s is refused with how to write it', (name, value, how) => {
    const [problem = ''] = errorOf({ ...whole, [name]: value })
      .split('\n')
      .slice(1);
    expect(problem).toContain(`${name} is invalid (`);
    expect(problem).toContain(how);
    expect(problem).not.toContain('secret');
  });

  test.each([
    ['PUBLIC_URL', 'https://bot.example.org:8443/'],
    ['SLACK_API_URL', 'http://[::1]:3000/api/'],
    ['AGENT_BASE_URL', 'https://agent.example/a/v1'],
    ['HTTPS_PROXY', 'me:secret@proxy.example:3128'],
    ['DATABASE_URL', 'postgres://u:p%2Fw@one:5432,two:5433/name?sslmode=verify-full'],
    ['DATABASE_URL', 'postgresql://u@localhost/name?host=%2Fvar%2Frun'],
    ['DATABASE_URL', 'postgres:///name'],
    ['DATABASE_URL', 'postgresql:///name?host=/run/db&user=lab@project.example'],
    ['DATABASE_URL', 'postgres://one:5432,two:5433/name?application_name=a@b'],
    ['PRIVATE_HOSTS', 'agent.internal, 10.0.0.5, fd00::5'],
    ['HOST', '::'],
    ['HOST', 'fe80::1'],
    ['HOST', 'localhost'],
  ])('%s=%s is accepted', (name, value) => {
    expect(() => readConfig({ ...whole, [name]: value })).not.toThrow();
  });

  test.each(['http://[::1]:3000/api', 'http://[::1]:3000/api/'])(
    'the methods of SLACK_API_URL=%s are below it',
    (SLACK_API_URL) => {
      expect(readConfig({ ...whole, SLACK_API_URL }).SLACK_API_URL).toBe('http://[::1]:3000/api/');
    },
  );

  test('the app listens on all addresses, also of IPv6, unless HOST says otherwise', () => {
    expect(readConfig(whole).HOST).toBe('::');
  });

  test('no error shows a secret', () => {
    expect(errorOf({ ...whole, SLACK_BOT_TOKEN: 'a-secret-of-mine' })).not.toContain('a-secret-of-mine');
  });

  test('every setting has a description', () => {
    for (const { name, what } of settingRows()) expect(`${name}: ${what.length > 10}`).toBe(`${name}: true`);
  });

  test('the description of every Slack token says where to get it', () => {
    const tokens = settingRows().filter(({ name }) => /^SLACK_.*(TOKEN|SECRET)$/.test(name));
    expect(tokens).toHaveLength(5);
    for (const { what } of tokens) expect(what).toContain('Get it from: api.slack.com/apps');
  });
});

describe('secrets from files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'taskthread-config-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const { AGENT_API_KEY: _, ...rest } = whole;

  test.each(['', '\n', '\r\n\r\n', ' \n', '\t'])('are read without what an editor adds: %j', (end) => {
    const config = readConfig({ ...rest, AGENT_API_KEY_FILE: file('key', `\ufefffrom-a-file${end}`) });
    expect(config.AGENT_API_KEY).toBe('from-a-file');
    expect(secretValues(config)).toEqual(expect.arrayContaining(['from-a-file', 'xoxb-1', 'xapp-1']));
  });

  test('are refused if the setting is there too, or if the file is missing or empty', () => {
    expect(errorOf({ ...whole, AGENT_API_KEY_FILE: file('other', 'x') })).toContain('are both set');
    const missing = errorOf({ ...rest, AGENT_API_KEY_FILE: join(folder, 'none') });
    expect(missing).toContain('AGENT_API_KEY_FILE names a file that cannot be read (ENOENT)');
    expect(errorOf({ ...rest, AGENT_API_KEY_FILE: file('empty', '\n') })).toContain('empty file');
  });

  test('are not read for settings that are not secret', () => {
    expect(readConfig({ ...whole, PORT_FILE: join(folder, 'none') }).PORT).toBe(3000);
  });
});
