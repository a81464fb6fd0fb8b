import { z } from 'zod';
import type { TitlesAndPrompts } from '../features/direct-messages.ts';
import { type HomeTab, parseHomeMetadata, parsePageButton, parseTaskButton } from '../features/home-tab.ts';
import type { TaskDeleter } from '../features/task-details/task-deletion.ts';
import type { TaskFileDelivery } from '../features/task-details/task-file-delivery.ts';
import type { TaskModal, TaskModalRequest } from '../features/task-details/task-modal.ts';
import { parseFilesPage, parseTaskMetadata } from '../features/task-details/task-view.ts';
import type { UsageReport } from '../features/usage-report.ts';
import type { WorkspaceActor } from '../relay/runtime/control-request.ts';
import type { HomeTabState } from '../relay/tasks/task-list.ts';
import * as strings from '../render/strings/index.ts';
import { optional, slackId } from '../slack/field-schemas.ts';
import { parseEnvelope } from './envelope.ts';
import { type ButtonPress, type ListenerContext, onPress, runAfterAck } from './press.ts';

const homeOpenedSchema = z.looseObject({
  type: z.literal('app_home_opened'),
  user: slackId,
  channel: slackId,
  tab: optional(z.string()),
  view: optional(z.looseObject({ private_metadata: optional(z.string()), hash: optional(z.string()) })),
});

interface HomePress extends WorkspaceActor {
  state: HomeTabState;
  triggerId: string;
  value: string;
  selectedChannel: string | undefined;
}

/** Handles the Home tab. Nothing there changes data of ours, so each press is acknowledged at once. */
export function registerHomeListeners(
  context: ListenerContext,
  {
    home,
    taskModal,
    directMessages,
    usageReport,
  }: { home: HomeTab; taskModal: TaskModal; directMessages: TitlesAndPrompts; usageReport: UsageReport },
): void {
  context.app.event('app_home_opened', async ({ body }) => {
    const envelope = parseEnvelope(body);
    const event = homeOpenedSchema.safeParse(envelope?.event);
    if (envelope === undefined || !event.success) return;
    const { user: person, channel, tab, view } = event.data;
    const { workspace } = envelope;
    if (tab === 'messages') background('prompts', directMessages.suggestPrompts(workspace, channel));
    else {
      const state = parseHomeMetadata(view?.private_metadata);
      background('the Home tab', home.show({ workspace, person, state, hash: view?.hash }));
    }
  });

  onAction('home_refresh', ({ workspace, person, state }) => home.show({ workspace, person, state }));
  for (const id of ['home_newer', 'home_older']) {
    onAction(id, async ({ workspace, person, state, value }) => {
      const to = parsePageButton(value);
      if (to === undefined) return;
      const page = to.list === 'own' ? { page: to.page } : { channelPage: to.page };
      await home.show({ workspace, person, state: { ...state, ...page } });
    });
  }
  onAction('home_channel', ({ workspace, person, state, selectedChannel }) =>
    home.show({ workspace, person, state: { page: state.page, channel: selectedChannel, channelPage: 0 } }),
  );
  onAction('home_settings', ({ workspace, person, triggerId, value: channel, state }) =>
    home.openChannelSettings({ workspace, person, triggerId, channel }, state),
  );
  onAction('usage_show', (press) => usageReport.open(press, press.triggerId));
  onAction('usage_csv', (press) => usageReport.sendCsv(press));
  onAction('task_details', async ({ workspace, person, state, triggerId, value }) => {
    const key = parseTaskButton(value);
    if (key === undefined) return;
    const outcome = await taskModal.open(triggerId, { workspace, person, ...key, page: 0, home: state });
    if (outcome === 'late') await home.show({ workspace, person, state, note: strings.controlFailed.late });
  });

  function onAction(actionId: string, handle: (press: HomePress) => Promise<void>): void {
    onPress(context, actionId, async (press) => {
      const homePress = parseHomePress(press);
      if (homePress !== undefined) await handle(homePress);
    });
  }

  function background(what: string, work: Promise<void>): void {
    runAfterAck(work, context.log.child({ what }), 'could not update the Home tab');
  }
}

function parseHomePress({ actor, view, ...press }: ButtonPress): HomePress | undefined {
  const selectedChannel = slackId.safeParse(press.selectedChannel).data;
  return view && { ...press, ...actor, state: parseHomeMetadata(view.metadata), selectedChannel };
}

interface TaskPress {
  viewId: string;
  request: TaskModalRequest;
  /** The service's id of the task that the modal shows. */
  task: string;
  value: string;
}

/** The buttons that lead to a page of files, and what the modal then says. */
const FILE_PAGES = {
  task_files_back: undefined,
  task_files_more: undefined,
  task_files_look: strings.tasks.filesLookedFor,
};

/** Handles the buttons in a task's details. Each press is acknowledged at once, and the modal shows the outcome. */
export function registerTaskDetailsListeners(
  context: ListenerContext,
  taskModal: TaskModal,
  { taskFiles, taskDeleter, home }: { taskFiles: TaskFileDelivery; taskDeleter: TaskDeleter; home: HomeTab },
): void {
  for (const [id, note] of Object.entries(FILE_PAGES)) {
    onAction(id, async ({ viewId, request, value }) => {
      await taskModal.update(viewId, { ...request, page: parseFilesPage(value) ?? request.page, note });
    });
  }

  onAction('task_file', async ({ viewId, request, value: fileId }) => {
    await taskFiles.deliver({ ...request, fileId }, (note) => taskModal.update(viewId, { ...request, note }));
  });

  onAction('task_delete', async ({ viewId, request, task }) => {
    const { workspace, person, channel, thread_ts, home: state } = request;
    const sentence = await taskDeleter.delete({ workspace, channel, thread_ts, task, person });
    await taskModal.showNotice(viewId, workspace, sentence);
    await home.show({ workspace, person, state });
  });

  function onAction(actionId: string, handle: (press: TaskPress) => Promise<void>): void {
    onPress(context, actionId, async (press) => {
      const taskPress = parseTaskPress(press);
      if (taskPress !== undefined) await handle(taskPress);
    });
  }
}

function parseTaskPress({ actor, view, value }: ButtonPress): TaskPress | undefined {
  const state = view && parseTaskMetadata(view.metadata);
  if (view === undefined || state === undefined) return undefined;
  const { channel, thread_ts, page, home, task } = state;
  return { viewId: view.id, request: { ...actor, channel, thread_ts, page, home }, task, value };
}
