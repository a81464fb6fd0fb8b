import { isAdminNow } from '../../relay/access/admins.ts';
import type { ChannelActor, WorkspaceActor } from '../../relay/runtime/actors.ts';
import type { RelayDeps, WorkspaceClient } from '../../relay/runtime/deps.ts';
import type { HomeTabState } from '../../relay/tasks/home-tab-state.ts';
import { channelTasksRefusal } from '../../relay/tasks/task-access.ts';
import { type TaskList, taskSummary } from '../../relay/tasks/task-list.ts';
import type { ViewBlock } from '../../render/blocks/modal.ts';
import * as strings from '../../render/strings/index.ts';
import type { TaskPage, TaskRow } from '../../store/tasks/task-records.ts';
import type { ModalOutcome, ModalTrigger } from '../open-modal.ts';
import { HOME_PAGE_SIZE, type HomeChannelTasks, type HomeTaskList, homeView } from './home-view.ts';

export interface HomeRequest extends WorkspaceActor {
  state: HomeTabState;
  /** Slack's hash of the view that the state is from: the tab stays as it is if the person has moved on since. */
  hash?: string | undefined;
  /** A sentence about what was just done. */
  note?: string | undefined;
}

export interface ChannelSettingsRequest extends ModalTrigger, ChannelActor {}

/** A part of the Home tab that only admins see. */
export interface AdminSection {
  buildSection(workspace: string): Promise<readonly ViewBlock[]>;
}

interface HomeData {
  state: HomeTabState;
  ownTasks: TaskPage;
  channelTasks: TaskPage | { refusal: string } | undefined;
  sections: readonly ViewBlock[];
}

/** The Home tab: shown at once from our own records, then updated with the task states from the service. */
export class HomeTab {
  readonly #deps: RelayDeps;
  readonly #taskList: TaskList;
  readonly #adminSections: readonly AdminSection[];
  readonly #openSettings: (request: ChannelSettingsRequest) => Promise<ModalOutcome>;

  /** `openSettings` opens the modal with a channel's settings. */
  constructor(
    deps: RelayDeps,
    taskList: TaskList,
    adminSections: readonly AdminSection[],
    openSettings: (request: ChannelSettingsRequest) => Promise<ModalOutcome>,
  ) {
    this.#deps = deps;
    this.#taskList = taskList;
    this.#adminSections = adminSections;
    this.#openSettings = openSettings;
  }

  /** Shows a person's Home tab. Throws a SlackError. */
  async show(request: HomeRequest): Promise<void> {
    const workspace = this.#deps.workspace(request.workspace);
    if (workspace === undefined) return;
    const { person, note } = request;
    const data = await this.#load(workspace, request);
    const rows = [...data.ownTasks.rows, ...rowsOf(data.channelTasks)];
    const isFresh = this.#taskList.isFresh(rows);
    const first = this.#renderView(data, note ?? (isFresh ? undefined : strings.home.loading));
    const hash = await workspace.views.publish(person, first, request.hash);
    if (hash === undefined || isFresh) return;
    const reached = await this.#taskList.refresh(rows);
    const freshData = await this.#load(workspace, { ...request, state: data.state });
    // The hash leaves a page alone that the person has opened meanwhile.
    await workspace.views.publish(
      person,
      this.#renderView(freshData, note ?? (reached ? undefined : strings.home.stale)),
      hash,
    );
  }

  /** Opens the settings of the channel that is shown. Throws a SlackError. */
  async openChannelSettings(request: ChannelSettingsRequest, state: HomeTabState): Promise<void> {
    const { workspace: id, channel, person } = request;
    const workspace = this.#deps.workspace(id);
    if (workspace === undefined) return;
    // Someone who has left the channel reads so in the tab.
    const refusal = await channelTasksRefusal(workspace, channel, person);
    if (refusal !== undefined) return this.show({ workspace: id, person, state });
    if ((await this.#openSettings(request)) === 'late')
      await this.show({ workspace: id, person, state, note: strings.controlFailed.late });
  }

  async #load(workspace: WorkspaceClient, { person, state }: HomeRequest): Promise<HomeData> {
    const { tasks } = this.#deps.store;
    const own = await this.#loadPage(state.page, (range) => tasks.ofPerson(workspace.id, person, range));
    const { channel } = state;
    const refusal = channel === undefined ? undefined : await channelTasksRefusal(workspace, channel, person);
    const sections = await this.#loadSections({ workspace: workspace.id, person });
    if (channel === undefined || refusal !== undefined) {
      return {
        state: { ...state, page: own.page },
        ownTasks: own,
        channelTasks: refusal === undefined ? undefined : { refusal },
        sections,
      };
    }
    const theirs = await this.#loadPage(state.channelPage, (range) =>
      tasks.ofChannel(workspace.id, channel, range),
    );
    return {
      state: { channel, page: own.page, channelPage: theirs.page },
      ownTasks: own,
      channelTasks: theirs,
      sections,
    };
  }

  /** The wanted page, or the last one if the list has become shorter. */
  async #loadPage(
    wanted: number,
    read: (range: { from: number; most: number }) => Promise<TaskPage>,
  ): Promise<TaskPage & { page: number }> {
    const at = async (page: number) => read({ from: page * HOME_PAGE_SIZE, most: HOME_PAGE_SIZE });
    const found = await at(wanted);
    if (found.rows.length > 0 || wanted === 0) return { ...found, page: wanted };
    const last = Math.max(0, Math.ceil(found.total / HOME_PAGE_SIZE) - 1);
    return { ...(await at(last)), page: last };
  }

  async #loadSections(actor: WorkspaceActor): Promise<readonly ViewBlock[]> {
    try {
      if (!(await isAdminNow(this.#deps, actor))) return [];
      const { workspace } = actor;
      return (await Promise.all(this.#adminSections.map((one) => one.buildSection(workspace)))).flat();
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'left out the admin sections of a Home tab');
      return [];
    }
  }

  #renderView({ state, ownTasks, channelTasks, sections }: HomeData, note: string | undefined) {
    return homeView({
      state,
      ownTasks: taskListOf(ownTasks),
      channelTasks: channelTasksOf(channelTasks),
      note,
      sections,
      now: Date.now(),
    });
  }
}

function rowsOf(channel: HomeData['channelTasks']): TaskRow[] {
  return channel === undefined || 'refusal' in channel ? [] : channel.rows;
}

function channelTasksOf(channel: HomeData['channelTasks']): HomeChannelTasks | undefined {
  return channel === undefined || 'refusal' in channel ? channel : taskListOf(channel);
}

function taskListOf({ rows, total: count }: TaskPage): HomeTaskList {
  return { tasks: rows.map(taskSummary), count };
}
