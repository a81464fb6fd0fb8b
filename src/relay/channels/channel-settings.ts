import type { AgentClient } from '../../agent/client.ts';
import { AgentError, AgentNotFoundError, AgentRejectedError } from '../../agent/errors.ts';
import { readProject } from '../../agent/probe.ts';
import type { Project } from '../../agent/schema.ts';
import { channelSettingsNotice, channelSettingsView } from '../../reply/views/channel-settings-view.ts';
import type { FormView } from '../../reply/views/inputs.ts';
import * as words from '../../reply/words.ts';
import { botsText, readBots } from '../admitting/bots.ts';
import { isDirect } from '../arriving/arrivals.ts';
import type { RelayParts } from '../context.ts';
import { type Opened, openAndFill, type WindowPlace } from '../windows.ts';
import { changeOf, type FilledForm, type FormChange, readShown, shownForm } from './settings-form.ts';
import { type SettingsUse, settingsRefusal } from './settings-permission.ts';

/** Slack waits 3 s for what becomes of a form: it must be known in this time (ms). */
const savedWithinMs = 2_300;

/** A form that somebody sent. */
export interface SentForm {
  workspace: string;
  person: string;
  /** What came back with it. */
  metadata: string;
  filled: FilledForm;
}

/** What is wrong with a form, by the id of the field below which it is said; nothing where it was saved. */
export type FormErrors = Readonly<Record<string, string>>;

/** What the settings of channels need beside the relay's parts. */
export interface ChannelSettingsOptions {
  /** The service account that a workspace's new threads go to. */
  accountOf(workspace: string): string;
  /** Whether workspaces that do not know each other have the account in common: a project may be anybody's then. */
  isShared(account: string): boolean;
  /** A project is to get its channel's name. */
  onNameDue(): void;
}

/** The modal with the settings of a channel. */
export class ChannelSettings {
  readonly #parts: RelayParts;
  readonly #options: ChannelSettingsOptions;

