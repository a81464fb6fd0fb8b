import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { manifestSchema } from '../../sandbox/slack/manifest-schema.ts';
import { type SlackWorkspace, startSlackWorkspace } from '../../sandbox/slack/slack-workspace.ts';
import { createApp } from '../../setup/connect/app-creation.ts';
import { Interruption } from '../../setup/connect/interruption.ts';
import type { Questions } from '../../setup/connect/questions.ts';
import type { Session } from '../../setup/connect/session.ts';
import { SettingsFile } from '../../setup/connect/settings-file.ts';
import { manifestVariant } from '../../setup/manifest-file.ts';

let slack: SlackWorkspace;
let folder: string;
let said: string[];
let session: Session;
beforeEach(async () => {
  slack = await startSlackWorkspace({ appExists: false, limits: 'off' });
  folder = await mkdtemp(path.join(tmpdir(), 'taskthread-app-'));
  onTestFinished(() => slack.stop());
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  said = [];
  session = {
    questions: answering(slack.app.configuration.token),
    settings: new SettingsFile(folder, { SLACK_API_URL: slack.apiUrl }),
    secretPlace: 'env',
    say: (line) => said.push(line),
    interruption: new Interruption(() => undefined),
  };
});

/** A person who gives one answer to questions for text, and keeps every default. */
function answering(answer: string): Questions {
  return {
    choose: async ({ choices, default: kept }) => {
      const chosen = choices.find(({ value }) => value === kept);
      if (chosen === undefined) throw new Error('There is no default.');
      return chosen.value;
    },
    ask: async ({ check }) => {
      expect(await check(answer)).toBeUndefined();
      return answer;
    },
    confirm: async (question) => question.default,
    reject: (_, problem) => {
      throw new Error(problem);
    },
  };
}

test('an app is made once: the next run brings it up to date, and says if it must be installed again', async () => {
  const made = await createApp(session, undefined);
  expect(made).toMatchObject({ appId: slack.app.appId, signingSecret: slack.signingSecret });
  expect(await readFile(path.join(folder, '.env'), 'utf8')).toContain(`SLACK_APP_ID=${slack.app.appId}\n`);
  const atSlack = manifestVariant({});
  const [lost] = atSlack.oauth_config.scopes.bot.splice(0, 1);
  atSlack.display_information.name = 'Our agent';
  slack.app.update(manifestSchema.parse(atSlack));

  expect((await createApp(session, undefined)).appId).toBe(made.appId);
  expect(said.join('\n')).toContain(`Updated at Slack: oauth_config.scopes.bot: ${lost}.`);
  expect(said.join('\n')).toContain('Its permissions have changed. Install it again');
  expect(slack.app.manifest?.oauth_config.scopes.bot).toContain(lost);
  // The name is the owner's choice.
  expect(slack.app.manifest?.display_information.name).toBe('Our agent');
  const before = said.length;
  await createApp(session, undefined);
  expect(said.slice(before)).toEqual([]);
});

test('an app whose id cannot be saved is deleted again', async () => {
  await rm(folder, { recursive: true });
  await expect(createApp(session, undefined)).rejects.toThrow(/ENOENT/);
  expect(slack.calls.map(({ method }) => method)).toContain('apps.manifest.create');
  expect(slack.app.exists).toBe(false);
});

test('if the answer to the creation is lost, the person is told where to look for the app', async () => {
  slack.faults.add({ call: 'apps.manifest.create', fault: { kind: 'lost' } });
  await expect(createApp(session, undefined)).rejects.toThrow(
    /did not say whether the app was made\. Look at https:\/\/api\.slack\.com\/apps/,
  );
});

test('an app that was deleted at Slack is made anew', async () => {
  await createApp(session, undefined);
  slack.app.exists = false;
  await createApp(session, undefined);
  expect(slack.app.exists).toBe(true);
});

test('a missing icon does not stop anything, and can be set by hand', async () => {
  slack.faults.add({
    call: 'apps.icon.set',
    fault: { kind: 'status', status: 200, body: { ok: false, error: 'fatal_error' } },
  });
  await createApp(session, undefined);
  expect(said.join('\n')).toMatch(/Its icon could not be set \(fatal_error\)\. Set setup\/icon\.png by hand/);
});
