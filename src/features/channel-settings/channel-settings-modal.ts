import { readProject } from '../../agent/account-probe.ts';
import type { AgentClient } from '../../agent/agent-client.ts';
import { AgentError, AgentNotFoundError, AgentRejectedError } from '../../agent/errors.ts';
import type { Project } from '../../agent/service-schema.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import { isDirectChannel } from '../../relay/runtime/incoming-message.ts';
import type { FormView } from '../../render/blocks/form-inputs.ts';
import * as strings from '../../render/strings/index.ts';
import { formatBotList, parseBotList } from '../bot-list.ts';
import { type ModalOutcome, type ModalTrigger, openAndFillModal } from '../open-modal.ts';
import {
  type ChannelSettingsChange,
  type ChannelSettingsValues,
  changesSince,
  encodeSnapshot,
  parseSnapshot,
} from './channel-settings-form.ts';
import { type SettingsActor, settingsRefusal } from './channel-settings-permission.ts';
import { channelSettingsNoticeView, channelSettingsView } from './channel-settings-view.ts';

/** Slack waits 3 s for what becomes of a form: it must be known in this time (ms). */
const SAVE_TIMEOUT_MS = 2_300;

/** A form that somebody sent. */
export interface ChannelSettingsSubmission {
  workspace: string;
  person: string;
  /** What came back with it. */
  metadata: string;
  values: ChannelSettingsValues;
}

/** What is wrong with a form, by the id of the field below which it is said; nothing where it was saved. */
export type ChannelSettingsErrors = Readonly<Record<string, string>>;

/** What the settings of channels need beside the relay's parts. */
export interface ChannelSettingsDeps {
  /** The service account that a workspace's new threads go to. */
  accountOf(workspace: string): string;
  /** Whether workspaces that do not know each other have the account in common: a project may be anybody's then. */
  isSharedAccount(account: string): boolean;
  /** A project is to get its channel's name. */
  onProjectNameDue(): void;
}

/** The modal with the settings of a channel. */
export class ChannelSettingsModal {
  readonly #deps: RelayDeps;
  readonly #options: ChannelSettingsDeps;

  constructor(deps: RelayDeps, options: ChannelSettingsDeps) {
    this.#deps = deps;
    this.#options = options;
  }

