import { timeLimit } from '../../calls/retries-and-waits.ts';
import { closingAt, recordRefusal, settingsBy } from '../../relay/access/access-policy.ts';
import { isSettingTooOften } from '../../relay/access/quotas.ts';
import { adminRefusal, lackingRight, readIfAllowed } from '../../relay/access/rights.ts';
import type {
  ButtonHandlers,
  ChannelActor,
  FormAnswer,
  FormHandlers,
  FormSubmission,
  WorkspaceActor,
} from '../../relay/runtime/control-request.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import { inBackground } from '../../relay/runtime/poller.ts';
import { nameSyncOnceChosen } from '../../relay/sending/channel-project.ts';
import { formModal, type Modal, noticeModal, type ViewBlock } from '../../render/blocks/modal.ts';
import {
  actionsBlock,
  buttonElement,
  contextLineBlock,
  mrkdwnSection,
  plainText,
  sectionBlock,
} from '../../render/blocks/slack-blocks.ts';
import * as strings from '../../render/strings/index.ts';
import { type Settings, WHOLE_WORKSPACE } from '../../store/workspaces/settings-store.ts';
import { type FormErrors, type ModalOutcome, type ModalTrigger, openAndFillModal } from '../modals.ts';
import { saveAndAnnounce, useProject } from './channel-notice.ts';
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

/** Longest attempt to save (ms): Slack waits 3 s for the response to a form. */
const SAVE_TIMEOUT_MS = 2_300;

export type SettingsModal = ReturnType<typeof settingsModal>;

/**
 * The form with the settings of a channel and its project, opened with `/agent settings` or in the Home tab, or with those of a
 * workspace (WHOLE_WORKSPACE in place of a channel), which admins see and open in the Home tab.
 */
