import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ConfigError, readConfig, secretsOf, settingRows } from '../src/config.ts';

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

  test('are read, without the line end at the end', () => {
    const config = readConfig({ ...rest, AGENT_API_KEY_FILE: file('key', 'from a file\n') });
    expect(config.AGENT_API_KEY).toBe('from a file');
    expect(secretsOf(config)).toEqual(expect.arrayContaining(['from a file', 'xoxb-1', 'xapp-1']));
  });

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
