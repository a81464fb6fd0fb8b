import type { CredentialGate } from '../../calls/credential-gate.ts';
import { slackTokens, type TokenIdentity } from '../../slack/tokens.ts';
import type { Store } from '../../store/store.ts';
import type { Keyring } from '../../store/workspaces/encryption.ts';
import { createWorkspaceClient, type WorkspaceClientOptions } from '../runtime/deps.ts';
import { InstalledWorkspaces, type WorkspaceRegistry } from './installed-workspaces.ts';
import { encryptTokens, type GrantedInstallation, TokenRotation } from './token-rotation.ts';
import { acceptUninstallEvent, type UninstallEvent, uninstallationJobs } from './uninstall-events.ts';

/** The app's own credentials, and the keys that encrypt the tokens. */
interface OAuthOptions {
  clientId: string;
  clientSecret: string;
  keyring: Keyring;
  /** The workspaces (T…) and organisations (E…) that may install the app; empty: all. */
  mayInstall: readonly string[];
}

/** Where tokens come from: the identity of the one in the settings, or each workspace's own by OAuth. */
interface RegistrySources {
  store: Store;
  oauth: OAuthOptions | undefined;
  identity: TokenIdentity | undefined;
  workspaceOptions: WorkspaceClientOptions;
  /** The gate of a workspace's token; undefined: of the token in the settings. */
  tokenGateFor: (workspace: string | undefined) => CredentialGate;
  /** The time between the two refusals of a token that end its installation (ms). */
  confirmAfterMs?: number | undefined;
}

function createOAuthInstallations(sources: RegistrySources, oauth: OAuthOptions) {
  const { store, workspaceOptions, tokenGateFor, confirmAfterMs } = sources;
  const { log } = workspaceOptions;
  const slack = slackTokens({ ...oauth, ...workspaceOptions });
  const parts = { store, keyring: oauth.keyring, slack, log };
  const workspaces = new InstalledWorkspaces({
    ...parts,
    tokenGateFor,
    createWorkspace: (installation, gate, uninstalled) =>
      createWorkspaceClient(installation, workspaceOptions, gate, uninstalled),
  });
  const onChanged = () => workspaces.refresh();

  /** Revokes the token that Slack has already granted, except that of an installation that is in use. */
  async function refuse(granted: GrantedInstallation): Promise<never> {
    const { workspace, enterprise_id: enterprise, tokens } = granted;
    const why = 'refused an installation: INSTALL_WORKSPACES does not list the workspace';
    log.warn({ workspace, enterprise }, why);
    // Slack may grant a workspace the same token again.
    const isInUse = (await store.installations.get(workspace))?.encrypted_tokens != null;
    if (!isInUse)
      await slack.revoke(tokens.bot.token).catch((error: unknown) => {
        log.warn({ workspace, err: error }, 'revoking the token of a refused installation failed');
      });
    throw new InstallRefused(workspace);
  }

  return {
    workspaces,
    acceptUninstallEvent: (event: UninstallEvent) => acceptUninstallEvent(store, event, workspaces),
    uninstallationJobs: uninstallationJobs(parts, onChanged, confirmAfterMs),
    tokenRotation: new TokenRotation(parts, onChanged),
    /** Stores an installation in place of the one before. Throws InstallRefused if the workspace is not allowed to. */
    install: async (granted: GrantedInstallation): Promise<void> => {
      const { tokens, installer, ...row } = granted;
      const { workspace, is_enterprise_install: organisation } = row;
      const isListed = [workspace, row.enterprise_id ?? ''].some((id) => oauth.mayInstall.includes(id));
      if (oauth.mayInstall.length > 0 && !isListed) return refuse(granted);
      const encrypted_tokens = encryptTokens(oauth.keyring, workspace, tokens);
      await store.installations.put({ ...row, encrypted_tokens });
      const details = { setting: 'installation', installed: true };
      await store.audit.add({ workspace, kind: 'setting', user_id: installer, details });
      log.info({ workspace, organisation }, 'app installed');
      await workspaces.refresh();
    },
  };
}

/** The operator does not allow this workspace to install the app. */
export class InstallRefused extends Error {
  readonly code = 'install_refused';
  readonly workspace: string;

  constructor(workspace: string) {
    super(`${workspace} may not install the app. To allow it, add it to INSTALL_WORKSPACES.`);
    this.name = 'InstallRefused';
    this.workspace = workspace;
  }
}

/** Opens the registry of workspaces, with `oauthInstallations` where the app is installed by OAuth. Throws StoreError. */
export async function openRegistry(sources: RegistrySources) {
  const { store, identity, oauth, workspaceOptions, tokenGateFor } = sources;
  if (oauth !== undefined) {
    const oauthInstallations = createOAuthInstallations(sources, oauth);
    return { registry: oauthInstallations.workspaces, oauthInstallations };
  }
  if (identity === undefined) throw new TypeError('Neither a token nor OAuth is set.');
  const { installation, name } = identity;
  const { workspace, botUser, botId } = installation;
  await store.workspaces.put({ workspace, name, bot_user_id: botUser, bot_id: botId });
  const gate = tokenGateFor(undefined);
  const client = createWorkspaceClient(installation, workspaceOptions, gate);
  const clientOf = (id: string) => (id === workspace ? client : undefined);
  const registry: WorkspaceRegistry = {
    ids: () => [workspace],
    ofBot: (userId) => (userId === botUser ? [workspace] : []),
    organisationOf: () => undefined,
    workspace: clientOf,
    find: async (query) => clientOf(query.workspace),
    tokenRefusedSince: () => gate.refusedSince,
    refusedOwnTokenCount: () => 0,
    missingScopes: () => installation.missingScopes ?? [],
  };
  return { registry, oauthInstallations: undefined };
}