export function settingsModal(deps: ProjectDeps & { updateHome: (actor: WorkspaceActor) => Promise<void> }) {
  const buttons: ButtonHandlers<'workspace_settings_change'> = {
    workspace_settings_change: (press) => open({ ...press, channel: WHOLE_WORKSPACE }),
  };
  const forms: FormHandlers = { channel_settings: submit, workspace_settings: submit };

  /** The settings of a workspace: a section of an admin's Home tab. */
  async function buildSection(id: string): Promise<ViewBlock[]> {
    const settings = await deps.store.settings.get(id, WHOLE_WORKSPACE);
    return [
      { type: 'header', text: plainText(strings.workspaceSettings.title) },
      mrkdwnSection(workspaceSummary(settings, deps.settings)),
      contextLineBlock(withLimits(strings.channelsOverride)),
      actionsBlock([buttonElement('workspace_settings_change', 'change')]),
    ];
  }

  function withLimits(text: string): string {
    return `${text} ${strings.operatorLimits(deps.settings.answers)}`.trim();
  }

  /** Opens the form, or a modal that says why the person may not change the settings. Throws a SlackError. */
  async function open(actor: ChannelActor & ModalTrigger): Promise<ModalOutcome> {
    const { title } = wordsFor(actor.channel);
    const refusal = () => settingsRefusal(deps, actor);
    return openAndFillModal(deps, actor, title, () => readIfAllowed(refusal, () => renderForm(actor)));
  }

  async function renderForm(actor: ChannelActor): Promise<Modal> {
    const { channel } = actor;
    const { set, head, tail, texts } = await readForm(actor);
    const inputs = settingInputs(scopeOf(channel), set, deps.settings);
    return formModal(wordsFor(channel).title, [...head, ...inputs, ...tail], {
      callback: channel === WHOLE_WORKSPACE ? 'workspace_settings' : 'channel_settings',
      metadata: encodeSnapshot(channel, set.channel ?? set.workspace, texts),
      submit: strings.saveSettings,
    });
  }

  /** The settings, what stands above and below them, and the texts of the form's other fields where they are known. */
  async function readForm(actor: ChannelActor) {
    const { settings, projects } = deps.store;
    const set: SettingsInPlace = { workspace: await settings.get(actor.workspace, WHOLE_WORKSPACE) };
    if (actor.channel === WHOLE_WORKSPACE) {
      const about = withLimits(strings.workspaceSettings.about);
      return { set, head: [sectionBlock(about)], tail: [] };
    }
    const own = await settings.get(actor.workspace, actor.channel);
    const isNamed = own.sync_project_name ?? !(await projects.isChosen(projectKeyOf(deps, actor)));
    set.channel = { ...own, sync_project_name: isNamed };
    const closing = await closingAt(deps, actor);
    set.closing = closing;
    if (closing !== undefined) return { set, head: [sectionBlock(strings.closedPlaces[closing])], tail: [] };
    const { blocks: tail, texts } = await projectFields(deps, actor);
    return { set, head: [], tail, texts };
  }

  /** Saves what was changed: at the service first, then in our own tables. Throws a StoreError or a SlackError. */
  async function submit(form: FormSubmission): Promise<FormAnswer> {
    const { workspace, person, firstInput } = form;
    const snapshot = parseSnapshot(form.metadata);
    const { channel } = snapshot;
    const { settings, errors } = changesSince(snapshot, form);
    if (Object.keys(errors).length > 0) return { errors };
    const change = { settings, ...projectChangeIn(snapshot, form.input) };
    const asksForName = isChanged(snapshot, 'sync_project_name', 'on');
    if (!asksForName) Object.assign(settings, nameSyncOnceChosen(change.project, change.texts));
    const actor = { workspace, channel, person };
    const timeout = timeLimit(SAVE_TIMEOUT_MS);
    try {
      const refused = await save(actor, change, firstInput, timeout);
      if (refused !== undefined) return { errors: refused };
      return { view: noticeModal(wordsFor(channel).title, strings.settingsSaved) };
    } catch (error) {
      if (!timeout.aborted) throw error;
      deps.log.warn({ ...actor, err: error }, 'could not save settings in time');
      return { errors: { [firstInput]: strings.channelSettingsFailed.late } };
    }
  }

  async function save(
    actor: ChannelActor,
    change: ProjectChange & { settings: Partial<Settings> },
    form: string,
    signal: AbortSignal,
  ): Promise<FormErrors | undefined> {
    const { workspace, channel, person } = actor;
    const { store, log, updateHome } = deps;
    const isWhole = channel === WHOLE_WORKSPACE;
    const refusal = await settingsRefusal(deps, actor, signal);
    if (refusal !== undefined) return { [form]: refusal };
    if (await isSettingTooOften(store, actor)) return { [form]: strings.channelSettingsFailed.tooOften };
    const errors = await changeProject(deps, actor, change, form, signal);
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
      if (project !== '') await useProject(tx, actor, { ...projectKeyOf(deps, actor), project });
      if (Object.keys(settings).length > 0) await saveAndAnnounce(tx, actor, settings);
      await tx.audit.add({ workspace, user_id: person, kind: 'setting', ...audited });
      if (settings.sync_project_name === true) await tx.projects.wantNames(workspace, channel);
    });
    log.info({ ...actor, changed: Object.keys(changed) }, 'settings changed');
    if (isWhole) inBackground(updateHome({ workspace, person }), log, 'could not update a Home tab');
    return undefined;
  }

  return { buttons, forms, buildSection, open };
}

/**
 * The sentence for a person who may not change settings; undefined if they may: in a channel full members who are in it, or
 * only admins if only they may use its controls; for the whole workspace admins. Refuses if Slack does not say. A refusal goes
 * into the audit trail.
 */
async function settingsRefusal(
  deps: RelayDeps,
  actor: ChannelActor,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const { workspace, channel, person } = actor;
  const { admins, outsider, hidden, unknown } = strings.controlRefused;
  if (channel === WHOLE_WORKSPACE) {
    const use = { control: 'workspace_settings', refusal: strings.workspaceSettings.notAdmin };
    return adminRefusal(deps, { workspace, person }, use, signal);
  }
  const by = await settingsBy(deps, actor);
  const who = by === 'admins' ? 'admin' : 'member';
  const lacking = await lackingRight(deps, actor, { who, place: 'listed' }, signal);
  if (lacking === undefined) return undefined;
  const sentences: Partial<Record<string, string>> = { admins, outsider, hidden, unknown };
  const sentence = sentences[lacking];
  await recordRefusal(deps, actor, { control: 'settings', by, why: sentence ? lacking : 'guest' });
  return sentence ?? strings.settingsForMembers;
}

function wordsFor(channel: string): { title: string } {
  return channel === WHOLE_WORKSPACE ? strings.workspaceSettings : strings.channelSettings;
}
