import manifest from './manifest.generated.json' with { type: 'json' };

/** The bot token scopes that the app needs: those of manifest.yml. */
export const REQUIRED_SCOPES: readonly string[] = manifest.oauth_config.scopes.bot;

/** Those that are not among the granted ones. */
export function missingScopes(granted: readonly string[]): readonly string[] {
  const names = new Set(granted.map((name) => name.trim()));
  return REQUIRED_SCOPES.filter((name) => !names.has(name));
}
