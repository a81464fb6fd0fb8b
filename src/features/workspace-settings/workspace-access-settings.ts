import { isAdminNow } from '../../relay/access/admins.ts';
import type { WorkspaceActor } from '../../relay/runtime/actors.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import {
  botsInput,
  type FormOption,
  type FormView,
  formOption,
  type InputBlock,
  inputBlock,
} from '../../render/blocks/form-inputs.ts';
import { createModal, noticeModal } from '../../render/blocks/modal.ts';
import {
  type ActionsBlock,
  plainText,
  type SectionBlock,
  sectionBlock,
} from '../../render/blocks/slack-blocks.ts';
import type { HeaderBlock } from '../../render/blocks/view-blocks.ts';
import * as strings from '../../render/strings/index.ts';
import type { AllowedUsers, ListenMode } from '../../store/schema.ts';
import { formatBotList, parseBotList } from '../bot-list.ts';
import { type ModalOutcome, openAndFillModal } from '../open-modal.ts';

/** Longest lookup of the sender (ms): Slack waits 3 s for the response to a form. */
const ADMIN_CHECK_TIMEOUT_MS = 2_000;

/** The values of the form. */
export interface WorkspaceAccessInput {
  admits: AllowedUsers | null;
  bots: string;
  listens: ListenMode | null;
}

/** Error messages by the id of their field; empty if the form was saved. */
export type WorkspaceAccessErrors = Readonly<Record<string, string>>;

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
    return openAndFillModal(this.#deps, trigger, workspaceAccessNoticeView, strings.modalUnavailable, () =>
      this.#buildForm(actor),
    );
  }

  /** Saves the form of an admin. */
  async save(
    actor: WorkspaceActor,
    { admits, bots: botsInput, listens }: WorkspaceAccessInput,
  ): Promise<WorkspaceAccessErrors> {
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
      await trxStore.workspaceSettings.set(workspace, person, settings);
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

  async #buildForm(actor: WorkspaceActor): Promise<FormView> {
    if (!(await isAdminNow(this.#deps, actor)))
      return workspaceAccessNoticeView(strings.workspaceAccess.notAdmin);
    return workspaceAccessFormView(await this.#currentSettings(actor.workspace));
  }

  async #currentSettings(workspace: string): Promise<WorkspaceAccessFields> {
    const { settings, store } = this.#deps;
    const { allowed_users, allowed_bots, listen_mode } = await store.workspaceSettings.get(workspace);
    const { admits, admitsBots, listenMode } = settings;
    const usual = { admits, bots: formatBotList(admitsBots), listens: listenMode };
    return { admits: allowed_users, bots: formatBotList(allowed_bots), listens: listen_mode, usual };
  }
}

/** The action and callback ids. */
export const WORKSPACE_ACCESS_ACTION_IDS = { change: 'door_change', form: 'door_form' } as const;

type AdmittedPeople = Exclude<keyof typeof strings.channelChoices.admits, 'usual'>;

/** Who may use the agent in a workspace; null and '' mean the app's own settings (`usual`). */
interface WorkspaceAccessFields {
  admits: AdmittedPeople | null;
  /** As people type them: ids separated by commas, or the word none. */
  bots: string;
  listens: ListenMode | null;
  usual: { admits: AdmittedPeople; bots: string; listens: ListenMode };
}

/** The access settings in an admin's Home tab. */
export function workspaceAccessSection({
  admits,
  bots,
  listens,
  usual,
}: WorkspaceAccessFields): (HeaderBlock | SectionBlock | ActionsBlock)[] {
  const people = strings.channelChoices.admits[admits ?? usual.admits][0];
  const text = strings.workspaceAccessSummary({
    people,
    own: admits !== null,
    bots: bots === '' ? usual.bots : bots,
    replies: strings.channelChoices.listens[listens ?? usual.listens][0],
  });
  const change = {
    type: 'button',
    text: plainText(strings.workspaceAccess.change),
    action_id: WORKSPACE_ACCESS_ACTION_IDS.change,
  } as const;
  return [
    { type: 'header', text: plainText(strings.workspaceAccess.heading) },
    sectionBlock(text),
    { type: 'actions', elements: [change] },
  ];
}

/** The form with the access settings. */
export function workspaceAccessFormView({ admits, bots, listens, usual }: WorkspaceAccessFields): FormView {
  const { channelChoices: choices, workspaceAccess: labels } = strings;
  const people = choiceInput('door_admits', labels.admits, admits, [
    ['usual', strings.appDefault(choices.admits[usual.admits][0])],
    ['members', choices.admits.members[0]],
    ['guests', choices.admits.guests[0]],
    ['everyone', choices.admits.everyone[0]],
  ]);
  const replies = choiceInput('door_listens', labels.listens, listens, [
    ['usual', strings.appDefault(choices.listens[usual.listens][0])],
    ['mentions', choices.listens.mentions[0]],
    ['conversation', choices.listens.conversation[0]],
    ['replies', choices.listens.replies[0]],
  ]);
  return {
    ...createModal(strings.workspaceAccess.title, [
      sectionBlock(strings.workspaceAccess.about),
      people,
      botsInput('door_bots', bots),
      replies,
    ]),
    callback_id: WORKSPACE_ACCESS_ACTION_IDS.form,
    submit: plainText(strings.workspaceAccess.save),
  };
}

/** A list of options; null chooses `usual`. */
function choiceInput(
  id: string,
  label: string,
  chosen: string | null,
  choices: readonly [string, string][],
): InputBlock {
  const options = choices.map(([value, text]): FormOption => formOption(value, text));
  const current = options.find(({ value }) => value === (chosen ?? 'usual'));
  const first = current === undefined ? {} : { initial_option: current };
  return inputBlock({ type: 'static_select', action_id: id, options, ...first }, { label, optional: false });
}

/** The modal with one sentence, in place of the form. */
function workspaceAccessNoticeView(sentence: string): FormView {
  return noticeModal(strings.workspaceAccess.title, sentence);
}
