import type { Logger } from 'pino';
import manifest from './manifest.generated.json' with { type: 'json' };

/** The bot token scopes that the app needs: those of manifest.yml. */
export const REQUIRED_SCOPES: readonly string[] = manifest.oauth_config.scopes.bot;

/** Those that are not among the granted ones. */
export function missingScopes(granted: readonly string[]): readonly string[] {
  const names = new Set(granted.map((name) => name.trim()));
  return REQUIRED_SCOPES.filter((name) => !names.has(name));
}

/** Keeps which scopes an installation lacks, as each response says; none: this one does not. */
export function noteScopes(
  installation: { workspace: string; missingScopes?: readonly string[] },
  log: Logger,
  granted: readonly string[],
): void {
  const { workspace, missingScopes: before = [] } = installation;
  if (granted.length === 0 || workspace === '') return;
  const missing = missingScopes(granted);
  installation.missingScopes = missing;
  if (missing.length > 0 && missing.join() !== before.join())
    log.error({ workspace, missing }, 'the app lacks scopes in this workspace; install it there again');
}
