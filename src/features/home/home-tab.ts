import { LRUCache } from 'lru-cache';
import { neededFor } from '../../calls/askers.ts';
import { NO_LONGER_NEEDED, timeLimit } from '../../calls/retries-and-waits.ts';
import { closingAt } from '../../relay/access/access-policy.ts';
import { allowanceTold } from '../../relay/access/quotas.ts';
import { refusalTold } from '../../relay/access/refusals.ts';
import { isAskedAgain, lackingRight, taskPlace } from '../../relay/access/rights.ts';
import type {
  ButtonHandlers,
  ChannelActor,
  ViewPress,
  WorkspaceActor,
} from '../../relay/runtime/control-request.ts';
import type { RelayDeps, WorkspaceClient } from '../../relay/runtime/deps.ts';
import {
  areTasksFresh,
  type HomeTabState,
  refreshTasks,
  taskSummary,
} from '../../relay/tasks/task-summaries.ts';
import type { ViewBlock } from '../../render/blocks/modal.ts';
import * as strings from '../../render/strings/index.ts';
import { slackId } from '../../slack/field-schemas.ts';
import type { ThreadKey } from '../../store/schema.ts';
import type { TaskPage, TaskRow } from '../../store/tasks/tasks.ts';
import { WHOLE_WORKSPACE } from '../../store/workspaces/settings-store.ts';
import { type ModalOutcome, type ModalTrigger, parsePage } from '../modals.ts';
import {
  HOME_PAGE_SIZE,
  type HomeContent,
  type HomeTask,
  type HomeTaskList,
  homeView,
  parseHomeMetadata,
  parseTaskButton,
} from './home-view.ts';

/** The most tasks that wait for a person's answer on one Home tab. */
const MAX_WAITING_TASKS = 10;
/** Stands for every direct conversation, where the workspace's settings decide. */
const ANY_DIRECT_CHANNEL = 'D';
/** The most people whose presses are remembered: far more than open their tabs within a minute. */
const MOST_PRESSED = 1_000;

export interface HomeRequest extends WorkspaceActor {
  state: HomeTabState;
  /** Slack's hash of the view that the state is from: the tab stays as it is if the person has moved on since. */
  hash?: string | undefined;
  /**
   * Of an opening, not of a press: an earlier attempt has failed, and may have shown its first view. A tab that has changed
   * since counts as its own, unless a button was pressed.
   */
  isRepeated?: boolean;
}

export interface HomeTabDeps extends RelayDeps {
  /** Parts of the Home tab that only admins see. */
  adminSections: readonly ((workspace: string) => Promise<readonly ViewBlock[]>)[];
  openSettings: (request: ChannelActor & ModalTrigger) => Promise<ModalOutcome>;
  openTask: (
    triggerId: string,
    task: ThreadKey & { person: string; page: number; home: HomeTabState },
  ) => Promise<ModalOutcome>;
}

/** What a Home tab shows, and the rows of its lists. */
type HomeData = Omit<HomeContent, 'note' | 'now'> & { rows: readonly TaskRow[] };
/** Why a person lacks the right to read in a channel, by what it is asked for. */
type AskedRights = Map<string, ReturnType<typeof lackingRight>>;
type PersonAccess = Pick<HomeContent, 'hasAccess' | 'allowance' | 'isDirectOpen' | 'sections'>;

