import { isAdminNow } from '../../relay/access/access-policy.ts';
import type { WorkspaceActor } from '../../relay/runtime/control-request.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import {
  botsInput,
  choiceInput,
  createModal,
  formOption,
  type Modal,
  type ViewBlock,
} from '../../render/blocks/modal.ts';
import { actionsBlock, buttonElement, plainText, sectionBlock } from '../../render/blocks/slack-blocks.ts';
import * as strings from '../../render/strings/index.ts';
import type { AllowedUsers, ListenMode } from '../../store/schema.ts';
import { WHOLE_WORKSPACE } from '../../store/workspaces/settings-store.ts';
import { type FormErrors, type ModalOutcome, openAndFillModal } from '../modals.ts';
import { formatBotList, parseBotList } from './bot-list.ts';

/** Longest lookup of the sender (ms): Slack waits 3 s for the response to a form. */
const ADMIN_CHECK_TIMEOUT_MS = 2_000;

export interface WorkspaceAccessInput {
  admits: AllowedUsers | null;
  bots: string;
  listens: ListenMode | null;
}

/** Who may use the agent in a workspace: admins see it in the Home tab, and change it in a modal. */
export class WorkspaceAccessSettings {
  readonly #deps: RelayDeps;
  readonly #onChanged: (actor: WorkspaceActor) => Promise<void>;

  /** `onChanged` updates the Home tab of the person who changed the settings. */
  constructor(deps: RelayDeps, onChanged: (actor: WorkspaceActor) => Promise<void>) {
    this.#deps = deps;
    this.#onChanged = onChanged;
  }

  /** The section of an admin's Home tab. */
  async buildSection(workspace: string): Promise<ReturnType<typeof workspaceAccessSection>> {
    return workspaceAccessSection(await this.#currentSettings(workspace));
  }

  /** Opens the form. Throws a SlackError. */
  async open(actor: WorkspaceActor, triggerId: string): Promise<ModalOutcome> {
    const trigger = { workspace: actor.workspace, triggerId };
    const { title, notAdmin } = strings.workspaceAccess;
    return openAndFillModal(this.#deps, trigger, title, async () => {
      if (!(await isAdminNow(this.#deps, actor))) return notAdmin;
      return workspaceAccessFormView(await this.#currentSettings(actor.workspace));
    });
  }

  /** Saves the form of an admin. */
  async save(
    actor: WorkspaceActor,
    { admits, bots: botsInput, listens }: WorkspaceAccessInput,
  ): Promise<FormErrors> {
    const { store, log } = this.#deps;
    const { workspace, person } = actor;
    const bots = parseBotList(botsInput);
    if (bots === undefined) return { door_bots: strings.botsInvalid };
    const timeout = AbortSignal.timeout(ADMIN_CHECK_TIMEOUT_MS);
    if (!(await isAdminNow(this.#deps, actor, timeout))) {
      if (timeout.aborted) return { door_admits: strings.channelSettingsRefused.unknown };
      const details = { control: 'workspace_settings', by: 'admins', why: 'admins' };
      await store.audit.add({ workspace, user_id: person, kind: 'refusal', details });
      return { door_admits: strings.workspaceAccess.notAdmin };
    }
    await store.transaction(async (trxStore) => {
      const settings = { allowed_users: admits, allowed_bots: bots, listen_mode: listens };
      await trxStore.settings.set(workspace, WHOLE_WORKSPACE, person, settings);
      const details = {
        ...settings,
        setting: 'workspace',
        allowed_bots: bots === null ? null : formatBotList(bots),
      };
      await trxStore.audit.add({ workspace, user_id: person, kind: 'setting', details });
    });
    log.info({ workspace, person, admits, bots }, 'access settings of a workspace changed');
    this.#onChanged(actor).catch((error: unknown) =>
      log.debug({ workspace, err: error }, 'could not update a Home tab'),
    );
    return {};
  }

  async #currentSettings(workspace: string): Promise<WorkspaceAccessFields> {
    const { settings, store } = this.#deps;
    const { allowed_users, allowed_bots, listen_mode } = await store.settings.get(workspace, WHOLE_WORKSPACE);
    const listens = listen_mode === 'everything' ? null : listen_mode;
    const { admits, admitsBots, listenMode } = settings;
    const usual = { admits, bots: formatBotList(admitsBots), listens: listenMode };
    return { admits: allowed_users, bots: formatBotList(allowed_bots), listens, usual };
  }
}

export const WORKSPACE_ACCESS_ACTION_IDS = { change: 'door_change', form: 'door_form' } as const;

/** Who may use the agent in a workspace; null and '' mean the app's own settings (`usual`). */
interface WorkspaceAccessFields {
  admits: AllowedUsers | null;
  /** As people type them: ids separated by commas, or the word none. */
  bots: string;
  listens: ListenMode | null;
  usual: { admits: AllowedUsers; bots: string; listens: ListenMode };
}

/** The access settings in an admin's Home tab. */
export function workspaceAccessSection({ admits, bots, listens, usual }: WorkspaceAccessFields): ViewBlock[] {
  const choices = strings.channelChoices;
  const inForce = (text: string, isOwn: boolean): strings.ValueInForce => ({
    text,
    from: isOwn ? 'workspace' : 'operator',
  });
  const text = strings.workspaceAccessSummary({
    people: inForce(choices.admits[admits ?? usual.admits][0], admits !== null),
    bots: inForce(bots === '' ? usual.bots : bots, bots !== ''),
    replies: inForce(choices.listens[listens ?? usual.listens][0], listens !== null),
  });
  const change = buttonElement(WORKSPACE_ACCESS_ACTION_IDS.change, strings.workspaceAccess.change, 'change');
  return [
    { type: 'header', text: plainText(strings.workspaceAccess.heading) },
    sectionBlock(text),
    actionsBlock([change]),
  ];
}

/** The form with the access settings. */
export function workspaceAccessFormView({ admits, bots, listens, usual }: WorkspaceAccessFields): Modal {
  const { channelChoices: choices, workspaceAccess: labels } = strings;
  const people = [
    formOption('usual', strings.appDefault(choices.admits[usual.admits][0])),
    ...(['members', 'guests', 'everyone'] as const).map((id) => formOption(id, choices.admits[id][0])),
  ];
  const replies = [
    formOption('usual', strings.appDefault(choices.listens[usual.listens][0])),
    ...(['mentions', 'conversation', 'replies'] as const).map((id) => formOption(id, choices.listens[id][0])),
  ];
  return {
    ...createModal(labels.title, [
      sectionBlock(labels.about),
      choiceInput('door_admits', { label: labels.admits }, people, admits ?? 'usual'),
      botsInput('door_bots', bots),
      choiceInput('door_listens', { label: labels.listens }, replies, listens ?? 'usual'),
    ]),
    callback_id: WORKSPACE_ACCESS_ACTION_IDS.form,
    submit: plainText(labels.save),
  };
}