  constructor(parts: RelayParts, options: ChannelSettingsOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  /** Opens the modal; somebody who may not change the settings reads why. Throws a SlackError. */
  async open(use: SettingsUse & WindowPlace): Promise<Opened> {
    const said = { notice: channelSettingsNotice, failed: words.channelSettings.away };
    return openAndFill(this.#parts, use, said, () => this.#view(use));
  }

  /** Saves what somebody changed; the answer is what is wrong with it, if anything. */
  async save(form: SentForm): Promise<FormErrors> {
    if (readBots(form.filled.bots ?? '') === undefined) return { channel_bots: words.botsOdd };
    const shown = readShown(form.metadata);
    const change = shown && changeOf(shown, form.filled);
    if (shown === undefined || change === undefined) {
      this.#parts.log.warn({ workspace: form.workspace }, 'a form with settings cannot be read');
      return { channel_model: words.channelSettings.away };
    }
    const { workspace, person } = form;
    const use = { workspace, channel: shown.channel, person };
    const late = AbortSignal.timeout(savedWithinMs);
    try {
      return await this.#save(use, change, late);
    } catch (error) {
      if (!late.aborted) throw error;
      this.#parts.log.warn({ ...use, err: error }, 'settings could not be saved in time');
      return { channel_model: words.channelSettingsFailed.late };
    }
  }

  async #view(use: SettingsUse): Promise<FormView> {
    const why = await settingsRefusal(this.#parts, use);
    if (why !== undefined) return channelSettingsNotice(words.channelSettingsRefused[why]);
    const { workspace, channel } = use;
    const settings = await this.#parts.store.channels.get(workspace, channel);
    const id = await this.#parts.store.projects.of(this.#key(use));
    const project = id === undefined ? undefined : await this.#project(workspace, id);
    return channelSettingsView({
      metadata: shownForm(channel, settings, project),
      settings: { ...settings, bots: botsText(settings.bots) },
      direct: isDirect(channel),
      project: id === undefined ? undefined : (project ?? { id }),
    });
  }

  /** A project as the service has it now; undefined where that cannot be known. */
  async #project(workspace: string, id: string): Promise<Project | undefined> {
    try {
      return await readProject(this.#agent(workspace), id, AbortSignal.timeout(savedWithinMs));
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      this.#parts.log.info({ err: error, project: id }, 'a project could not be read');
      return undefined;
    }
  }

  async #save(use: SettingsUse, change: FormChange, signal: AbortSignal): Promise<FormErrors> {
    const { workspace, channel, person } = use;
    const { store } = this.#parts;
    const why = await settingsRefusal(this.#parts, use, signal);
    if (why !== undefined) return { channel_model: words.channelSettingsRefused[why] };
    const key = this.#key(use);
    const errors = await this.#change(use, change, signal);
    if (errors !== undefined) return errors;
    signal.throwIfAborted();
    const { settings, project, texts } = change;
    const { bots, ...plain } = settings;
    const named = { ...(project && { project }), ...namedTexts(texts) };
    const details = { ...plain, ...(bots !== undefined && { bots: bots && botsText(bots) }), ...named };
    if (Object.keys(details).length === 0) return {};
    const isDue = await store.transaction(async (within) => {
      if (project !== undefined) await within.projects.use(key, project);
      if (Object.keys(settings).length > 0) await within.channels.set(workspace, channel, person, settings);
      await within.audit.add({ workspace, channel, person, kind: 'setting', details });
      const mayBeDue = settings.follows_name === true || project !== undefined;
      return mayBeDue && (await within.projectNames.changed(workspace, channel));
    });
    this.#parts.log.info({ ...use, changed: Object.keys(details) }, 'settings of a channel were changed');
    if (isDue) this.#options.onNameDue();
    return {};
  }

  /** Asks the service for what is to be its own: another project, and new texts of it. */
  async #change(
    use: SettingsUse,
    { project, texts }: FormChange,
    signal: AbortSignal,
  ): Promise<FormErrors | undefined> {
    const unknown = { channel_project: words.channelSettingsFailed.unknownProject };
    const target = project ?? (await this.#parts.store.projects.of(this.#key(use)));
    if (target === undefined) return undefined;
    try {
      const agent = this.#agent(use.workspace);
      if (project !== undefined) {
        if (!(await this.#mayUse(use, project))) return unknown;
        await readProject(agent, project, signal);
      }
      if (Object.keys(texts).length > 0) await agent.updateProject(target, texts, { signal });
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof AgentNotFoundError)
        return project === undefined ? { channel_project: words.channelSettingsFailed.gone } : unknown;
      if (!(error instanceof AgentError)) throw error;
      this.#parts.log.warn({ ...use, err: error }, 'the service did not take a change of a project');
      if (!(error instanceof AgentRejectedError)) return { channel_model: words.channelSettingsFailed.late };
      return { [fieldOf(texts)]: words.projectRejected(error.words) };
    }
  }

  /** A project that other channels use is theirs: whoever takes it for this one must be in one of them. */
  async #mayUse({ workspace, person }: SettingsUse, projectId: string): Promise<boolean> {
    const users = await this.#parts.store.projects.usersOf(projectId);
    if (users.length === 0) return !this.#options.isShared(this.#options.accountOf(workspace));
    const membership = this.#parts.workspace(workspace)?.membership;
    for (const { workspace: home, channel } of users) {
      if (home === workspace && (await membership?.standing(channel, person)) === 'member') return true;
    }
    return false;
  }

  #agent(workspace: string): AgentClient {
    return this.#parts.agent(this.#options.accountOf(workspace));
  }

  #key({ workspace, channel }: SettingsUse) {
    return { workspace, channel, account: this.#options.accountOf(workspace) };
  }
}

/** What is noted of new texts: that they are new, and not what they say. */
function namedTexts({ title, description }: FormChange['texts']): Record<string, boolean> {
  return {
    ...(title === undefined ? {} : { renamed: true }),
    ...(description === undefined ? {} : { described: true }),
  };
}

function fieldOf({ title, description }: FormChange['texts']): string {
  if (title !== undefined) return 'channel_title';
  return description === undefined ? 'channel_project' : 'channel_description';
}
