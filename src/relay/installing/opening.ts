import type { Identity } from '../../slack/identity.ts';
import type { Keyring } from '../../store/keyring.ts';
import type { Store } from '../../store/store.ts';
import { type ObservedGate, type WorkspaceOptions, workspaceOf } from '../workspaces.ts';
import type { Installed } from './installed.ts';
import { OneWorkspace } from './one-workspace.ts';
import { Tenancy } from './tenancy.ts';

/** Where tokens come from: one from the settings, or each workspace's own by OAuth. */
export interface TokenSources {
  store: Store;
  /** Whose token stands in the settings. */
  identity: Identity | undefined;
  /** The app's own credentials, and what seals the tokens. */
  oauth:
    | { clientId: string; clientSecret: string; keyring: Keyring; mayInstall: readonly string[] }
    | undefined;
  calls: WorkspaceOptions;
  /** A gate for the token of a workspace, or of the settings. */
  gateOf: (workspace: string | undefined) => ObservedGate;
}

/** The workspaces in which the bot is installed; `tenancy` where they are many. Throws StoreError. */
export async function openInstalled(
  sources: TokenSources,
): Promise<{ installed: Installed; tenancy: Tenancy | undefined }> {
  const { store, identity, oauth, calls, gateOf } = sources;
  const { slackApiUrl, log } = calls;
  if (oauth !== undefined) {
    const { keyring, clientId, clientSecret, mayInstall } = oauth;
    const tenancy = new Tenancy({
      store,
      keyring,
      mayInstall,
      renewal: { clientId, clientSecret, slackApiUrl, log },
      gateOf,
      build: (installation, gate, gone) => workspaceOf(installation, calls, gate, gone),
      log,
    });
    return { installed: tenancy.installed, tenancy };
  }
  if (identity === undefined) throw new TypeError('Neither a token nor OAuth is set.');
  const { installation, name } = identity;
  const { workspace, botUser, botId } = installation;
  await store.workspaces.put({ workspace, name, bot_user: botUser, bot_id: botId });
  const gate = gateOf(undefined);
  const installed = new OneWorkspace(installation, workspaceOf(installation, calls, gate), gate);
  return { installed, tenancy: undefined };
}
