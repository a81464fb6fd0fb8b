import { closingAt } from '../../relay/access/access-policy.ts';
import type {
  ButtonHandlers,
  ChannelActor,
  FormAnswer,
  FormHandlers,
  FormSubmission,
  WorkspaceActor,
} from '../../relay/runtime/control-request.ts';
import { inBackground } from '../../relay/runtime/poller.ts';
import { formModal, type Modal, noticeModal, type ViewBlock } from '../../render/blocks/modal.ts';
import {
  actionsBlock,
  buttonElement,
  mrkdwnSection,
  plainText,
  sectionBlock,
} from '../../render/blocks/slack-blocks.ts';
import * as strings from '../../render/strings/index.ts';
import { type Settings, WHOLE_WORKSPACE } from '../../store/workspaces/settings-store.ts';
import { type FormErrors, type ModalOutcome, type ModalTrigger, openAndFillModal } from '../modals.ts';
import { saveAndAnnounce } from './channel-notice.ts';
import {
  changeProject,
  type ProjectChange,
  type ProjectDeps,
  projectChangeIn,
  projectFields,
  projectKeyOf,
} from './project-fields.ts';
import type { SettingsInPlace } from './settings.ts';
import {
  auditedSettings,
  changesSince,
  encodeSnapshot,
  isChanged,
  parseSnapshot,
  scopeOf,
  settingInputs,
  workspaceSummary,
} from './settings-form.ts';
import { settingsRefusal } from './settings-permission.ts';

/** Longest attempt to save (ms): Slack waits 3 s for the response to a form. */
const SAVE_TIMEOUT_MS = 2_300;

export interface SettingsModalDeps extends ProjectDeps {
  /** Updates the Home tab of a person who has changed the settings of a workspace. */
  updateHome: (actor: WorkspaceActor) => Promise<void>;
}

/** What was changed in a form. */
interface Change extends ProjectChange {
  settings: Partial<Settings>;
}

/** What a form shows: settings, what stands above them, and the texts of its other fields where they are known. */
interface ShownForm {
  set: SettingsInPlace;
  head: ViewBlock[];
  texts?: Readonly<Record<string, string>> | undefined;
}

/**
 * The form with the settings of a channel and its project, opened with `/agent settings` or in the Home tab, or with those of a
 * workspace (WHOLE_WORKSPACE in place of a channel), which admins see and open in the Home tab.
 */
export class SettingsModal {
  readonly #deps: SettingsModalDeps;
  readonly buttons: ButtonHandlers<'workspace_settings_change'> = {
    workspace_settings_change: (press) => this.open({ ...press, channel: WHOLE_WORKSPACE }),
  };
  readonly forms: FormHandlers = {
    channel_settings: (form) => this.#submit(form),
    workspace_settings: (form) => this.#submit(form),
  };

  constructor(deps: SettingsModalDeps) {
    this.#deps = deps;
  }

  /** The settings of a workspace: a section of an admin's Home tab. */
  async buildSection(id: string): Promise<ViewBlock[]> {
    const settings = await this.#deps.store.settings.get(id, WHOLE_WORKSPACE);
    return [
      { type: 'header', text: plainText(strings.workspaceSettings.title) },
      mrkdwnSection(this.#withLimits(workspaceSummary(settings, this.#deps.settings))),
      actionsBlock([buttonElement('workspace_settings_change', 'change')]),
    ];
  }

  #withLimits(text: string): string {
    return `${text} ${strings.operatorLimits(this.#deps.settings.answers)}`.trim();
  }

