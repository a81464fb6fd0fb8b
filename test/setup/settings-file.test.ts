import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseEnv } from 'node:util';
import fc from 'fast-check';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { SettingsFile, withSetting } from '../../setup/connect/settings-file.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'taskthread-settings-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});
const read = (name = '.env') => readFile(path.join(folder, name), 'utf8');

describe('a settings file', () => {
  test('keeps comments and other settings, and is readable by its owner only', async () => {
    await writeFile(path.join(folder, '.env'), '# mine\nPORT=4000\nexport SLACK_BOT_TOKEN="old"', {
      mode: 0o644,
    });
    const settings = new SettingsFile(folder, {});
    await settings.save({ SLACK_BOT_TOKEN: 'xoxb-new', AGENT_BASE_URL: 'https://agent.example/v1' }, 'env');
    expect(await read()).toBe(
      '# mine\nPORT=4000\nSLACK_BOT_TOKEN=xoxb-new\nAGENT_BASE_URL=https://agent.example/v1\n',
    );
    expect((await stat(settings.path)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(['.env']);
  });

  test('moves all secrets when their place changes, and leaves none behind', async () => {
    const settings = new SettingsFile(folder, {});
    await settings.save({ SLACK_BOT_TOKEN: 'xoxb-1', AGENT_API_KEY: 'key' }, 'env');
    await settings.save({ SLACK_APP_TOKEN: 'xapp-1' }, 'files');
    expect(await read()).not.toMatch(/xoxb-1|xapp-1|=key/);
    expect((await readdir(path.join(folder, 'secrets'))).sort()).toEqual([
      'agent_api_key',
      'slack_app_token',
      'slack_bot_token',
    ]);
    const reopened = new SettingsFile(folder, {});
    expect(reopened.secretPlace).toBe('files');
    expect(reopened.get('SLACK_BOT_TOKEN')).toBe('xoxb-1');
    await reopened.save({ SLACK_APP_TOKEN: undefined }, 'env');
    expect(await readdir(path.join(folder, 'secrets'))).toEqual([]);
    expect(parseEnv(await read())).toMatchObject({ SLACK_BOT_TOKEN: 'xoxb-1', AGENT_API_KEY: 'key' });
    expect(await read()).not.toContain('_FILE');
  });

  test('changes nothing if it cannot be written', async () => {
    await mkdir(path.join(folder, '.env.d'));
    await writeFile(path.join(folder, '.env'), 'PORT=4000\n');
    const settings = new SettingsFile(folder, {});
    await expect(settings.save({ AGENT_BASE_URL: 'two\nlines' }, 'env')).rejects.toThrow(
      /more than one line/,
    );
    expect(await read()).toBe('PORT=4000\n');
    expect(settings.get('AGENT_BASE_URL')).toBeUndefined();
  });

  test("prefers its own values to the environment's, and names those that differ", async () => {
    await writeFile(path.join(folder, '.env'), 'AGENT_API_KEY_FILE=key\nPORT=4000\n');
    await writeFile(path.join(folder, 'key'), 'from the file\n');
    const settings = new SettingsFile(folder, { AGENT_API_KEY: 'outside', HOST: '::', PORT: '4000' });
    expect(settings.get('AGENT_API_KEY')).toBe('from the file');
    expect(settings.environment()).toEqual({ AGENT_API_KEY_FILE: 'key', PORT: '4000', HOST: '::' });
    expect(settings.conflicts()).toEqual(['AGENT_API_KEY']);
  });
});

test('any value of one line comes back as it was written', () => {
  const value = fc
    .string({ unit: 'grapheme-ascii', minLength: 1 })
    .filter((text) => !['"', "'", '`'].every((mark) => text.includes(mark)));
  fc.assert(
    fc.property(value, (text) => {
      expect(parseEnv(withSetting('A=1\nKEY=x\nB=2\n', 'KEY', text))).toEqual({ A: '1', KEY: text, B: '2' });
    }),
  );
});
