import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { manifestProblems } from '../../sandbox/slack/manifest-schema.ts';
import {
  createAppLink,
  MAX_LINK_LENGTH,
  manifestVariant,
  publicUrlProblem,
} from '../../setup/manifest-file.ts';
import { compiledProgram } from '../support/compiled-programs.ts';

const publicUrl = 'https://bot.example.org';
const variants = [
  ['Socket Mode', manifestVariant({})],
  ['HTTP', manifestVariant({ publicUrl })],
  ['OAuth', manifestVariant({ publicUrl, oauth: true })],
  ['Socket Mode with the step', manifestVariant({ workflowStep: true })],
  ['OAuth with the step', manifestVariant({ publicUrl, oauth: true, workflowStep: true })],
] as const;

describe.each(variants)('the manifest for %s', (_, manifest) => {
  test('is one that Slack accepts', () => {
    expect(manifestProblems(manifest)).toEqual([]);
  });

  test('fits into a link that opens the page for a new app with it', () => {
    const link = new URL(createAppLink(manifest));
    expect(link.href.length).toBeLessThan(MAX_LINK_LENGTH);
    expect(`${link.origin}${link.pathname}`).toBe('https://api.slack.com/apps');
    expect(link.searchParams.get('new_app')).toBe('1');
    expect(JSON.parse(link.searchParams.get('manifest_json') ?? '')).toEqual(manifest);
  });
});

test.each(['org_deploy_enabled', 'function_runtime'])('is refused with a step and without %s', (name) => {
  const manifest = manifestVariant({ workflowStep: true });
  const { [name]: _, ...settings } = manifest.settings;
  const without = name === 'org_deploy_enabled' ? { ...settings, org_deploy_enabled: false } : settings;
  expect(manifestProblems({ ...manifest, settings: without }).map(({ pointer }) => pointer)).toEqual([
    `/settings/${name}`,
  ]);
});

test('sends everything to one address of the app, if it is for HTTP', () => {
  const { settings, features, oauth_config } = manifestVariant({ publicUrl, oauth: true });
  const url = `${publicUrl}/slack/events`;
  expect(settings).toMatchObject({
    socket_mode_enabled: false,
    token_rotation_enabled: true,
    event_subscriptions: { request_url: url },
    interactivity: { is_enabled: true, request_url: url },
  });
  expect(features.slash_commands.map((command) => command.url)).toEqual([url]);
  expect(oauth_config.redirect_urls).toEqual([`${publicUrl}/slack/oauth_redirect`]);
});

test('refuses to make a link that is too long', () => {
  const manifest = { ...manifestVariant({}), display_information: { name: 'T'.repeat(MAX_LINK_LENGTH) } };
  expect(() => createAppLink(manifest)).toThrow(/shorten manifest\.yml/);
});

test.each(['https://bot.example.org', 'https://bot.example.org/'])('%s can be a public address', (url) => {
  expect(publicUrlProblem(url)).toBeUndefined();
});

test.each([
  ['bot.example.org', /not an address/],
  ['ftp://bot.example.org', /not an address/],
  ['http://bot.example.org', /https addresses only/],
  ['https://bot.example.org/slack/events', /Leave the path out: https:\/\/bot\.example\.org\./],
])('%s cannot be a public address', (url, problem) => {
  expect(publicUrlProblem(url)).toMatch(problem);
});

test('npm run manifest prints the link and the manifest, and explains a wrong command line', async () => {
  const program = compiledProgram('setup/manifest.ts');
  const run = (...args: string[]) => promisify(execFile)(process.execPath, [program, ...args]);
  const { stdout } = await run('--public-url', publicUrl);
  expect(stdout).toContain(createAppLink(manifestVariant({ publicUrl })));
  expect(parse(stdout)).toEqual(manifestVariant({ publicUrl }));
  await expect(run('--oauth')).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--oauth needs --public-url.'),
  });
});
