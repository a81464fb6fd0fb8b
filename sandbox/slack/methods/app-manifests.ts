import { z } from 'zod';
import type { AppRegistration } from '../app-registration.ts';
import { type ManifestProblem, manifestProblems, manifestSchema } from '../manifest-schema.ts';
import { SlackRefusal } from '../slack-refusal.ts';
import { json, type Method, maybe, method, text, type WorkspaceDeps } from '../web-api-method.ts';

/** The app's credentials, as Slack shows them to its owner. */
export interface AppCredentials {
  clientId: string;
  clientSecret: string;
  signingSecret: string;
}

/** The methods for apps and configuration tokens. */
export function appManifestMethods(
  deps: WorkspaceDeps,
  app: AppRegistration,
  credentials: AppCredentials,
): Record<string, Method> {
  const { world } = deps;
  const exact = (appId: string | undefined) => {
    if (!app.exists || appId !== app.appId) throw new SlackRefusal('app_not_found');
  };
  const named = z.looseObject({ app_id: text });
  const withManifest = z.looseObject({ app_id: maybe, manifest: json });

  return {
    'apps.manifest.validate': method({ tier: 'tier3', token: 'configuration' }, withManifest, (args) => {
      if (args.app_id !== undefined) exact(args.app_id);
      const problems = manifestProblems(args.manifest);
      if (problems.length > 0) throw invalidManifest(problems);
      return { errors: [], warnings: [] };
    }),

    'apps.manifest.create': method({ tier: 'tier1', token: 'configuration' }, withManifest, (args, team) => {
      const manifest = checked(args.manifest);
      // This Slack has room for one app.
      if (app.exists) throw new SlackRefusal('managed_app_limit_reached');
      app.exists = true;
      app.update(manifest);
      const query = new URLSearchParams({
        client_id: credentials.clientId,
        scope: manifest.oauth_config.scopes.bot.join(','),
      });
      return {
        app_id: app.appId,
        credentials: {
          client_id: credentials.clientId,
          client_secret: credentials.clientSecret,
          verification_token: 'verification-token',
          signing_secret: credentials.signingSecret,
        },
        oauth_authorize_url: `${world.baseUrl}/oauth/v2/authorize?${query.toString()}`,
        team_id: team.id,
        team_domain: team.domain,
      };
    }),

    'apps.manifest.export': method({ tier: 'tier3', token: 'configuration' }, named, (args) => {
      exact(args.app_id);
      return { manifest: app.manifest ?? {} };
    }),

    'apps.manifest.update': method({ tier: 'tier1', token: 'configuration' }, withManifest, (args) => {
      exact(args.app_id);
      return { app_id: app.appId, permissions_updated: app.update(checked(args.manifest)) };
    }),

    'apps.manifest.delete': method({ tier: 'tier1', token: 'configuration' }, named, (args) => {
      exact(args.app_id);
      app.exists = false;
      app.manifest = undefined;
      for (const { installation } of world.teams.values()) installation.state = 'inactive';
      return {};
    }),

    'apps.icon.set': method(
      { tier: 'tier1', token: 'configuration' },
      z.looseObject({ app_id: text, file: z.instanceof(Uint8Array).optional() }),
      (args) => {
        exact(args.app_id);
        if (args.file === undefined) throw new SlackRefusal('icon_not_accessible');
        const size = pngSize(Buffer.from(args.file));
        if (size === undefined) throw new SlackRefusal('error_bad_format');
        const { width, height } = size;
        if (width !== height || width < 512 || width > 2_000) throw new SlackRefusal('invalid_icon_size');
        app.icon = size;
        return {};
      },
    ),

    'tooling.tokens.rotate': method(
      { tier: 'tier3', token: 'none' },
      z.looseObject({ refresh_token: text }),
      (args, team) => {
        if (!app.rotate(args.refresh_token)) throw new SlackRefusal('invalid_refresh_token');
        const { token, refreshToken } = app.configuration;
        return {
          token,
          refresh_token: refreshToken,
          team_id: team.id,
          user_id: [...team.people.keys()][0],
          iat: Math.floor(world.clock.now() / 1_000),
          exp: app.expiresAt,
        };
      },
    ),
  };
}

function checked(value: unknown) {
  const problems = manifestProblems(value);
  if (problems.length > 0) throw invalidManifest(problems);
  return manifestSchema.parse(value);
}

function invalidManifest(errors: ManifestProblem[]): SlackRefusal {
  return new SlackRefusal('invalid_manifest', { errors });
}

/** The size of a PNG picture in pixels (its first chunk, IHDR); undefined for anything else. */
function pngSize(bytes: Buffer): { width: number; height: number } | undefined {
  const isPng = bytes.length > 24 && bytes.toString('latin1', 1, 4) === 'PNG';
  return isPng ? { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) } : undefined;
}
