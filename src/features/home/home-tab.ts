import type { RelayDeps, WorkspaceClient } from '../../relay/runtime/deps.ts';
import { channelTasksRefusal } from '../../relay/tasks/task-access.ts';
import type { TaskList } from '../../relay/tasks/task-list.ts';
import { taskSummary } from '../../relay/tasks/task-summary.ts';
import type { ViewBlock } from '../../render/blocks/view-blocks.ts';
import * as strings from '../../render/strings/index.ts';
import type { TaskPage, TaskRow } from '../../store/tasks/task-records.ts';
import type { ModalOutcome, ModalTrigger } from '../open-modal.ts';
import {
  HOME_PAGE_SIZE,
  type HomeChannelTasks,
  type HomeTabState,
  type HomeTaskList,
  homeView,
} from './home-view.ts';

/** A person who looks at the Home tab, and what of it. */
export interface HomeRequest {
  workspace: string;
  person: string;
  state: HomeTabState;
  /** Slack's hash of the view that the place is from: nothing is shown where the person has turned to another since. */
  hash?: string | undefined;
  /** A sentence about what was just done. */
  note?: string | undefined;
}

/** Somebody wants to change a channel's settings; they are in the channel. */
export interface ChannelSettingsRequest extends ModalTrigger {
  channel: string;
  person: string;
}

/** What other features put into the Home tab. */
export interface HomeFeatures {
  /** Blocks for the end of the tab. */
  sections?: (workspace: string, person: string) => Promise<readonly ViewBlock[]>;
  /** Opens a channel's settings; `late` where Slack opens nothing any more. Without it there is no button. */
  openChannelSettings?: (request: ChannelSettingsRequest) => Promise<ModalOutcome>;
}

/** What a look at the records gave. */
interface HomeData {
  state: HomeTabState;
  ownTasks: TaskPage;
  channelTasks: TaskPage | { refusal: string } | undefined;
  sections: readonly ViewBlock[];
}

/** The Home tab: at once from our own records, and again when the service has said how the tasks stand. */
export class HomeTab {
  readonly #deps: RelayDeps;
  readonly #taskList: TaskList;
  readonly #features: HomeFeatures;

  constructor(deps: RelayDeps, taskList: TaskList, features: HomeFeatures = {}) {
    this.#deps = deps;
    this.#taskList = taskList;
    this.#features = features;
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
    // What the person has turned to meanwhile stays.
    await workspace.views.publish(
      person,
      this.#renderView(freshData, note ?? (reached ? undefined : strings.home.stale)),
      hash,
    );
  }

  /** Opens the settings of the channel that is shown. */
  async openChannelSettings(request: ChannelSettingsRequest, state: HomeTabState): Promise<void> {
    const { workspace: id, channel, person } = request;
    const workspace = this.#deps.workspace(id);
    if (workspace === undefined) return;
    // Whoever is not in the channel any more sees that in the tab.
    const refusal = await channelTasksRefusal(workspace, channel, person);
    const outcome = refusal === undefined && (await this.#features.openChannelSettings?.(request));
    if (outcome === 'late')
      await this.show({ workspace: id, person, state, note: strings.controlFailed.late });
    else if (refusal !== undefined) await this.show({ workspace: id, person, state });
  }

  async #load(workspace: WorkspaceClient, { person, state: place }: HomeRequest): Promise<HomeData> {
    const own = await this.#loadPage(place.page, (range) =>
      this.#taskList.ofPerson(workspace.id, person, range),
    );
    const { channel } = place;
    const refusal = channel === undefined ? undefined : await channelTasksRefusal(workspace, channel, person);
    const sections = await this.#loadSections(workspace.id, person);
    if (channel === undefined || refusal !== undefined) {
      return {
        state: { ...place, page: own.page },
        ownTasks: own,
        channelTasks: refusal === undefined ? undefined : { refusal },
        sections,
      };
    }
    const theirs = await this.#loadPage(place.channelPage, (range) =>
      this.#taskList.ofChannel(workspace.id, channel, range),
    );
    return {
      state: { channel, page: own.page, channelPage: theirs.page },
      ownTasks: own,
      channelTasks: theirs,
      sections,
    };
  }

  /** A page, or the last one where the list has become shorter. */
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

  async #loadSections(workspace: string, person: string): Promise<readonly ViewBlock[]> {
    try {
      return (await this.#features.sections?.(workspace, person)) ?? [];
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'a part of the Home tab is left out');
      return [];
    }
  }

  #renderView(
    { state: place, ownTasks: own, channelTasks: channel, sections }: HomeData,
    note: string | undefined,
  ) {
    const settings = this.#features.openChannelSettings !== undefined;
    return homeView({
      state: place,
      ownTasks: taskListOf(own),
      channelTasks: channelTasksOf(channel),
      note,
      canOpenSettings: settings,
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
