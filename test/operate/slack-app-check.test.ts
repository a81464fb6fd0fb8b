import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { manifestSchema } from '../../sandbox/slack/manifest-schema.ts';
import { startSlackWorkspace } from '../../sandbox/slack/slack-workspace.ts';
import { type ManifestFile, manifestVariant } from '../../setup/manifest-file.ts';
import { readConfig } from '../../src/config/environment-and-secret-files.ts';
import { checkApp } from '../../src/operate/checks/slack-checks.ts';
import { compileCache, compiledProgram } from '../support/compiled-programs.ts';
import { silentLog } from '../support/silent-log.ts';

const slack = await startSlackWorkspace({ limits: 'off' });
afterAll(() => slack.stop());
const environment = {
  SLACK_BOT_TOKEN: slack.botToken,
  SLACK_APP_TOKEN: slack.appToken,
  SLACK_API_URL: slack.apiUrl,
  AGENT_BASE_URL: 'https://agent.example/v1',
  AGENT_API_KEY: 'key',
};
const withToken = { ...environment, SLACK_CONFIG_TOKEN: slack.app.configuration.token };

/** What the check says, one line for each result or its failure. */
async function check(settings: Record<string, string>, mend = false): Promise<string[]> {
  const tools = { log: silentLog, now: () => Date.now(), freeBytes: async () => 0, mend };
  const said: string[] = [];
  try {
    for await (const found of checkApp(readConfig(settings), tools))
      said.push(typeof found === 'string' ? `OK ${found}` : found.message);
  } catch (error) {
    said.push(error instanceof Error ? `FAIL ${error.message}` : String(error));
  }
  return said;
}

/** Sets the manifest at Slack to ours, after a change. */
function manifestAtSlack(change: (manifest: ManifestFile) => void): void {
  const manifest = manifestVariant({});
  change(manifest);
  slack.app.update(manifestSchema.parse(manifest));
}

test('an app that has everything passes, whatever its owner named it and added to it', async () => {
  manifestAtSlack(({ display_information, oauth_config, settings }) => {
    display_information.name = 'Our agent';
    oauth_config.scopes.bot.push('team:read');
    settings.event_subscriptions.bot_events.reverse();
  });
  expect(await check(withToken)).toEqual(["OK has everything of this release's manifest"]);
});

test('what the app lacks is named, and added with --mend; what only Slack has stays', async () => {
  manifestAtSlack(({ settings, oauth_config }) => {
    settings.event_subscriptions.bot_events = ['app_mention', 'team_join'];
    settings.interactivity.is_enabled = false;
    oauth_config.scopes.bot.push('team:read');
  });
  const [failure = ''] = await check(withToken);
  expect(failure).toMatch(
    /^FAIL The app at Slack differs: settings\.event_subscriptions\.bot_events: app_home_opened, .*; settings\.interactivity\.is_enabled: true\. Run the doctor with --mend/,
  );
  expect(await check(withToken, true)).toEqual([expect.stringMatching(/^OK updated at Slack: settings\./)]);
  expect(await check(withToken)).toEqual(["OK has everything of this release's manifest"]);
  expect(slack.app.manifest?.settings.event_subscriptions.bot_events).toContain('team_join');
  expect(slack.app.manifest?.oauth_config.scopes.bot).toContain('team:read');
});

const branchSchema = z.record(z.string(), z.unknown());
const elementSchema = z.union([
  z.string(),
  z.looseObject({ command: z.string() }).transform(({ command }) => command),
  z.looseObject({ callback_id: z.string() }).transform(({ callback_id }) => callback_id),
]);

/** The manifest without each of its events, scopes, commands and shortcuts, and with each switch turned, by the doctor's words. */
function* poorerManifests(whole: unknown, path: string): Iterable<[words: string, poorer: unknown]> {
  if (Array.isArray(whole)) {
    for (const element of whole)
      yield [`${path}: ${elementSchema.parse(element)}`, whole.filter((each) => each !== element)];
  } else if (typeof whole === 'boolean') yield [`${path}: ${whole}`, !whole];
  else {
    const branches = branchSchema.parse(whole);
    for (const [key, branch] of Object.entries(branches))
      for (const [words, poorer] of poorerManifests(branch, path === '' ? key : `${path}.${key}`))
        yield [words, { ...branches, [key]: poorer }];
  }
}

