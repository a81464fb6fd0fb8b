import { z } from 'zod';

/** A parameter of a step: the shape of manifests of version 1. */
const parameterSchema = z.strictObject({
  name: z.string().min(1),
  type: z.enum(['string', 'boolean', 'integer', 'number', 'slack#/types/user_id', 'slack#/types/channel_id']),
  title: z.string().min(1),
  description: z.string().min(1),
  hint: z.string().optional(),
  is_required: z.boolean(),
});
export type StepParameter = z.infer<typeof parameterSchema>;

/** A step for Workflow Builder. */
const functionSchema = z.strictObject({
  title: z.string().min(1),
  description: z.string().min(1),
  input_parameters: z.record(z.string(), parameterSchema),
  output_parameters: z.record(z.string(), parameterSchema),
});

/** Slack's manifest as far as the app uses it. Slack refuses unknown keys, and so does this. */
export const manifestSchema = z.strictObject({
  _metadata: z.strictObject({ major_version: z.literal(1), minor_version: z.int() }),
  display_information: z.strictObject({
    name: z.string().min(1).max(35),
    // the page says 140; the method refuses 140
    description: z.string().min(1).max(139),
    long_description: z.string().min(175).max(4000),
    background_color: z.string().regex(/^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i),
  }),
  features: z.strictObject({
    app_home: z.strictObject({
      home_tab_enabled: z.boolean(),
      messages_tab_enabled: z.boolean(),
      messages_tab_read_only_enabled: z.boolean(),
    }),
    bot_user: z.strictObject({ display_name: z.string().min(1).max(80), always_online: z.boolean() }),
    slash_commands: z
      .array(
        z.strictObject({
          command: z.string().regex(/^\/[a-z_-]{1,31}$/),
          description: z.string().min(1).max(2000),
          usage_hint: z.string().max(1000).optional(),
          should_escape: z.boolean(),
          url: z.url().optional(),
        }),
      )
      .max(50),
    shortcuts: z
      .array(
        z.strictObject({
          name: z.string().min(1).max(24),
          type: z.enum(['global', 'message']),
          callback_id: z.string().min(1).max(255),
          description: z.string().min(1).max(150),
        }),
      )
      .max(10),
  }),
  oauth_config: z.strictObject({
    redirect_urls: z.array(z.url()).optional(),
    scopes: z.strictObject({ bot: z.array(z.string()).min(1).max(255) }),
  }),
  functions: z
    .record(z.string().min(1).max(100), functionSchema)
    .refine((functions) => Object.keys(functions).length <= 50)
    .optional(),
  settings: z.strictObject({
    event_subscriptions: z.strictObject({
      request_url: z.url().optional(),
      bot_events: z.array(z.string()).min(1).max(100),
    }),
    interactivity: z.strictObject({ is_enabled: z.boolean(), request_url: z.url().optional() }),
    function_runtime: z.literal('remote').optional(),
    org_deploy_enabled: z.boolean(),
    socket_mode_enabled: z.boolean(),
    token_rotation_enabled: z.boolean(),
  }),
});
export type Manifest = z.infer<typeof manifestSchema>;

/** One thing that Slack refuses in a manifest. */
export interface ManifestProblem {
  code: string;
  message: string;
  /** A JSON pointer. */
  pointer: string;
}

/** What Slack would refuse in a manifest: its shape, addresses that HTTP needs, and addresses without https. */
export function manifestProblems(value: unknown): ManifestProblem[] {
  const parsed = manifestSchema.safeParse(value);
  if (parsed.success) return [...addressProblems(parsed.data), ...functionProblems(parsed.data)];
  return parsed.error.issues.map(({ message, path }) => ({
    code: 'illegal_manifest_value',
    message,
    pointer: `/${path.join('/')}`,
  }));
}

/** Slack accepts functions only of apps that are organisation-ready and run them themselves, and hears of them by an event. */
function functionProblems({ functions, settings }: Manifest): ManifestProblem[] {
  if (functions === undefined) return [];
  const { org_deploy_enabled, function_runtime, event_subscriptions, interactivity } = settings;
  const wanted: [isThere: boolean, pointer: string][] = [
    [org_deploy_enabled, '/settings/org_deploy_enabled'],
    [function_runtime === 'remote', '/settings/function_runtime'],
    [interactivity.is_enabled, '/settings/interactivity/is_enabled'],
    [
      event_subscriptions.bot_events.includes('function_executed'),
      '/settings/event_subscriptions/bot_events',
    ],
  ];
  return wanted
    .filter(([isThere]) => !isThere)
    .map(([, pointer]) => ({ code: 'functions_not_enabled', message: 'Functions require this', pointer }));
}

function addressProblems({ settings, features, oauth_config }: Manifest): ManifestProblem[] {
  const places: [pointer: string, url: string | undefined][] = [
    ['/settings/event_subscriptions/request_url', settings.event_subscriptions.request_url],
    ['/settings/interactivity/request_url', settings.interactivity.request_url],
    ...features.slash_commands.map(({ url }, at): [string, string | undefined] => [
      `/features/slash_commands/${at}/url`,
      url,
    ]),
  ];
  const redirects = (oauth_config.redirect_urls ?? []).map((url, at): [string, string] => [
    `/oauth_config/redirect_urls/${at}`,
    url,
  ]);
  return [
    ...places
      .filter(([, url]) => url === undefined && !settings.socket_mode_enabled)
      .map(([pointer]) => ({
        code: 'missing_url',
        message: 'A URL is required without Socket Mode',
        pointer,
      })),
    ...[...places, ...redirects]
      .filter(([, url]) => url !== undefined && !isReachable(url))
      .map(([pointer]) => ({ code: 'invalid_url', message: 'URLs must use https', pointer })),
  ];
}

/** Slack wants https; this one also reaches its own machine. */
function isReachable(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || hostname === '127.0.0.1';
}