  /** Opens the modal; somebody who may not change the settings reads why. Throws a SlackError. */
  async open(actor: SettingsActor & ModalTrigger): Promise<ModalOutcome> {
    const texts = { notice: channelSettingsNoticeView, failed: strings.channelSettings.unavailable };
    return openAndFillModal(this.#deps, actor, texts, () => this.#renderView(actor));
  }

  /** Saves what somebody changed; the answer is what is wrong with it, if anything. */
  async save(submission: ChannelSettingsSubmission): Promise<ChannelSettingsErrors> {
    if (parseBotList(submission.values.bots ?? '') === undefined)
      return { channel_bots: strings.botsInvalid };
    const snapshot = parseSnapshot(submission.metadata);
    const change = snapshot && changesSince(snapshot, submission.values);
    if (snapshot === undefined || change === undefined) {
      this.#deps.log.warn({ workspace: submission.workspace }, 'a form with settings cannot be read');
      return { channel_model: strings.channelSettings.unavailable };
    }
    const { workspace, person } = submission;
    const actor = { workspace, channel: snapshot.channel, person };
    const timeout = AbortSignal.timeout(SAVE_TIMEOUT_MS);
    try {
      return await this.#saveChange(actor, change, timeout);
    } catch (error) {
      if (!timeout.aborted) throw error;
      this.#deps.log.warn({ ...actor, err: error }, 'settings could not be saved in time');
      return { channel_model: strings.channelSettingsFailed.late };
    }
  }

  async #renderView(actor: SettingsActor): Promise<FormView> {
    const refusal = await settingsRefusal(this.#deps, actor);
    if (refusal !== undefined) return channelSettingsNoticeView(strings.channelSettingsRefused[refusal]);
    const { workspace, channel } = actor;
    const settings = await this.#deps.store.channelSettings.get(workspace, channel);
    const id = await this.#deps.store.projects.projectIdOf(this.#projectKey(actor));
    const project = id === undefined ? undefined : await this.#readProject(workspace, id);
    return channelSettingsView({
      metadata: encodeSnapshot(channel, settings, project),
      settings: { ...settings, bots: formatBotList(settings.bots) },
      isDirect: isDirectChannel(channel),
      project: id === undefined ? undefined : (project ?? { id }),
    });
  }

  /** A project as the service has it now; undefined where that cannot be known. */
  async #readProject(workspace: string, id: string): Promise<Project | undefined> {
    try {
      return await readProject(this.#agentClient(workspace), id, AbortSignal.timeout(SAVE_TIMEOUT_MS));
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      this.#deps.log.info({ err: error, project: id }, 'a project could not be read');
      return undefined;
    }
  }

  async #saveChange(
    actor: SettingsActor,
    change: ChannelSettingsChange,
    signal: AbortSignal,
  ): Promise<ChannelSettingsErrors> {
    const { workspace, channel, person } = actor;
    const { store } = this.#deps;
    const refusal = await settingsRefusal(this.#deps, actor, signal);
    if (refusal !== undefined) return { channel_model: strings.channelSettingsRefused[refusal] };
    const key = this.#projectKey(actor);
    const errors = await this.#updateService(actor, change, signal);
    if (errors !== undefined) return errors;
    signal.throwIfAborted();
    const { settings, project, texts } = change;
    const { bots, ...plain } = settings;
    const named = { ...(project && { project }), ...auditedTexts(texts) };
    const details = { ...plain, ...(bots !== undefined && { bots: bots && formatBotList(bots) }), ...named };
    if (Object.keys(details).length === 0) return {};
    const isDue = await store.transaction(async (tx) => {
      if (project !== undefined) await tx.projects.assign(key, project);
      if (Object.keys(settings).length > 0)
        await tx.channelSettings.set(workspace, channel, person, settings);
      await tx.audit.add({ workspace, channel, person, kind: 'setting', details });
      const mayBeDue = settings.follows_name === true || project !== undefined;
      return mayBeDue && (await tx.projectNames.markDue(workspace, channel));
    });
    this.#deps.log.info({ ...actor, changed: Object.keys(details) }, 'settings of a channel were changed');
    if (isDue) this.#options.onProjectNameDue();
    return {};
  }

  /** Asks the service for what is to be its own: another project, and new texts of it. */
  async #updateService(
    actor: SettingsActor,
    { project, texts }: ChannelSettingsChange,
    signal: AbortSignal,
  ): Promise<ChannelSettingsErrors | undefined> {
    const unknown = { channel_project: strings.channelSettingsFailed.unknownProject };
    const target = project ?? (await this.#deps.store.projects.projectIdOf(this.#projectKey(actor)));
    if (target === undefined) return undefined;
    try {
      const agent = this.#agentClient(actor.workspace);
      if (project !== undefined) {
        if (!(await this.#mayUseProject(actor, project))) return unknown;
        await readProject(agent, project, signal);
      }
      if (Object.keys(texts).length > 0) await agent.updateProject(target, texts, { signal });
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof AgentNotFoundError)
        return project === undefined
          ? { channel_project: strings.channelSettingsFailed.projectNotFound }
          : unknown;
      if (!(error instanceof AgentError)) throw error;
      this.#deps.log.warn({ ...actor, err: error }, 'the service did not take a change of a project');
      if (!(error instanceof AgentRejectedError))
        return { channel_model: strings.channelSettingsFailed.late };
      return { [fieldFor(texts)]: strings.projectRejected(error.words) };
    }
  }

  /** A project that other channels use is theirs: whoever takes it for this one must be in one of them. */
  async #mayUseProject({ workspace, person }: SettingsActor, projectId: string): Promise<boolean> {
    const users = await this.#deps.store.projects.channelsUsing(projectId);
    if (users.length === 0) return !this.#options.isSharedAccount(this.#options.accountOf(workspace));
    const membership = this.#deps.workspace(workspace)?.membership;
    for (const { workspace: home, channel } of users) {
      if (home === workspace && (await membership?.statusOf(channel, person)) === 'member') return true;
    }
    return false;
  }

  #agentClient(workspace: string): AgentClient {
    return this.#deps.agent(this.#options.accountOf(workspace));
  }

  #projectKey({ workspace, channel }: SettingsActor) {
    return { workspace, channel, account: this.#options.accountOf(workspace) };
  }
}

/** What is noted of new texts: that they are new, and not what they say. */
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
