import { accessDenialFor } from '../../relay/access/access-policy.ts';
import { isAdminNow } from '../../relay/access/admins.ts';
import type { ChannelActor, WorkspaceActor } from '../../relay/runtime/control-request.ts';
import type { RelayDeps, WorkspaceClient } from '../../relay/runtime/deps.ts';
import { channelTasksRefusal } from '../../relay/tasks/task-access.ts';
import { type HomeTabState, type TaskList, taskSummary } from '../../relay/tasks/task-list.ts';
import type { ViewBlock } from '../../render/blocks/modal.ts';
import * as strings from '../../render/strings/index.ts';
import { SlackError } from '../../slack/errors.ts';
import type { TaskPage, TaskRow } from '../../store/tasks/tasks.ts';
import { WHOLE_WORKSPACE } from '../../store/workspaces/settings-store.ts';
import type { ModalOutcome, ModalTrigger } from '../open-modal.ts';
import { HOME_PAGE_SIZE, type HomeContent, type HomeTaskList, homeView } from './home-view.ts';

/** Longest lookup of the person who opens the tab (ms). */
const LOOKUP_TIMEOUT_MS = 3_000;

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

export interface HomeTabDeps extends RelayDeps {
  taskList: TaskList;
  adminSections: readonly AdminSection[];
  /** Opens the modal with a channel's settings. */
  openSettings: (request: ChannelSettingsRequest) => Promise<ModalOutcome>;
}

/** What a Home tab shows, and the rows of its lists. */
type HomeData = Omit<HomeContent, 'note' | 'now'> & { rows: readonly TaskRow[] };

/** The Home tab: shown at once from our own records, then updated with the task states from the service. */
export class HomeTab {
  readonly #deps: HomeTabDeps;

  constructor(deps: HomeTabDeps) {
    this.#deps = deps;
  }

  /** Shows a person's Home tab. Throws a SlackError. */
  async show(request: HomeRequest): Promise<void> {
    const workspace = this.#deps.workspace(request.workspace);
    if (workspace === undefined) return;
    const { person, note } = request;
    const data = await this.#load(workspace, request);
    const isFresh = this.#deps.taskList.isFresh(data.rows);
    const first = renderView(data, note ?? (isFresh ? undefined : strings.home.loading));
    const hash = await workspace.views.publish(person, first, request.hash);
    if (hash === undefined || isFresh) return;
    const reached = await this.#deps.taskList.refresh(data.rows);
    const freshData = await this.#load(workspace, { ...request, state: data.state });
    // The hash leaves a page alone that the person has opened meanwhile.
    await workspace.views.publish(
      person,
      renderView(freshData, note ?? (reached ? undefined : strings.home.stale)),
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
    if ((await this.#deps.openSettings(request)) === 'late')
      await this.show({ workspace: id, person, state, note: strings.controlFailed.late });
  }

  async #load(workspace: WorkspaceClient, { person, state }: HomeRequest): Promise<HomeData> {
    const { tasks } = this.#deps.store;
    const { channel } = state;
    const own = await loadPage(state.page, (range) => tasks.ofPerson(workspace.id, person, range));
    const refusal = channel === undefined ? undefined : await channelTasksRefusal(workspace, channel, person);
    const theirs =
      channel === undefined || refusal !== undefined
        ? undefined
        : await loadPage(state.channelPage, (range) => tasks.ofChannel(workspace.id, channel, range));
    return {
      hasAccess: await this.#hasAccess(workspace, person),
      state: { channel, page: own.page, channelPage: theirs?.page ?? state.channelPage },
      ownTasks: own,
      channelTasks: refusal === undefined ? theirs : { refusal },
      sections: await this.#loadSections({ workspace: workspace.id, person }),
      rows: [...own.rows, ...(theirs?.rows ?? [])],
    };
  }

  /** Whether the workspace's settings let a person in; true if Slack does not say in time who they are. */
  async #hasAccess({ id, people }: WorkspaceClient, person: string): Promise<boolean> {
    const timeout = AbortSignal.timeout(LOOKUP_TIMEOUT_MS);
    const asker = { workspace: id, channel: WHOLE_WORKSPACE, person };
    const why = await accessDenialFor(this.#deps, people, asker, timeout).catch((error: unknown) => {
      if (!timeout.aborted && !(error instanceof SlackError)) throw error;
      return 'unknown' as const;
    });
    return why === undefined || why === 'unknown';
  }

  async #loadSections(actor: WorkspaceActor): Promise<readonly ViewBlock[]> {
    try {
      if (!(await isAdminNow(this.#deps, actor))) return [];
      const { workspace } = actor;
      return (await Promise.all(this.#deps.adminSections.map((one) => one.buildSection(workspace)))).flat();
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'left out the admin sections of a Home tab');
      return [];
    }
  }
}

/** The wanted page, or the last one if the list has become shorter. */
async function loadPage(
  wanted: number,
  read: (range: { from: number; most: number }) => Promise<TaskPage>,
): Promise<HomeTaskList & { page: number; rows: readonly TaskRow[] }> {
  const at = async (page: number) => {
    const { rows, total: count } = await read({ from: page * HOME_PAGE_SIZE, most: HOME_PAGE_SIZE });
    return { page, rows, count, tasks: rows.map(taskSummary) };
  };
  const found = await at(wanted);
  if (found.rows.length > 0 || wanted === 0) return found;
  return at(Math.max(0, Math.ceil(found.count / HOME_PAGE_SIZE) - 1));
}

function renderView(data: HomeData, note: string | undefined) {
  return homeView({ ...data, note, now: Date.now() });
}
