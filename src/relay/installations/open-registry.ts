import type { TokenIdentity } from '../../slack/token-identity.ts';
import type { Store } from '../../store/store.ts';
import type { Keyring } from '../../store/workspaces/keyring.ts';
import { OAuthInstallations } from './oauth-installations.ts';
import { SingleWorkspace } from './single-workspace.ts';
import {
  createWorkspaceClient,
  type ObservedTokenGate,
  type WorkspaceClientOptions,
} from './workspace-client.ts';
import type { WorkspaceRegistry } from './workspace-registry.ts';

/** Where tokens come from: one from the settings, or each workspace's own by OAuth. */
export interface RegistrySources {
  store: Store;
  /** Whose token stands in the settings. */
  identity: TokenIdentity | undefined;
  /** The app's own credentials, and what seals the tokens. */
  oauth:
    | { clientId: string; clientSecret: string; keyring: Keyring; mayInstall: readonly string[] }
    | undefined;
  workspaceOptions: WorkspaceClientOptions;
  /** A gate for the token of a workspace, or of the settings. */
  tokenGateFor: (workspace: string | undefined) => ObservedTokenGate;
}

/** The workspaces in which the bot is installed; `tenancy` where they are many. Throws StoreError. */
export async function openRegistry(
  sources: RegistrySources,
): Promise<{ installed: WorkspaceRegistry; tenancy: OAuthInstallations | undefined }> {
  const { store, identity, oauth, workspaceOptions: calls, tokenGateFor: gateOf } = sources;
  const { slackApiUrl, log } = calls;
  if (oauth !== undefined) {
    const { keyring, clientId, clientSecret, mayInstall } = oauth;
    const tenancy = new OAuthInstallations({
      store,
      keyring,
      mayInstall,
      tokenRenewal: { clientId, clientSecret, slackApiUrl, log },
      tokenGateFor: gateOf,
      createWorkspace: (installation, gate, gone) => createWorkspaceClient(installation, calls, gate, gone),
      log,
    });
    return { installed: tenancy.workspaces, tenancy };
  }
  if (identity === undefined) throw new TypeError('Neither a token nor OAuth is set.');
  const { installation, name } = identity;
  const { workspace, botUser, botId } = installation;
  await store.workspaces.put({ workspace, name, bot_user: botUser, bot_id: botId });
  const gate = gateOf(undefined);
  const installed = new SingleWorkspace(installation, createWorkspaceClient(installation, calls, gate), gate);
  return { installed, tenancy: undefined };
}
