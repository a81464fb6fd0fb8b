import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ConfigError, readConfig, secretValues, settingRows } from '../src/config.ts';

const whole = {
  SLACK_BOT_TOKEN: 'xoxb-1',
  SLACK_APP_TOKEN: 'xapp-1',
  AGENT_BASE_URL: 'https://agent.example/v1',
  AGENT_API_KEY: 'key',
};

/** What the error says, or '' where there is none. */
function complaint(environment: Record<string, string | undefined>): string {
  try {
    readConfig(environment);
    return '';
  } catch (error) {
    return error instanceof ConfigError ? error.message : String(error);
  }
}

describe('settings', () => {
  test('the four that are needed are enough', () => {
    const config = readConfig(whole);
    expect(config.PORT).toBe(3000);
    expect(config.AGENT_DIALECT.cursorParam).toBe('after_id');
  });

  test('what is missing is named, with where to get it', () => {
    const said = complaint({});
    for (const name of ['SLACK_BOT_TOKEN', 'AGENT_BASE_URL', 'AGENT_API_KEY']) {
      expect(said).toContain(`${name} is missing`);
    }
    expect(said).toContain('OAuth & Permissions');
  });

  test('an empty value counts as not set', () => {
    expect(complaint({ ...whole, AGENT_API_KEY: '' })).toContain('AGENT_API_KEY is missing');
    expect(readConfig({ ...whole, DATABASE_URL: '' }).DATABASE_URL).toBeUndefined();
  });

  test('events need an app token or a signing secret', () => {
    const said = complaint({ ...whole, SLACK_APP_TOKEN: undefined });
    expect(said).toContain('SLACK_APP_TOKEN is missing');
    expect(said).toContain('SLACK_SIGNING_SECRET is missing');
  });

  const { SLACK_BOT_TOKEN: _token, ...rest } = whole;
  const many = {
    ...rest,
    SLACK_CLIENT_ID: '1.2',
    SLACK_CLIENT_SECRET: 's',
    PUBLIC_URL: 'https://bot.example',
    SECRET_KEY: 'k'.repeat(32),
  };

  test('many workspaces need the credentials of the app, an address and a key, but no token', () => {
    expect(readConfig(many).SLACK_BOT_TOKEN).toBeUndefined();
    for (const name of ['SLACK_CLIENT_ID', 'SLACK_CLIENT_SECRET', 'PUBLIC_URL', 'SECRET_KEY'])
      expect(complaint({ ...many, [name]: undefined })).toContain(`${name} is missing`);
    expect(complaint({ ...many, SLACK_BOT_TOKEN: 'xoxb-1' })).toContain('Leave the token out');
    expect(readConfig({ ...many, INSTALL_WORKSPACES: 'T1, E2' }).INSTALL_WORKSPACES).toEqual(['T1', 'E2']);
    expect(complaint({ ...many, INSTALL_WORKSPACES: 'lab' })).toContain('INSTALL_WORKSPACES is not usable');
    expect(complaint({ ...whole, INSTALL_WORKSPACES: 'T1' })).toContain('without SLACK_CLIENT_ID');
  });

  test('the account at the service may be left to workspaces, where a key encrypts theirs', () => {
    const { AGENT_BASE_URL: _url, AGENT_API_KEY: _key, ...own } = many;
    expect(readConfig(own).AGENT_API_KEY).toBeUndefined();
    expect(complaint({ ...own, AGENT_API_KEY: 'key' })).toContain('AGENT_BASE_URL is missing');
    expect(complaint({ ...own, SLACK_CLIENT_ID: undefined, SECRET_KEY: undefined })).toContain(
      'AGENT_API_KEY is missing',
    );
  });

  test('a key may stand beside the one before it, and both are secrets', () => {
    const [fresh, old] = ['n'.repeat(32), 'o'.repeat(32)];
    const config = readConfig({ ...many, SECRET_KEY: `${fresh}, ${old}` });
    expect(config.SECRET_KEY).toEqual([fresh, old]);
    expect(secretValues(config)).toEqual(expect.arrayContaining([fresh, old, 's']));
    expect(complaint({ ...many, SECRET_KEY: `${fresh},short` })).toContain('SECRET_KEY is not usable');
  });

  test.each([
    ['SLACK_BOT_TOKEN', 'xoxp-a-person'],
    ['AGENT_BASE_URL', 'agent.example'],
    ['PORT', '99999'],
    ['LOG_LEVEL', 'loud'],
    ['AGENT_DIALECT', '{"cursorParam":'],
    ['AGENT_DIALECT', '{"nothingLikeIt":"x"}'],
    ['SLACK_DISTRIBUTED', 'perhaps'],
  ])('%s=%s is not usable, and the setting is named', (name, value) => {
    expect(complaint({ ...whole, [name]: value })).toContain(`${name} is not usable`);
  });

  test('no secret stands in what is said', () => {
    expect(complaint({ ...whole, SLACK_BOT_TOKEN: 'a-secret-of-mine' })).not.toContain('a-secret-of-mine');
  });

  test('every setting has a row that says what it is', () => {
    for (const { name, what } of settingRows()) expect(`${name}: ${what.length > 10}`).toBe(`${name}: true`);
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

  test.each(['', '\n', '\r\n\r\n', ' \n', '\t'])(
    'are read without what an editor leaves around them: %j',
    (end) => {
      const config = readConfig({ ...rest, AGENT_API_KEY_FILE: file('key', `\ufefffrom a file${end}`) });
      expect(config.AGENT_API_KEY).toBe('from a file');
      expect(secretValues(config)).toEqual(expect.arrayContaining(['from a file', 'xoxb-1', 'xapp-1']));
    },
  );

  test('are refused where the setting is there too, and where the file is missing or empty', () => {
    expect(complaint({ ...whole, AGENT_API_KEY_FILE: file('other', 'x') })).toContain('are both set');
    const missing = complaint({ ...rest, AGENT_API_KEY_FILE: join(folder, 'none') });
    expect(missing).toContain('AGENT_API_KEY_FILE names a file that cannot be read (ENOENT)');
    expect(complaint({ ...rest, AGENT_API_KEY_FILE: file('empty', '\n') })).toContain('empty file');
  });

  test('are not read for settings that are none', () => {
    expect(readConfig({ ...whole, PORT_FILE: join(folder, 'none') }).PORT).toBe(3000);
  });
});
