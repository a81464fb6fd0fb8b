import type { AgentClient } from '../../agent/agent-client.ts';
import { AgentError, AgentNotFoundError, AgentRejectedError } from '../../agent/errors.ts';
import type { Project } from '../../agent/service-schema.ts';
import { closingAt } from '../../relay/access/access-policy.ts';
import type { ChannelActor, FormHandlers, WorkspaceActor } from '../../relay/runtime/control-request.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import { isDirectChannel } from '../../relay/runtime/incoming-message.ts';
import { formModal, textInput, type ViewBlock } from '../../render/blocks/modal.ts';
import { sectionBlock } from '../../render/blocks/slack-blocks.ts';
import * as strings from '../../render/strings/index.ts';
import { shorten } from '../../render/text-format.ts';
import { type Settings, WHOLE_WORKSPACE } from '../../store/workspaces/settings-store.ts';
import {
  type FormErrors,
  type ModalContent,
  type ModalOutcome,
  type ModalTrigger,
  openAndFillModal,
  savedOrErrors,
} from '../modals.ts';
import { saveAndAnnounce } from './channel-notice.ts';
import { mayUseProject, settingsRefusal } from './channel-settings-permission.ts';
import {
  auditedSettings,
  changesSince,
  encodeSnapshot,
  type FormInput,
  isChanged,
  parseSnapshot,
  type Snapshot,
  settingInputs,
} from './settings-form.ts';

const CALLBACK = 'channel_settings';

/** Longest attempt to save (ms): Slack waits 3 s for the response to a form. */
const SAVE_TIMEOUT_MS = 2_300;
/** Most characters in an input (https://docs.slack.dev/reference/block-kit/block-elements/plain-text-input-element). */
const MAX_DESCRIPTION_CHARACTERS = 3_000;
const MAX_TITLE_CHARACTERS = 500;
const MAX_ID_CHARACTERS = 200;

export interface ChannelSettingsDeps extends RelayDeps {
  /** Whether workspaces of different owners use this account, so that an unused project may be anyone's. */
  isSharedAccount: (account: string) => boolean;
}

/** What was changed in a form. */
interface Change {
  settings: Partial<Settings>;
  /** The id of another project to use; '' for none. */
  project: string;
  /** New texts of the project. */
  texts: { title?: string; description?: string };
}

/** The form with a channel's settings and its project, opened with `/agent settings` or in the Home tab. */
export class ChannelSettings {
  readonly #deps: ChannelSettingsDeps;
  readonly forms: FormHandlers = {
    [CALLBACK]: async (form) => savedOrErrors(await this.save(form), strings.channelSettings.title),
  };

  constructor(deps: ChannelSettingsDeps) {
    this.#deps = deps;
  }

