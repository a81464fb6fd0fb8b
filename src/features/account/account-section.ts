import { type AdminSection, type HomeActor, isAdminNow } from '../../relay/access/admins.ts';
import type { ServiceCredentials } from '../../relay/installations/service-client.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import type { FormView } from '../../render/blocks/form-inputs.ts';
import * as strings from '../../render/strings/index.ts';
import { type ModalOutcome, openAndFillModal } from '../open-modal.ts';
import { accountFormView, accountNoticeView, accountSection } from './account-view.ts';
import type { WorkspaceAccount } from './workspace-account.ts';

/** What showing accounts needs. */
export interface AccountSectionDeps extends Pick<RelayDeps, 'workspace' | 'log'> {
  account: WorkspaceAccount;
  /** Shows somebody's Home tab anew, after a change. */
  onChanged?: ((visitor: HomeActor) => Promise<void>) | undefined;
}

/** The workspace's account in the Home tab: shown to admins, and set by them in a modal. */
export class AccountSection implements AdminSection {
  readonly #deps: AccountSectionDeps;

  constructor(deps: AccountSectionDeps) {
    this.#deps = deps;
  }

  /** The account's part of an admin's Home tab; nothing where none can be set. */
  async buildSection(workspace: string): Promise<ReturnType<typeof accountSection>> {
    const { account: setting } = this.#deps;
    if (!setting.isAvailable) return [];
    return accountSection(await setting.summary(workspace));
  }

  /** Opens the form. Throws a SlackError. */
  async open(visitor: HomeActor, triggerId: string): Promise<ModalOutcome> {
    const { account: setting } = this.#deps;
    const at = { workspace: visitor.workspace, triggerId };
    const texts = { notice: accountNoticeView, failed: strings.modalUnavailable };
    return openAndFillModal(this.#deps, at, texts, async () => {
      const may = setting.isAvailable && (await isAdminNow(this.#deps, visitor));
      if (!may) return accountNoticeView(strings.account.refused.not_admin);
      return accountFormView(await setting.summary(visitor.workspace));
    });
  }

  /** What the modal shows as soon as the form is sent. */
  pendingView(): FormView {
    return accountNoticeView(strings.account.testing);
  }

  /** Tries what was typed, keeps it where it works, and says in the modal what came of it. */
  async submit(visitor: HomeActor, viewId: string, submitted: ServiceCredentials): Promise<void> {
    const { log } = this.#deps;
    const { workspace, person } = visitor;
    let message: string;
    try {
      const outcome = await this.#deps.account.set(workspace, person, submitted);
      if (outcome.kind === 'refused') message = strings.account.refused[outcome.why];
      else message = outcome.sameAccount ? strings.account.keyReplaced : strings.account.saved;
    } catch (error) {
      log.error({ workspace, err: error }, 'an account could not be set');
      message = strings.account.refused.failed;
    }
    await this.#deps.workspace(workspace)?.views.update(viewId, accountNoticeView(message));
    await this.#deps.onChanged?.(visitor);
  }

  /** Takes the workspace's own account away. */
  async remove(visitor: HomeActor): Promise<void> {
    await this.#deps.account.remove(visitor.workspace, visitor.person);
    await this.#deps.onChanged?.(visitor);
  }
}
