import type { AgentClient } from '../../agent/agent-client.ts';
import { AgentError, AgentNotFoundError, AgentRejectedError } from '../../agent/errors.ts';
import type { Project } from '../../agent/service-schema.ts';
import type { ChannelActor, WorkspaceActor } from '../../relay/runtime/control-request.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import { isDirectChannel } from '../../relay/runtime/incoming-message.ts';
import * as strings from '../../render/strings/index.ts';
import { WHOLE_WORKSPACE } from '../../store/workspaces/settings-store.ts';
import {
  type FormErrors,
  type ModalContent,
  type ModalOutcome,
  type ModalTrigger,
  openAndFillModal,
} from '../modals.ts';
import { formatBotList, parseBotList } from './bot-list.ts';
import { saveSettings } from './channel-notice.ts';
import { mayUseProject, settingsRefusal } from './channel-settings-permission.ts';
import {
  type ChannelSettingsChange,
  type ChannelSettingsValues,
  changesSince,
  encodeSnapshot,
  parseSnapshot,
} from './channel-settings-snapshot.ts';
import { type ChannelSettingsFormContent, channelSettingsView } from './channel-settings-view.ts';

/** Longest attempt to save (ms): Slack waits 3 s for the response to a form. */
const SAVE_TIMEOUT_MS = 2_300;

export interface ChannelSettingsDeps extends RelayDeps {
  /** Whether workspaces of different owners use this account, so that an unused project may be anyone's. */
  isSharedAccount: (account: string) => boolean;
  /** Called when a project is to take its channel's name. */
}

export class ChannelSettingsModal {
  readonly #deps: ChannelSettingsDeps;

  constructor(deps: ChannelSettingsDeps) {
    this.#deps = deps;
  }

