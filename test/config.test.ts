import { describe, expect, test } from 'vitest';
import { ConfigError, readConfig, settingRows } from '../src/config.ts';

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
