import type { Installation } from '../../slack/installation.ts';
import type { TokenIdentity } from '../../slack/token-identity.ts';
import type { Store } from '../../store/store.ts';
import type { Keyring } from '../../store/workspaces/keyring.ts';
import type { WorkspaceClient } from '../runtime/deps.ts';
import { OAuthInstallations } from './oauth-installations.ts';
import type { ObservedGate } from './observed-gate.ts';
import { createWorkspaceClient, type WorkspaceClientOptions } from './workspace-client.ts';
import type { WorkspaceRegistry } from './workspace-registry.ts';

/** Where tokens come from: one from the settings, or each workspace's own by OAuth. */
export interface RegistrySources {
  store: Store;
  /** The identity of the token in the settings. */
  identity: TokenIdentity | undefined;
  /** The app's own credentials, and the keys that encrypt the tokens. */
  oauth:
    | { clientId: string; clientSecret: string; keyring: Keyring; mayInstall: readonly string[] }
    | undefined;
  workspaceOptions: WorkspaceClientOptions;
  /** See UninstallEventsDeps. */
  confirmAfterMs?: number | undefined;
  /** The gate of a workspace's token; undefined: of the token in the settings. */
  tokenGateFor: (workspace: string | undefined) => ObservedGate;
}

/** Opens the registry of workspaces, with `oauthInstallations` where the app is installed by OAuth. Throws StoreError. */
export async function openRegistry(
  sources: RegistrySources,
): Promise<{ registry: WorkspaceRegistry; oauthInstallations: OAuthInstallations | undefined }> {
  const { store, identity, oauth, workspaceOptions, tokenGateFor } = sources;
  if (oauth !== undefined) {
    const { keyring, clientId, clientSecret, mayInstall } = oauth;
    const { slackApiUrl, log } = workspaceOptions;
    const oauthInstallations = new OAuthInstallations({
      store,
      keyring,
      mayInstall,
      tokenRenewal: { clientId, clientSecret, slackApiUrl, log },
      tokenGateFor,
      confirmAfterMs: sources.confirmAfterMs,
      createWorkspace: (installation, gate, uninstalled) =>
        createWorkspaceClient(installation, workspaceOptions, gate, uninstalled),
      log,
    });
    return { registry: oauthInstallations.workspaces, oauthInstallations };
  }
  if (identity === undefined) throw new TypeError('Neither a token nor OAuth is set.');
  const { installation, name } = identity;
  const { workspace, botUser, botId } = installation;
  await store.workspaces.put({ workspace, name, bot_user_id: botUser, bot_id: botId });
  const gate = tokenGateFor(undefined);
  const client = createWorkspaceClient(installation, workspaceOptions, gate);
  return { registry: singleWorkspace(installation, client, gate), oauthInstallations: undefined };
}

/** The registry of the one workspace whose token is in the settings. */
function singleWorkspace(
  { workspace: id, token, botUser, botId }: Installation,
  client: WorkspaceClient,
  gate: ObservedGate,
): WorkspaceRegistry {
  const workspace = (asked: string) => (asked === id ? client : undefined);
  return {
    ids: () => [id],
    workspace,
    find: async (query) => workspace(query.workspace),
    authorization: async () => ({ botToken: token, botUserId: botUser, botId, teamId: id }),
    tokenRefusedSince: () => gate.refusedSince,
    refusedOwnTokenCount: () => 0,
  };
}
