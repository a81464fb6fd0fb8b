import manifest from './manifest.generated.json' with { type: 'json' };

/** The bot token scopes that the app needs: those of manifest.yml. */
export const REQUIRED_SCOPES: readonly string[] = manifest.oauth_config.scopes.bot;
