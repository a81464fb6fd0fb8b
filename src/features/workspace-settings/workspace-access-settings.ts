import { type AdminSection, type HomeActor, isAdminNow } from '../../relay/access/admins.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import type { FormView } from '../../render/blocks/form-inputs.ts';
import * as strings from '../../render/strings/index.ts';
import type { AllowedUsers } from '../../store/schema.ts';
import { formatBotList, parseBotList } from '../bot-list.ts';
import { type ModalOutcome, openAndFillModal } from '../open-modal.ts';
import {
  type WorkspaceAccessFields,
  workspaceAccessFormView,
  workspaceAccessNoticeView,
  workspaceAccessSection,
} from './workspace-access-view.ts';

/** Slack waits 3 s for what becomes of a form: who sent it must be known in this time (ms). */
const ADMIN_CHECK_TIMEOUT_MS = 2_000;

/** What somebody filled into the form. */
export interface WorkspaceAccessInput {
  admits: AllowedUsers | null;
  bots: string;
}

/** What is wrong with the form, by the id of the field below which it is said; nothing where it was saved. */
export type WorkspaceAccessErrors = Readonly<Record<string, string>>;

/** Who may use the agent in a workspace: shown to its admins in the Home tab, and set by them. */
export class WorkspaceAccessSettings implements AdminSection {
  readonly #deps: RelayDeps;
  readonly #onChanged: (actor: HomeActor) => Promise<void>;

  /** `onChanged` shows somebody's Home tab anew. */
  constructor(deps: RelayDeps, onChanged: (actor: HomeActor) => Promise<void>) {
    this.#deps = deps;
    this.#onChanged = onChanged;
  }

  async buildSection(workspace: string): Promise<ReturnType<typeof workspaceAccessSection>> {
    return workspaceAccessSection(await this.#currentSettings(workspace));
  }

  /** Opens the form. Throws a SlackError. */
  async open(actor: HomeActor, triggerId: string): Promise<ModalOutcome> {
    const trigger = { workspace: actor.workspace, triggerId };
    const modalStrings = { notice: workspaceAccessNoticeView, failed: strings.modalUnavailable };
    return openAndFillModal(this.#deps, trigger, modalStrings, () => this.#buildForm(actor));
  }

  /** Saves what an admin sent. */
  async save(
    actor: HomeActor,
    { admits, bots: botsInput }: WorkspaceAccessInput,
  ): Promise<WorkspaceAccessErrors> {
    const { store, log } = this.#deps;
    const { workspace, person } = actor;
    const bots = parseBotList(botsInput);
    if (bots === undefined) return { door_bots: strings.botsInvalid };
    const timeout = AbortSignal.timeout(ADMIN_CHECK_TIMEOUT_MS);
    if (!(await isAdminNow(this.#deps, actor, timeout))) {
      if (timeout.aborted) return { door_admits: strings.channelSettingsRefused.unknown };
      const details = { control: 'workspace_settings', by: 'admins', why: 'admins' };
      await store.audit.add({ workspace, person, kind: 'refusal', details });
      return { door_admits: strings.workspaceAccess.notAdmin };
    }
    await store.transaction(async (trxStore) => {
      await trxStore.workspaceSettings.set(workspace, person, { admits, bots });
      const details = { setting: 'workspace', admits, bots: bots === null ? null : formatBotList(bots) };
      await trxStore.audit.add({ workspace, person, kind: 'setting', details });
    });
    log.info({ workspace, person, admits, bots }, 'who may use the agent was set for a workspace');
    this.#onChanged(actor).catch((error: unknown) =>
      log.debug({ workspace, err: error }, 'a Home tab could not be shown anew'),
    );
    return {};
  }

  async #buildForm(actor: HomeActor): Promise<FormView> {
    if (!(await isAdminNow(this.#deps, actor)))
      return workspaceAccessNoticeView(strings.workspaceAccess.notAdmin);
    return workspaceAccessFormView(await this.#currentSettings(actor.workspace));
  }

  async #currentSettings(workspace: string): Promise<WorkspaceAccessFields> {
    const { settings, store } = this.#deps;
    const { admits, bots } = await store.workspaceSettings.get(workspace);
    const defaults = { admits: settings.admits, bots: formatBotList(settings.admitsBots) };
    return { admits, bots: formatBotList(bots), usual: defaults };
  }
}