  /** Opens the form, or a modal that says why the person may not change the settings. Throws a SlackError. */
  async open(actor: ChannelActor & ModalTrigger): Promise<ModalOutcome> {
    const { title } = wordsFor(actor.channel);
    return openAndFillModal(
      this.#deps,
      actor,
      title,
      async () => (await settingsRefusal(this.#deps, actor)) ?? this.#renderForm(actor),
    );
  }

  async #renderForm(actor: ChannelActor): Promise<Modal> {
    const { channel } = actor;
    const { set, head, texts } = await this.#readForm(actor);
    const inputs = settingInputs(scopeOf(channel), set, this.#deps.settings);
    return formModal(wordsFor(channel).title, [...head, ...inputs], {
      callback: channel === WHOLE_WORKSPACE ? 'workspace_settings' : 'channel_settings',
      metadata: encodeSnapshot(channel, set.channel ?? set.workspace, texts),
      submit: strings.saveSettings,
    });
  }

  async #readForm(actor: ChannelActor): Promise<ShownForm> {
    const { settings, projects } = this.#deps.store;
    const workspace = await settings.get(actor.workspace, WHOLE_WORKSPACE);
    if (actor.channel === WHOLE_WORKSPACE) {
      const about = this.#withLimits(strings.workspaceSettings.about);
      return { set: { workspace }, head: [sectionBlock(about)] };
    }
    const own = await settings.get(actor.workspace, actor.channel);
    const isNamed = own.sync_project_name ?? !(await projects.isChosen(projectKeyOf(this.#deps, actor)));
    const closing = await closingAt(this.#deps, actor);
    const set = { channel: { ...own, sync_project_name: isNamed }, workspace, closing };
    if (closing !== undefined) return { set, head: [sectionBlock(strings.closedPlaces[closing])] };
    const { blocks: head, texts } = await projectFields(this.#deps, actor);
    return { set, head, texts };
  }

  /** Saves what was changed: at the service first, then in our own tables. Throws a StoreError or a SlackError. */
  async #submit(form: FormSubmission): Promise<FormAnswer> {
    const { workspace, person, firstInput } = form;
    const snapshot = parseSnapshot(form.metadata);
    if (snapshot === undefined) {
      this.#deps.log.warn({ workspace }, 'could not read a form with settings');
      return { errors: { [firstInput]: strings.modalUnavailable } };
    }
    const { channel } = snapshot;
    const { settings, errors } = changesSince(snapshot, form);
    if (Object.keys(errors).length > 0) return { errors };
    const change = { settings, ...projectChangeIn(snapshot, form.input) };
    // A project or texts that people choose stay as they are, unless they ask for the channel's name at the same time.
    const isChosen = change.project !== '' || Object.keys(change.texts).length > 0;
    if (isChosen && !isChanged(snapshot, 'sync_project_name', 'on'))
      settings.sync_project_name = change.project === '' ? false : null;
    const actor = { workspace, channel, person };
    const timeout = AbortSignal.timeout(SAVE_TIMEOUT_MS);
    try {
      const refused = await this.#save(actor, change, firstInput, timeout);
      if (refused !== undefined) return { errors: refused };
      return { view: noticeModal(wordsFor(channel).title, strings.settingsSaved) };
    } catch (error) {
      if (!timeout.aborted) throw error;
      this.#deps.log.warn({ ...actor, err: error }, 'could not save settings in time');
      return { errors: { [firstInput]: strings.channelSettingsFailed.late } };
    }
  }

  async #save(
    actor: ChannelActor,
    change: Change,
    form: string,
    signal: AbortSignal,
  ): Promise<FormErrors | undefined> {
    const { workspace, channel, person } = actor;
    const { store, log, updateHome } = this.#deps;
    const isWhole = channel === WHOLE_WORKSPACE;
    const refusal = await settingsRefusal(this.#deps, actor, signal);
    if (refusal !== undefined) return { [form]: refusal };
    const errors = await changeProject(this.#deps, actor, change, form, signal);
    if (errors !== undefined) return errors;
    signal.throwIfAborted();
    const { settings, project, texts } = change;
    // Of the project's texts the trail gets which changed, not what they say.
    const changed = {
      ...auditedSettings(settings),
      ...(project !== '' && { project }),
      ...(texts.title !== undefined && { renamed: true }),
      ...(texts.description !== undefined && { described: true }),
    };
    if (Object.keys(changed).length === 0) return undefined;
    const audited = isWhole
      ? { details: { setting: 'workspace', ...changed } }
      : { channel, details: changed };
    await store.transaction(async (tx) => {
      if (project !== '') await tx.projects.assign(projectKeyOf(this.#deps, actor), project);
      if (Object.keys(settings).length > 0) await saveAndAnnounce(tx, actor, settings);
      await tx.audit.add({ workspace, user_id: person, kind: 'setting', ...audited });
      if (settings.sync_project_name === true) await tx.projects.wantNames(workspace, channel);
    });
    log.info({ ...actor, changed: Object.keys(changed) }, 'settings changed');
    if (isWhole) inBackground(updateHome({ workspace, person }), log, 'could not update a Home tab');
    return undefined;
  }
}

function wordsFor(channel: string): { title: string } {
  return channel === WHOLE_WORKSPACE ? strings.workspaceSettings : strings.channelSettings;
}
