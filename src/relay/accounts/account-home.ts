import { accountForm, accountNotice, accountSection } from '../../reply/views/account-view.ts';
import type { FormView } from '../../reply/views/inputs.ts';
import * as words from '../../reply/words.ts';
import { type AdminSection, isAdminNow, type Visitor } from '../admins.ts';
import type { RelayParts } from '../context.ts';
import { type Opened, openAndFill } from '../windows.ts';
import type { AccountSetting } from './account-setting.ts';
import type { Credentials } from './service.ts';

/** What showing accounts needs. */
export interface AccountHomeParts extends Pick<RelayParts, 'workspace' | 'log'> {
  setting: AccountSetting;
  /** Shows somebody's Home tab anew, after a change. */
  onChanged?: ((visitor: Visitor) => Promise<void>) | undefined;
}

/** The workspace's account in the Home tab: shown to admins, and set by them in a modal. */
export class AccountHome implements AdminSection {
  readonly #parts: AccountHomeParts;

  constructor(parts: AccountHomeParts) {
    this.#parts = parts;
  }

  /** The account's part of an admin's Home tab; nothing where none can be set. */
  async section(workspace: string): Promise<ReturnType<typeof accountSection>> {
    const { setting } = this.#parts;
    if (!setting.offered) return [];
    return accountSection(await setting.shown(workspace));
  }

  /** Opens the form. Throws a SlackError. */
  async open(visitor: Visitor, triggerId: string): Promise<Opened> {
    const { setting } = this.#parts;
    const at = { workspace: visitor.workspace, triggerId };
    const said = { notice: accountNotice, failed: words.windowAway };
    return openAndFill(this.#parts, at, said, async () => {
      const may = setting.offered && (await isAdminNow(this.#parts, visitor));
      if (!may) return accountNotice(words.account.refused.not_admin);
      return accountForm(await setting.shown(visitor.workspace));
    });
  }

  /** What the modal shows as soon as the form is sent. */
  trying(): FormView {
    return accountNotice(words.account.trying);
  }

  /** Tries what was typed, keeps it where it works, and says in the modal what came of it. */
  async set(visitor: Visitor, viewId: string, typed: Credentials): Promise<void> {
    const { log } = this.#parts;
    const { workspace, person } = visitor;
    let said: string;
    try {
      const outcome = await this.#parts.setting.set(workspace, person, typed);
      if (outcome.kind === 'refused') said = words.account.refused[outcome.why];
      else said = outcome.sameAccount ? words.account.doneSame : words.account.done;
    } catch (error) {
      log.error({ workspace, err: error }, 'an account could not be set');
      said = words.account.refused.failed;
    }
    await this.#parts.workspace(workspace)?.views.update(viewId, accountNotice(said));
    await this.#parts.onChanged?.(visitor);
  }

  /** Takes the workspace's own account away. */
  async remove(visitor: Visitor): Promise<void> {
    await this.#parts.setting.remove(visitor.workspace, visitor.person);
    await this.#parts.onChanged?.(visitor);
  }
}
