import { AgentError, AgentNotFoundError, AgentRejectedError } from '../../agent/errors.ts';
import type { Project } from '../../agent/service-schema.ts';
import { closingAt } from '../../relay/access/access-policy.ts';
import { projectDenial } from '../../relay/access/rights.ts';
import type { ChannelActor } from '../../relay/runtime/control-request.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import { MAX_INPUT_CHARACTERS, textInput, type ViewBlock } from '../../render/blocks/modal.ts';
import { sectionBlock } from '../../render/blocks/slack-blocks.ts';
import * as strings from '../../render/strings/index.ts';
import { shorten } from '../../render/text-format.ts';
import type { FormErrors } from '../modals.ts';
import { type FormInput, isChanged, type Snapshot } from './settings-form.ts';

/** Longest reading of a project (ms). */
const READ_TIMEOUT_MS = 2_300;
const MAX_TITLE_CHARACTERS = 500;
const MAX_ID_CHARACTERS = 200;

export interface ProjectDeps extends RelayDeps {
  /** Whether workspaces of different owners use this account, so that an unused project may be anyone's. */
  isSharedAccount: (account: string) => boolean;
}

/** What is entered in place of a project's id for one of the channel's own. */
export const OWN_PROJECT = 'new';

/** What a form changes about the project of its channel. */
export interface ProjectChange {
  /** The id of another project to use, or `OWN_PROJECT`; '' for no change. */
  project: string;
  /** New texts of the project. */
  texts: { title?: string; description?: string };
}

/** The projects of a channel, one for each account. */
export function projectKeyOf({ accountOf }: RelayDeps, { workspace, channel }: ChannelActor) {
  return { workspace, channel, account_id: accountOf(workspace) };
}

/** The part of the form that is about the channel's project, and the project's texts if the service gives them. */
export async function projectFields(deps: RelayDeps, actor: ChannelActor) {
  const words = strings.channelSettings;
  const use = { label: words.useProject, hint: words.useProjectHint, optional: true };
  const useProject = textInput('channel_project', use, { maxLength: MAX_ID_CHARACTERS });
  const id = await deps.store.projects.projectIdOf(projectKeyOf(deps, actor));
  if (id === undefined) return { blocks: [sectionBlock(words.noProject), useProject] };
  if ((await projectDenial(deps, actor, id)) !== undefined)
    return { blocks: [sectionBlock(strings.channelSettingsFailed.lostProject), useProject] };
  const read = await readProject(deps, actor.workspace, id);
  const texts = read && {
    title: shorten(read.title, MAX_TITLE_CHARACTERS),
    description: shorten(read.description, MAX_INPUT_CHARACTERS),
  };
  const isUnread = texts === undefined;
  const kept = isUnread ? words.unreadHint : undefined;
  const title = { label: words.projectTitle, hint: kept, optional: isUnread };
  const description = { label: words.description, hint: kept ?? words.descriptionHint, optional: true };
  const blocks: ViewBlock[] = [
    sectionBlock(strings.projectOfChannel({ id, title: read?.title })),
    textInput('channel_title', title, { initial: texts?.title, maxLength: MAX_TITLE_CHARACTERS }),
    textInput('channel_description', description, { initial: texts?.description, multiline: true }),
    useProject,
  ];
  return { blocks, texts };
}

/** A project as the service has it now; undefined if it cannot be read. */
async function readProject(deps: RelayDeps, workspace: string, id: string): Promise<Project | undefined> {
  try {
    const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
    return (await deps.agent(deps.accountOf(workspace)).readProject(id, { signal })) ?? undefined;
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    deps.log.info({ err: error, project: id }, 'could not read a project');
    return undefined;
  }
}

/** What was changed in that part of a form; nothing in a form without it. */
export function projectChangeIn(snapshot: Snapshot, input: FormInput): ProjectChange {
  const texts: ProjectChange['texts'] = {};
  for (const name of ['title', 'description'] as const) {
    const field = input(`channel_${name}`);
    const text = field?.value ?? '';
    if (field !== undefined && isChanged(snapshot, name, text)) texts[name] = text;
  }
  const typed = input('channel_project')?.value?.trim() ?? '';
  return { project: typed.toLowerCase() === OWN_PROJECT ? OWN_PROJECT : typed, texts };
}

/**
 * Checks another project at the service, and saves new texts there; returns what was refused, with errors about the form as
 * a whole at `form`. Throws a StoreError, a SlackError or the signal's reason.
 */
export async function changeProject(
  deps: ProjectDeps,
  actor: ChannelActor,
  { project, texts }: ProjectChange,
  form: string,
  signal: AbortSignal,
): Promise<FormErrors | undefined> {
  const { unknownProject, projectNotFound, late } = strings.channelSettingsFailed;
  if (project === '' && Object.keys(texts).length === 0) return undefined;
  const closing = await closingAt(deps, actor, signal);
  if (closing !== undefined) return { [form]: strings.closedPlaces[closing] };
  if (project === OWN_PROJECT) return undefined;
  const target = project || (await deps.store.projects.projectIdOf(projectKeyOf(deps, actor)));
  if (target === undefined) return undefined;
  if (project === '' && (await projectDenial(deps, actor, target, signal)) !== undefined)
    return { [form]: strings.channelSettingsFailed.lostProject };
  try {
    const agent = deps.agent(deps.accountOf(actor.workspace));
    if (project !== '') {
      const refusal = await projectRefusal(deps, actor, project, signal);
      if (refusal !== undefined) return { channel_project: refusal };
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
    deps.log.warn({ ...actor, err: error }, 'the service refused to change a project');
    if (!(error instanceof AgentRejectedError)) return { [form]: late };
    const [field = 'project'] = Object.keys(texts);
    return { [`channel_${field}`]: strings.channelSettingsFailed.rejected(error.reason) };
  }
}

/**
 * Why a person may not attach a project to a channel; undefined if they may. A project that no channel uses is free only if
 * workspaces of different owners do not share its account (`isSharedAccount`). Throws a SlackError if Slack does not say who reads the channel.
 */
async function projectRefusal(
  deps: ProjectDeps,
  actor: ChannelActor,
  project: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { unknownProject, sharedChannel } = strings.channelSettingsFailed;
  const users = await deps.store.projects.channelsUsing(project);
  if (users.length === 0)
    return deps.isSharedAccount(deps.accountOf(actor.workspace)) ? unknownProject : undefined;
  const why = await projectDenial(deps, actor, project, signal, actor.person);
  return why && (why === 'shared' ? sharedChannel : unknownProject);
}

/** Whether the service refused the project, as far as was found out in time. */
function isForbidden(error: unknown): boolean {
  return error instanceof AgentError && error.status === 403 && error.code !== 'bad_key';
}
