import { isAdminNow } from '../../relay/access/admins.ts';
import type { ServiceCredentials } from '../../relay/installations/service-client.ts';
import type { WorkspaceActor } from '../../relay/runtime/actors.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import * as strings from '../../render/strings/index.ts';
import { type ModalOutcome, openAndFillModal } from '../open-modal.ts';
import { accountFormView, accountNoticeView, accountSection } from './account-view.ts';
import type { WorkspaceAccount } from './workspace-account.ts';

/** The workspace's service account in the Home tab: admins see it, and change it in a modal. */
export class AccountSection {
  readonly #deps: Pick<RelayDeps, 'workspace' | 'log'>;
  readonly #account: WorkspaceAccount;
  readonly #onChanged: (actor: WorkspaceActor) => Promise<void>;

  /** `onChanged` updates the Home tab of the person who changed the account. */
  constructor(
    deps: Pick<RelayDeps, 'workspace' | 'log'>,
    account: WorkspaceAccount,
    onChanged: (actor: WorkspaceActor) => Promise<void>,
  ) {
    this.#deps = deps;
    this.#account = account;
    this.#onChanged = onChanged;
  }

  /** The section; empty if workspaces cannot have an account of their own. */
  async buildSection(workspace: string): Promise<ReturnType<typeof accountSection>> {
    if (!this.#account.isAvailable) return [];
    return accountSection(await this.#account.summary(workspace));
  }

  /** Opens the form. Throws a SlackError. */
  async open(actor: WorkspaceActor, triggerId: string): Promise<ModalOutcome> {
    const { workspace } = actor;
    const trigger = { workspace, triggerId };
    return openAndFillModal(this.#deps, trigger, accountNoticeView, strings.modalUnavailable, async () => {
      const mayOpen = this.#account.isAvailable && (await isAdminNow(this.#deps, actor));
      if (!mayOpen) return accountNoticeView(strings.account.refused.not_admin);
      return accountFormView(await this.#account.summary(workspace));
    });
  }

  /** Tries the credentials, saves them if they work, and shows the outcome in the modal. Throws a SlackError. */
  async submit(actor: WorkspaceActor, viewId: string, submitted: ServiceCredentials): Promise<void> {
    const { log } = this.#deps;
    const { workspace, person } = actor;
    let message: string;
    try {
      const outcome = await this.#account.set(workspace, person, submitted);
      if (outcome.kind === 'refused') message = strings.account.refused[outcome.why];
      else message = outcome.sameAccount ? strings.account.keyReplaced : strings.account.saved;
    } catch (error) {
      log.error({ workspace, err: error }, 'could not save a service account');
      message = strings.account.refused.failed;
    }
    await this.#deps.workspace(workspace)?.views.update(viewId, accountNoticeView(message));
    await this.#onChanged(actor);
  }

  /** Removes the workspace's own account. */
  async remove(actor: WorkspaceActor): Promise<void> {
    await this.#account.remove(actor.workspace, actor.person);
    await this.#onChanged(actor);
  }
}
