import type { TokenIdentity } from '../../slack/token-identity.ts';
import type { WorkspaceClient } from '../runtime/deps.ts';
import { createWorkspaceClient } from '../runtime/workspace-client.ts';
import type { CredentialStatus } from './credential-status.ts';
import { OAuthInstallations, type OAuthInstallationsDeps } from './oauth-installations.ts';
import type { WorkspaceRegistry } from './workspace-registry.ts';

/** Where tokens come from: one from the settings, or each workspace's own by OAuth. */
export interface RegistrySources extends Omit<OAuthInstallationsDeps, 'oauth'> {
  oauth: OAuthInstallationsDeps['oauth'] | undefined;
  /** The identity of the token in the settings. */
  identity: TokenIdentity | undefined;
}

/** Opens the registry of workspaces, with `oauthInstallations` where the app is installed by OAuth. Throws StoreError. */
export async function openRegistry(
  sources: RegistrySources,
): Promise<{ registry: WorkspaceRegistry; oauthInstallations: OAuthInstallations | undefined }> {
  const { store, identity, oauth, workspaceOptions, tokenGateFor } = sources;
  if (oauth !== undefined) {
    const oauthInstallations = new OAuthInstallations({ ...sources, oauth });
    return { registry: oauthInstallations.workspaces, oauthInstallations };
  }
  if (identity === undefined) throw new TypeError('Neither a token nor OAuth is set.');
  const { installation, name } = identity;
  const { workspace, botUser, botId } = installation;
  await store.workspaces.put({ workspace, name, bot_user_id: botUser, bot_id: botId });
  const gate = tokenGateFor(undefined);
  const client = createWorkspaceClient(installation, workspaceOptions, gate);
  return { registry: singleWorkspace(workspace, client, gate), oauthInstallations: undefined };
}

/** The registry of the one workspace whose token is in the settings. */
function singleWorkspace(id: string, client: WorkspaceClient, gate: CredentialStatus): WorkspaceRegistry {
  const workspace = (asked: string) => (asked === id ? client : undefined);
  return {
    ids: () => [id],
    workspace,
    find: async (query) => workspace(query.workspace),
    tokenRefusedSince: () => gate.refusedSince,
    refusedOwnTokenCount: () => 0,
  };
}
