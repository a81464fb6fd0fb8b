import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { manifestForHttp, manifestWithStep } from '../src/slack/app-manifest.ts';

const manifestSchema = z.looseObject({
  _metadata: z.looseObject({}),
  display_information: z.looseObject({ name: z.string() }),
  features: z.looseObject({ slash_commands: z.array(z.looseObject({ command: z.string() })) }),
  oauth_config: z.looseObject({ scopes: z.looseObject({ bot: z.array(z.string()) }) }),
  settings: z.looseObject({
    event_subscriptions: z.looseObject({ bot_events: z.array(z.string()) }),
    interactivity: z.looseObject({ is_enabled: z.boolean() }),
    socket_mode_enabled: z.boolean(),
    token_rotation_enabled: z.boolean(),
  }),
});
/** The manifest of the repository, or a variant of it. */
export type ManifestFile = z.infer<typeof manifestSchema>;

/** Slack publishes no limit for the link; servers and browsers commonly stop at 8,192 characters. */
export const MAX_LINK_LENGTH = 8_000;

/** The manifest in `manifest.yml`, for Socket Mode. */
export function readManifestFile(): ManifestFile {
  return manifestSchema.parse(parse(readFileSync(new URL('../manifest.yml', import.meta.url), 'utf8')));
}

/** Which variant of the manifest to make. */
export interface ManifestVariant {
  /** The https address at which Slack reaches the app; events then arrive by HTTP. */
  publicUrl?: string | undefined;
  /** Whether workspaces install the app by OAuth, at `publicUrl`; tokens then expire and are renewed. */
  oauth?: boolean | undefined;
  /** Whether Workflow Builder offers the step "Ask the agent". */
  workflowStep?: boolean | undefined;
}

/** The manifest for events by Socket Mode, or by HTTP at a public address. */
export function manifestVariant({ publicUrl, oauth = false, workflowStep }: ManifestVariant): ManifestFile {
  const file = readManifestFile();
  const manifest = workflowStep === true ? manifestSchema.parse(manifestWithStep(file)) : file;
  if (publicUrl === undefined) return manifest;
  return manifestSchema.parse(manifestForHttp(manifest, publicUrl, oauth));
}

/** The link that opens Slack's page for a new app with this manifest filled in. */
export function createAppLink(manifest: ManifestFile): string {
  const link = `https://api.slack.com/apps?new_app=1&manifest_json=${encodeURIComponent(JSON.stringify(manifest))}`;
  if (link.length > MAX_LINK_LENGTH)
    throw new Error(
      `The link has ${link.length} characters, more than ${MAX_LINK_LENGTH}: shorten manifest.yml.`,
    );
  return link;
}

/** What is wrong with a public address, if anything. Plain http is only for a Slack stand-in on this machine. */
export function publicUrlProblem(value: string, slackApiUrl = 'https://slack.com/api/'): string | undefined {
  const url = URL.parse(value);
  if (url === null || !/^https?:$/.test(url.protocol))
    return 'This is not an address. It looks like https://bot.example.org.';
  if (url.protocol === 'http:' && new URL(slackApiUrl).protocol === 'https:')
    return 'Slack sends events to https addresses only. Put a proxy with a certificate before the app.';
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '')
    return `Leave the path out: ${url.origin}. Slack calls /slack/events there.`;
  return undefined;
}
