import { isAdminFor } from '../../relay/access/access-policy.ts';
import type { ButtonHandlers, FormHandlers, WorkspaceActor } from '../../relay/runtime/control-request.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import { formModal, type ViewBlock } from '../../render/blocks/modal.ts';
import {
  actionsBlock,
  buttonElement,
  mrkdwnSection,
  plainText,
  sectionBlock,
} from '../../render/blocks/slack-blocks.ts';
import * as strings from '../../render/strings/index.ts';
import { WHOLE_WORKSPACE } from '../../store/workspaces/settings-store.ts';
import {
  type FormErrors,
  type ModalOutcome,
  type ModalTrigger,
  openForAdmins,
  savedOrErrors,
} from '../modals.ts';
import {
  auditedSettings,
  changesSince,
  encodeSnapshot,
  type FormInput,
  parseSnapshot,
  settingInputs,
  workspaceSummary,
} from './settings-form.ts';

const CALLBACK = 'workspace_settings';

/** Longest lookup of the sender (ms): Slack waits 3 s for the response to a form. */
const ADMIN_CHECK_TIMEOUT_MS = 2_000;

const words = strings.workspaceSettings;

/** Who may use the agent in a workspace, and where: admins see it in the Home tab, and change it in a modal. */
export class WorkspaceSettings {
  readonly #deps: RelayDeps;
  readonly buttons: ButtonHandlers<'workspace_settings_change'> = {
    workspace_settings_change: (press) => this.#open(press),
  };
  readonly forms: FormHandlers = {
    [CALLBACK]: async (form) => savedOrErrors(await this.#save(form), words.title),
  };
  readonly #onChanged: (actor: WorkspaceActor) => Promise<void>;

  /** `onChanged` updates the Home tab of the person who changed the settings. */
  constructor(deps: RelayDeps, onChanged: (actor: WorkspaceActor) => Promise<void>) {
    this.#deps = deps;
    this.#onChanged = onChanged;
  }

  /** The section of an admin's Home tab. */
  async buildSection(id: string): Promise<ViewBlock[]> {
    const settings = await this.#deps.store.settings.get(id, WHOLE_WORKSPACE);
    return [
      { type: 'header', text: plainText(words.title) },
      mrkdwnSection(this.#withLimits(workspaceSummary(settings, this.#deps.settings))),
      actionsBlock([buttonElement('workspace_settings_change', 'change')]),
    ];
  }

  #withLimits(text: string): string {
    return `${text} ${strings.operatorLimits(this.#deps.settings.answers)}`.trim();
  }

  /** Opens the form. Throws a SlackError. */
  async #open(actor: WorkspaceActor & ModalTrigger): Promise<ModalOutcome> {
    const about = { title: words.title, refusal: words.notAdmin, control: 'workspace_settings' };
    return openForAdmins(this.#deps, actor, about, async () => {
      const workspace = await this.#deps.store.settings.get(actor.workspace, WHOLE_WORKSPACE);
      const inputs = settingInputs('workspace', { workspace }, this.#deps.settings);
      return formModal(words.title, [sectionBlock(this.#withLimits(words.about)), ...inputs], {
        callback: CALLBACK,
        metadata: encodeSnapshot('workspace', WHOLE_WORKSPACE, workspace),
        submit: strings.saveSettings,
      });
    });
  }

  /** Saves what an admin has changed in the form. Throws a StoreError. */
  async #save(form: WorkspaceActor & { metadata: string; input: FormInput }): Promise<FormErrors> {
    const { store, log } = this.#deps;
    const { workspace, person, metadata } = form;
    const timeout = AbortSignal.timeout(ADMIN_CHECK_TIMEOUT_MS);
    if (!(await isAdminFor(this.#deps, form, 'workspace_settings', timeout))) {
      const { unknown } = strings.channelSettingsRefused;
      return { workspace_allowed_users: timeout.aborted ? unknown : words.notAdmin };
    }
    const snapshot = parseSnapshot(metadata);
    if (snapshot === undefined) return { workspace_allowed_users: strings.modalUnavailable };
    const { settings, errors } = changesSince(snapshot, 'workspace', form);
    if (Object.keys({ ...settings, ...errors }).length === 0 || Object.keys(errors).length > 0) return errors;
    const details = { setting: 'workspace', ...auditedSettings(settings) };
    await store.transaction(async (within) => {
      await within.settings.set(workspace, WHOLE_WORKSPACE, person, settings);
      await within.audit.add({ workspace, user_id: person, kind: 'setting', details });
    });
    log.info({ workspace, person, ...details }, 'settings of a workspace changed');
    this.#onChanged({ workspace, person }).catch((error: unknown) =>
      log.debug({ workspace, err: error }, 'could not update a Home tab'),
    );
    return {};
  }
}