test('each event, scope, command, shortcut and switch that admins have not applied is named', async () => {
  const { _metadata, display_information, features, oauth_config, settings } = manifestSchema.parse(
    manifestVariant({}),
  );
  const { bot_user, ...ours } = features;
  const named: string[] = [];
  for (const [words, poorer] of poorerManifests({ features: ours, oauth_config, settings }, '')) {
    const { features: left, ...rest } = z.looseObject({ features: branchSchema }).parse(poorer);
    const manifest = { _metadata, display_information, features: { ...left, bot_user }, ...rest };
    slack.app.update(manifestSchema.parse(manifest));
    const [failure = ''] = await check(withToken);
    expect(failure).toContain(`The app at Slack differs: ${words}. Run the doctor with --mend`);
    named.push(words);
  }
  expect(named).toEqual(
    expect.arrayContaining([
      'features.slash_commands: /agent',
      'features.shortcuts: ask_about',
      'features.app_home.home_tab_enabled: true',
      'oauth_config.scopes.bot: users:read',
      'settings.event_subscriptions.bot_events: channel_deleted',
    ]),
  );
});

test('an app that offers the step in Workflow Builder is compared with the manifest that has it', async () => {
  const offered = 'OK offers the step "Ask the agent" in Workflow Builder';
  const manifest = manifestSchema.parse(manifestVariant({ workflowStep: true }));
  slack.app.update(manifest);
  expect(await check(withToken)).toEqual(["OK has everything of this release's manifest", offered]);
  const step = manifest.functions?.ask_agent;
  if (step === undefined) throw new Error('There is a step.');
  const { answer: _, ...output_parameters } = step.output_parameters;
  const settings = { ...manifest.settings, event_subscriptions: { bot_events: ['app_mention'] } };
  slack.app.update({ ...manifest, settings, functions: { ask_agent: { ...step, output_parameters } } });
  const [failure = ''] = await check(withToken);
  expect(failure).toMatch(/function_executed/);
  expect(failure).toMatch(/functions\.ask_agent\.output_parameters\.answer/);
  expect(await check(withToken, true)).toEqual([expect.stringMatching(/^OK updated at Slack: /), offered]);
  expect(slack.app.manifest?.settings.org_deploy_enabled).toBe(true);
});

test('new permissions want a new installation', async () => {
  manifestAtSlack(({ oauth_config }) => {
    oauth_config.scopes.bot = ['chat:write'];
  });
  expect(await check(withToken, true)).toEqual([
    expect.stringMatching(
      /^FAIL Updated: oauth_config\.scopes\.bot: .*install it again at https:\/\/api\.slack\.com\/apps\/A/,
    ),
  ]);
});

test('for HTTP, the addresses are compared too', async () => {
  manifestAtSlack(() => undefined);
  const { SLACK_APP_TOKEN: _, ...others } = withToken;
  const http = {
    ...others,
    SLACK_SIGNING_SECRET: slack.signingSecret,
    PUBLIC_URL: 'https://bot.example.org',
  };
  const [failure = ''] = await check(http);
  expect(failure).toContain('settings.socket_mode_enabled: false');
  expect(failure).toContain('request_url: "https://bot.example.org/slack/events"');
  expect(await check(http, true)).toEqual([expect.stringMatching(/^OK updated at Slack/)]);
  expect(await check(http)).toEqual(["OK has everything of this release's manifest"]);
});

test('the doctor prints lines of JSON for machines, and refuses unknown options', async () => {
  const doctor = compiledProgram('src/operate/doctor.ts');
  const run = (...args: string[]) =>
    promisify(execFile)(process.execPath, [doctor, ...args], { env: compileCache() });
  await expect(run('--json')).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringMatching(
      /^\{"what":"settings","ok":false,"message":"Some settings are missing.*\}\n$/,
    ),
  });
  await expect(run('--mned')).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Usage: npm run doctor'),
  });
});

test('without a configuration token the doctor says that nothing is compared, --mend asks for it, and a refused one is named', async () => {
  expect(await check(environment)).toEqual([
    expect.stringMatching(/^OK not compared with this release's manifest, .*SLACK_CONFIG_TOKEN/),
  ]);
  expect(await check(environment, true)).toEqual([
    expect.stringMatching(/^FAIL SLACK_CONFIG_TOKEN is not set, and --mend needs it/),
  ]);
  const refused = { ...environment, SLACK_CONFIG_TOKEN: 'xoxe.xoxp-1-unknown' };
  expect(await check(refused)).toEqual([
    expect.stringMatching(/^FAIL Slack rejects SLACK_CONFIG_TOKEN \(invalid_auth\)\. Create a new one/),
  ]);
});