  /** Opens the modal, or one that says why the person may not change the settings. Throws a SlackError. */
  async open(actor: ChannelActor & ModalTrigger): Promise<ModalOutcome> {
    return openAndFillModal(this.#deps, actor, strings.channelSettings.title, () => this.#renderView(actor));
  }

  /** Saves what was changed: the service first, then our own tables. Throws a StoreError or a SlackError. */
  async save(
    submission: WorkspaceActor & { metadata: string; values: ChannelSettingsValues },
  ): Promise<FormErrors> {
    if (parseBotList(submission.values.bots ?? '') === undefined)
      return { channel_bots: strings.botsInvalid };
    const snapshot = parseSnapshot(submission.metadata);
    const change = snapshot && changesSince(snapshot, submission.values);
    if (snapshot === undefined || change === undefined) {
      this.#deps.log.warn({ workspace: submission.workspace }, 'could not read a channel settings form');
      return { channel_model: strings.modalUnavailable };
    }
    const { workspace, person } = submission;
    const actor = { workspace, channel: snapshot.channel, person };
    const timeout = AbortSignal.timeout(SAVE_TIMEOUT_MS);
    try {
      return await this.#saveChange(actor, change, timeout);
    } catch (error) {
      if (!timeout.aborted) throw error;
      this.#deps.log.warn({ ...actor, err: error }, 'could not save channel settings in time');
      return { channel_model: strings.channelSettingsFailed.late };
    }
  }

  async #renderView(actor: ChannelActor): Promise<ModalContent> {
    const refusal = await settingsRefusal(this.#deps, actor);
    if (refusal !== undefined) return strings.channelSettingsRefused[refusal];
    const { workspace, channel } = actor;
    const isDirect = isDirectChannel(channel);
    const set = await this.#deps.store.settings.get(workspace, channel);
    const isFollowing =
      set.sync_project_name ?? !(await this.#deps.store.projects.isChosen(this.#projectKey(actor)));
    const settings = { ...set, sync_project_name: isFollowing && !isDirect };
    const id = await this.#deps.store.projects.projectIdOf(this.#projectKey(actor));
    const project = id === undefined ? undefined : await this.#readProject(workspace, id);
    return channelSettingsView({
      metadata: encodeSnapshot(channel, settings, project),
      usual: await this.#usualSettings(workspace),
      settings: { ...settings, allowed_bots: formatBotList(settings.allowed_bots) },
      isDirect,
      project: id === undefined ? undefined : (project ?? { id }),
    });
  }

  /** What holds in channels that set nothing: what the workspace has set, else the operator. */
  async #usualSettings(workspace: string): Promise<ChannelSettingsFormContent['usual']> {
    const { admits, admitsBots, listenMode, controlsBy } = this.#deps.settings;
    const set = await this.#deps.store.settings.get(workspace, WHOLE_WORKSPACE);
    const usual = (ofWorkspace: string | null, ofOperator: string): strings.ValueInForce =>
      ofWorkspace === null
        ? { text: ofOperator, from: 'operator' }
        : { text: ofWorkspace, from: 'workspace' };
    return {
      listens: usual(set.listen_mode, listenMode),
      admits: usual(set.allowed_users, admits),
      bots: usual(set.allowed_bots && formatBotList(set.allowed_bots), formatBotList(admitsBots)),
      controls: usual(null, controlsBy),
    };
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

  async #saveChange(
    actor: ChannelActor,
    change: ChannelSettingsChange,
    signal: AbortSignal,
  ): Promise<FormErrors> {
    const { workspace, channel, person } = actor;
    const { store } = this.#deps;
    const refusal = await settingsRefusal(this.#deps, actor, signal);
    if (refusal !== undefined) return { channel_model: strings.channelSettingsRefused[refusal] };
    const key = this.#projectKey(actor);
    const errors = await this.#updateService(actor, change, signal);
    if (errors !== undefined) return errors;
    signal.throwIfAborted();
    const { settings, project, texts } = change;
    const { allowed_bots, ...plain } = settings;
    const named = { ...(project && { project }), ...auditedTexts(texts) };
    const details = {
      ...plain,
      ...(allowed_bots !== undefined && { allowed_bots: allowed_bots && formatBotList(allowed_bots) }),
      ...named,
    };
    if (Object.keys(details).length === 0) return {};
    await store.transaction(async (tx) => {
      if (project !== undefined) await tx.projects.assign(key, project);
      if (Object.keys(settings).length > 0) await saveSettings(this.#deps, tx, actor, settings);
      await tx.audit.add({ workspace, channel, user_id: person, kind: 'setting', details });
      if (settings.sync_project_name === true) await tx.projects.wantNames(workspace, channel);
    });
    this.#deps.log.info({ ...actor, changed: Object.keys(details) }, 'channel settings changed');
    return {};
  }

  /** Checks another project at the service, and saves new texts there; returns what the service refused. */
  async #updateService(
    actor: ChannelActor,
    { project, texts }: ChannelSettingsChange,
    signal: AbortSignal,
  ): Promise<FormErrors | undefined> {
    const unknown = { channel_project: strings.channelSettingsFailed.unknownProject };
    const target = project ?? (await this.#deps.store.projects.projectIdOf(this.#projectKey(actor)));
    if (target === undefined) return undefined;
    try {
      const agent = this.#agentClient(actor.workspace);
      if (project !== undefined) {
        if (!(await mayUseProject(this.#deps, actor, project))) return unknown;
        await agent.requireProject(project, signal);
      }
      if (Object.keys(texts).length > 0) await agent.updateProject(target, texts, { signal });
      return undefined;
    } catch (error) {
      if (project !== undefined && isForbidden(error)) return unknown;
      signal.throwIfAborted();
      if (error instanceof AgentNotFoundError)
        return project === undefined
          ? { channel_project: strings.channelSettingsFailed.projectNotFound }
          : unknown;
      if (!(error instanceof AgentError)) throw error;
      this.#deps.log.warn({ ...actor, err: error }, 'the service refused to change a project');
      if (!(error instanceof AgentRejectedError))
        return { channel_model: strings.channelSettingsFailed.late };
      return { [fieldFor(texts)]: strings.projectRejected(error.reason) };
    }
  }

  #agentClient(workspace: string): AgentClient {
    return this.#deps.agent(this.#deps.accountOf(workspace));
  }

  #projectKey({ workspace, channel }: ChannelActor) {
    return { workspace, channel, account_id: this.#deps.accountOf(workspace) };
  }
}

/** Whether the service refused the project, as far as was found out in time. */
function isForbidden(error: unknown): boolean {
  return error instanceof AgentError && error.status === 403 && error.code !== 'bad_key';
}

/** For the audit trail: which texts changed, not what they say. */
function auditedTexts({ title, description }: ChannelSettingsChange['texts']): Record<string, boolean> {
  return {
    ...(title === undefined ? {} : { renamed: true }),
    ...(description === undefined ? {} : { described: true }),
  };
}

function fieldFor({ title, description }: ChannelSettingsChange['texts']): string {
  if (title !== undefined) return 'channel_title';
  return description === undefined ? 'channel_project' : 'channel_description';
}