  /** Opens the form, or a modal that says why the person may not change the settings. Throws a SlackError. */
  async open(actor: ChannelActor & ModalTrigger): Promise<ModalOutcome> {
    return openAndFillModal(this.#deps, actor, strings.channelSettings.title, () => this.#renderForm(actor));
  }

  /** Saves what was changed: at the service first, then in our own tables. Throws a StoreError or a SlackError. */
  async save(form: WorkspaceActor & { metadata: string; input: FormInput }): Promise<FormErrors> {
    const { workspace, person, metadata, input } = form;
    const snapshot = parseSnapshot(metadata);
    if (snapshot === undefined) {
      this.#deps.log.warn({ workspace }, 'could not read a channel settings form');
      return { channel_model: strings.modalUnavailable };
    }
    const { channel } = snapshot;
    const { settings, errors } = changesSince(snapshot, scopeOf(channel), form);
    if (Object.keys(errors).length > 0) return errors;
    const actor = { workspace, channel, person };
    const timeout = AbortSignal.timeout(SAVE_TIMEOUT_MS);
    try {
      return await this.#saveChange(actor, withProject(settings, snapshot, input), timeout);
    } catch (error) {
      if (!timeout.aborted) throw error;
      this.#deps.log.warn({ ...actor, err: error }, 'could not save channel settings in time');
      return { channel_model: strings.channelSettingsFailed.late };
    }
  }

  async #renderForm(actor: ChannelActor): Promise<ModalContent> {
    const refusal = await settingsRefusal(this.#deps, actor);
    if (refusal !== undefined) return strings.channelSettingsRefused[refusal];
    const { workspace, channel } = actor;
    const { settings, projects } = this.#deps.store;
    const set = await settings.get(workspace, channel);
    const sync_project_name = set.sync_project_name ?? !(await projects.isChosen(this.#projectKey(actor)));
    const closing = await closingAt(this.#deps, actor);
    const places = {
      channel: { ...set, sync_project_name },
      workspace: await settings.get(workspace, WHOLE_WORKSPACE),
      closing,
    };
    const id = closing === undefined ? await projects.projectIdOf(this.#projectKey(actor)) : undefined;
    const project = id === undefined ? undefined : await this.#readProject(workspace, id);
    const scope = scopeOf(channel);
    const texts = project && {
      title: shorten(project.title, MAX_TITLE_CHARACTERS),
      description: shorten(project.description, MAX_DESCRIPTION_CHARACTERS),
    };
    const blocks = [
      ...(closing === undefined
        ? projectBlocks(id === undefined ? undefined : { id, title: project?.title }, texts)
        : [sectionBlock(strings.closedPlaces[closing])]),
      ...settingInputs(scope, places, this.#deps.settings),
    ];
    return formModal(strings.channelSettings.title, blocks, {
      callback: CALLBACK,
      metadata: encodeSnapshot(scope, channel, places.channel, texts),
      submit: strings.saveSettings,
    });
  }

  /** A project as the service has it now; undefined if it cannot be read. */
  async #readProject(workspace: string, id: string): Promise<Project | undefined> {
    try {
      const signal = AbortSignal.timeout(SAVE_TIMEOUT_MS);
      return await this.#agentClient(workspace).updateProject(id, {}, { signal });
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      this.#deps.log.info({ err: error, project: id }, 'could not read a project');
      return undefined;
    }
  }

  async #saveChange(actor: ChannelActor, change: Change, signal: AbortSignal): Promise<FormErrors> {
    const { workspace, channel, person } = actor;
    const { store, log } = this.#deps;
    const refusal = await settingsRefusal(this.#deps, actor, signal);
    if (refusal !== undefined) return { channel_model: strings.channelSettingsRefused[refusal] };
    const errors = await this.#updateService(actor, change, signal);
    if (errors !== undefined) return errors;
    signal.throwIfAborted();
    const { settings, project, texts } = change;
    // Of the project's texts the trail gets which changed, not what they say.
    const details = {
      ...auditedSettings(settings),
      ...(project !== '' && { project }),
      ...(texts.title !== undefined && { renamed: true }),
      ...(texts.description !== undefined && { described: true }),
    };
    if (Object.keys(details).length === 0) return {};
    await store.transaction(async (tx) => {
      if (project !== '') await tx.projects.assign(this.#projectKey(actor), project);
      if (Object.keys(settings).length > 0) await saveAndAnnounce(tx, actor, settings);
      await tx.audit.add({ workspace, channel, user_id: person, kind: 'setting', details });
      if (settings.sync_project_name === true) await tx.projects.wantNames(workspace, channel);
    });
    log.info({ ...actor, changed: Object.keys(details) }, 'channel settings changed');
    return {};
  }

  /** Checks another project at the service, and saves new texts there; returns what the service refused. */
  async #updateService(actor: ChannelActor, { project, texts }: Change, signal: AbortSignal) {
    const { unknownProject, projectNotFound, late } = strings.channelSettingsFailed;
    if (project === '' && Object.keys(texts).length === 0) return undefined;
    const closing = await closingAt(this.#deps, actor, signal);
    if (closing !== undefined) return { channel_model: strings.closedPlaces[closing] };
    const target = project || (await this.#deps.store.projects.projectIdOf(this.#projectKey(actor)));
    if (target === undefined) return undefined;
    try {
      const agent = this.#agentClient(actor.workspace);
      if (project !== '') {
        if (!(await mayUseProject(this.#deps, actor, project))) return { channel_project: unknownProject };
        await agent.requireProject(project, signal);
      }
      if (Object.keys(texts).length > 0) await agent.updateProject(target, texts, { signal });
      return undefined;
    } catch (error) {
      if (project !== '' && isForbidden(error)) return { channel_project: unknownProject };
      signal.throwIfAborted();
      if (error instanceof AgentNotFoundError)
        return { channel_project: project === '' ? projectNotFound : unknownProject };
      if (!(error instanceof AgentError)) throw error;
      this.#deps.log.warn({ ...actor, err: error }, 'the service refused to change a project');
      if (!(error instanceof AgentRejectedError)) return { channel_model: late };
      const [field = 'project'] = Object.keys(texts);
      return { [`channel_${field}`]: strings.projectRejected(error.reason) };
    }
  }

  #agentClient(workspace: string): AgentClient {
    return this.#deps.agent(this.#deps.accountOf(workspace));
  }

  #projectKey({ workspace, channel }: ChannelActor) {
    return { workspace, channel, account_id: this.#deps.accountOf(workspace) };
  }
}

function scopeOf(channel: string): 'direct' | 'channel' {
  return isDirectChannel(channel) ? 'direct' : 'channel';
}

/** What a form changes beside the settings, and what follows for these. */
function withProject(settings: Partial<Settings>, snapshot: Snapshot, input: FormInput): Change {
  const project = input('channel_project')?.value?.trim() ?? '';
  const texts: Change['texts'] = {};
  for (const name of ['title', 'description'] as const) {
    const field = input(`channel_${name}`);
    const text = field?.value ?? '';
    if (field !== undefined && isChanged(snapshot, name, text)) texts[name] = text;
  }
  const isChosen = project !== '' || Object.keys(texts).length > 0;
  // A project or texts that people choose stay as they are, unless they ask for the channel's name at the same time.
  if (isChosen && !isChanged(snapshot, 'sync_project_name', 'on'))
    return { settings: { ...settings, sync_project_name: project === '' ? false : null }, project, texts };
  return { settings, project, texts };
}

/** The part of the form that is about the channel's project; `texts` are undefined if the service does not give them. */
function projectBlocks(
  project: { id: string; title: string | undefined } | undefined,
  texts: { title: string; description: string } | undefined,
): ViewBlock[] {
  const words = strings.channelSettings;
  const use = { label: words.useProject, hint: words.useProjectHint, optional: true };
  const useProject = textInput('channel_project', use, { maxLength: MAX_ID_CHARACTERS });
  if (project === undefined) return [sectionBlock(words.noProject), useProject];
  const isUnread = texts === undefined;
  const kept = isUnread ? words.unreadHint : undefined;
  const title = { label: words.projectTitle, hint: kept, optional: isUnread };
  const description = { label: words.description, hint: kept ?? words.descriptionHint, optional: true };
  const ofDescription = {
    initial: texts?.description,
    maxLength: MAX_DESCRIPTION_CHARACTERS,
    multiline: true,
  };
  return [
    sectionBlock(strings.projectOfChannel(project)),
    textInput('channel_title', title, { initial: texts?.title, maxLength: MAX_TITLE_CHARACTERS }),
    textInput('channel_description', description, ofDescription),
    useProject,
  ];
}

/** Whether the service refused the project, as far as was found out in time. */
function isForbidden(error: unknown): boolean {
  return error instanceof AgentError && error.status === 403 && error.code !== 'bad_key';
}