/** The Home tab: shown at once from our own records, then updated with the task states from the service. */
export function homeTab(deps: HomeTabDeps) {
  /** The newest request of each person that waits to be shown; a press chooses what is shown, an opening does not. */
  const waiting = new Map<string, { withdrawn: AbortController; isPress: boolean }>();
  /** Who has pressed a button since their tab was opened: no repeated attempt to fill it may undo that. */
  const pressed = new LRUCache<string, true>({ max: MOST_PRESSED });
  const buttons: ButtonHandlers<
    'home_refresh' | 'home_newer' | 'home_older' | 'home_channel' | 'home_settings' | 'task_details'
  > = {
    home_refresh: (press) => showAgain(press),
    home_newer: turnPage,
    home_older: turnPage,
    home_channel: (press) => {
      const channel = slackId.safeParse(press.selectedChannel).data;
      return showAgain(press, { channel, channelPage: 0 });
    },
    home_settings: (press) => deps.openSettings({ ...press, channel: press.value }),
    task_details: openTask,
  };

  /** Shows the tab again in which a button was pressed. */
  async function showAgain({ workspace, person, view }: ViewPress, change: Partial<HomeTabState> = {}) {
    await show({ workspace, person, state: { ...parseHomeMetadata(view.metadata), ...change } });
  }

  async function turnPage(press: ViewPress): Promise<void> {
    const { list, page = 0 } = parsePage(press.value) ?? {};
    if (list !== undefined) await showAgain(press, list === 'own' ? { page } : { channelPage: page });
  }

  async function openTask(press: ViewPress): Promise<ModalOutcome> {
    const { workspace, person, triggerId, value, view } = press;
    const key = parseTaskButton(value);
    if (key === undefined) return 'unknown';
    const home = parseHomeMetadata(view.metadata);
    return deps.openTask(triggerId, { workspace, person, ...key, page: 0, home });
  }

  /** Shows a person's Home tab, once for all openings that wait to be shown. Throws a SlackError. */
  async function show(request: HomeRequest): Promise<void> {
    const key = `${request.workspace}/${request.person}`;
    if (request.isRepeated === undefined) pressed.set(key, true);
    else if (!request.isRepeated) pressed.delete(key);
    else if (pressed.has(key)) return;
    const before = waiting.get(key);
    const isPress = request.hash === undefined;
    // Events and presses arrive in any order.
    if (before?.isPress === true && !isPress) return;
    before?.withdrawn.abort(NO_LONGER_NEEDED);
    const withdrawn = new AbortController();
    const own = { withdrawn, isPress };
    waiting.set(key, own);
    const waitsNoMore = () => {
      if (waiting.get(key) === own) waiting.delete(key);
    };
    const shown = neededFor('view', () => showNewest(request, withdrawn.signal, waitsNoMore));
    await shown.finally(waitsNoMore).catch((error: unknown) => {
      if (!withdrawn.signal.aborted) throw error;
    });
  }

  async function showNewest(request: HomeRequest, signal: AbortSignal, onPermit: () => void): Promise<void> {
    const workspace = deps.workspace(request.workspace);
    if (workspace === undefined) return;
    const { person } = request;
    const view = (loaded: HomeData, note?: string) => homeView({ ...loaded, note, now: Date.now() });
    let data: HomeData | undefined;
    const asked: AskedRights = new Map();
    const first = async () => {
      onPermit();
      data = await load(workspace, request, await whatPersonMay(workspace, person), asked);
      return view(data, areTasksFresh(data.rows) ? undefined : strings.home.loading);
    };
    const hash = await workspace.views.publish(person, first, { hash: request.hash, signal });
    const isLeft = hash === undefined ? request.isRepeated !== true : areTasksFresh(data?.rows ?? []);
    if (data === undefined || isLeft) return;
    const known = data;
    const { rows, state } = known;
    const begunAt = performance.now();
    const reached = await refreshTasks(deps, rows);
    const fresh = async () => {
      const isLate = isAskedAgain(begunAt);
      const access = isLate ? await whatPersonMay(workspace, person) : known;
      const loaded = await load(workspace, { ...request, state }, access, isLate ? new Map() : asked);
      return view(loaded, reached ? undefined : strings.home.stale);
    };
    // The hash leaves a page alone that the person has opened meanwhile.
    await workspace.views.publish(person, fresh, { hash });
  }

  /** Whether a person may use the agent, and what admins see: Slack is asked once, about who they are now. */
  async function whatPersonMay(workspace: WorkspaceClient, person: string): Promise<PersonAccess> {
    const actor = { workspace: workspace.id, person };
    const signal = timeLimit(deps.settings.windowLookupMs);
    const anywhere = { ...actor, channel: WHOLE_WORKSPACE };
    const [directClosing, closing] = await Promise.all([
      closingAt(deps, { ...actor, channel: ANY_DIRECT_CHANNEL }),
      closingAt(deps, anywhere, signal),
    ]);
    // At the same moment, so that Slack is asked once.
    const [sections, why] = await Promise.all([
      loadSections(actor, signal),
      closing ?? lackingRight(deps, anywhere, { who: 'user', place: 'anywhere' }, signal),
    ]);
    // Nobody is kept out while Slack does not say who they are.
    const hasAccess = why === undefined || why === 'unknown';
    const allowance = hasAccess ? await allowanceTold(deps, actor) : undefined;
    return { sections, hasAccess, allowance, isDirectOpen: directClosing === undefined };
  }

  async function load(
    workspace: WorkspaceClient,
    { person, state }: HomeRequest,
    access: PersonAccess,
    known: AskedRights,
  ): Promise<HomeData> {
    const { tasks } = deps.store;
    const { channel } = state;
    const own = await loadPage(state.page, (range) => tasks.ofPerson(workspace.id, person, range));
    const asker = { workspace: workspace.id, person };
    const refusal = channel === undefined ? undefined : await channelTasksRefusal({ ...asker, channel });
    const asked = await tasks.waitingFor(workspace.id, person, MAX_WAITING_TASKS);
    const hidden = await unreadable([...asked, ...own.rows], person, known);
    const waiting = asked.filter((row) => !hidden.has(row));
    const shownTask = (row: TaskRow): HomeTask => {
      const task = taskSummary(row);
      const why = hidden.get(row);
      // The window says what can be done where Slack does not list them.
      if (why !== undefined)
        return {
          ...task,
          task_title: strings.command.hiddenTask,
          permalink: null,
          isClosed: why === 'outsider',
        };
      const isAsking = asked.some((one) => one.channel === row.channel && one.thread_ts === row.thread_ts);
      return isAsking ? { ...task, state: 'asking' } : task;
    };
    const theirs =
      channel === undefined || refusal !== undefined
        ? undefined
        : await loadPage(state.channelPage, (range) => tasks.ofChannel(workspace.id, channel, range));
    return {
      ...access,
      state: { channel, page: own.page, channelPage: theirs?.page ?? state.channelPage },
      waitingTasks: waiting.map(shownTask),
      ownTasks: { ...own, tasks: own.rows.map(shownTask) },
      channelTasks: refusal === undefined ? theirs : { refusal },
      rows: [...waiting, ...own.rows, ...(theirs?.rows ?? [])],
    };
  }

  /** Those of the tasks that a person may not read, and why: they may have left the channel. Slack is asked once about each. */
  async function unreadable(rows: readonly TaskRow[], person: string, known: AskedRights) {
    const signal = timeLimit(deps.settings.windowLookupMs);
    const lacking = await Promise.all(
      rows.map((row) => {
        const place = taskPlace(row, person);
        const key = `${place}/${row.channel}`;
        const need = { who: 'reader', place } as const;
        const asked = known.get(key) ?? lackingRight(deps, { ...row, person }, need, signal);
        known.set(key, asked);
        return asked;
      }),
    );
    const all = rows.map((row, at) => [row, lacking[at]] as const);
    return new Map(all.filter(([, why]) => why !== undefined));
  }

  /** The sentence for a person who may not see a channel's tasks now; undefined if they may. */
  async function channelTasksRefusal(asker: ChannelActor): Promise<string | undefined> {
    const why = await lackingRight(deps, asker, { who: 'reader', place: 'listed' });
    return why && refusalTold(deps, asker, { why }, 'form');
  }

  async function loadSections(actor: WorkspaceActor, signal: AbortSignal): Promise<readonly ViewBlock[]> {
    try {
      const asked = { ...actor, channel: WHOLE_WORKSPACE };
      const need = { who: 'admin', place: 'anywhere' } as const;
      if ((await lackingRight(deps, asked, need, signal)) !== undefined) return [];
      const { workspace } = actor;
      return (await Promise.all(deps.adminSections.map((build) => build(workspace)))).flat();
    } catch (error) {
      deps.log.warn({ err: error }, 'left out the admin sections of a Home tab');
      return [];
    }
  }

  return { buttons, show };
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
