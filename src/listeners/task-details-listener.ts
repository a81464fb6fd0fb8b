import type { App } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { HomeTab } from '../features/home/home-tab.ts';
import type { TaskDeleter } from '../features/tasks/task-deletion.ts';
import type { TaskFileDelivery } from '../features/tasks/task-file-delivery.ts';
import type { TaskModal, TaskModalRequest } from '../features/tasks/task-modal.ts';
import { parseFilesPage } from '../features/tasks/task-view.ts';
import { parseHomePage } from './home-listener.ts';
import { parseActor, runAfterAck } from './press.ts';
import { tryParseJson } from './safe-json.ts';

/** Who does what can be pressed in a task's details. */
export interface TaskDetailsHandlers {
  tasks: Pick<TaskModal, 'update' | 'showNotice'>;
  files: Pick<TaskFileDelivery, 'deliver'>;
  deletion: Pick<TaskDeleter, 'delete'>;
  home: Pick<HomeTab, 'show'>;
}

const taskMetadataSchema = z.looseObject({
  channel: z.string().regex(/^[A-Z0-9]{1,30}$/),
  root: z.string().regex(/^\d{1,10}\.\d{6}$/),
  task: z.string().min(1),
  page: z.int().min(0).max(10_000),
  home: z.unknown(),
});

const pressSchema = z.looseObject({
  view: z.looseObject({ id: z.string(), private_metadata: z.string() }),
  actions: z.array(z.looseObject({ value: z.string().nullish() })).min(1),
});

/** A press in the details of a task. */
interface TaskPress {
  viewId: string;
  request: TaskModalRequest;
  /** The service's id of the task that was shown. */
  task: string;
  value: string;
}

/** Takes the presses in the details of a task; each is acknowledged at once, and what came of it shows there. */
export function registerTaskDetailsListeners(
  app: App,
  { tasks, files, deletion, home }: TaskDetailsHandlers,
  log: Logger,
): void {
  for (const turn of ['task_files_back', 'task_files_more']) {
    onAction(turn, async ({ viewId, request, value }) => {
      await tasks.update(viewId, { ...request, page: parseFilesPage(value) ?? request.page });
    });
  }

  onAction('task_file', async ({ viewId, request, value: fileId }) => {
    await files.deliver({ ...request, fileId }, (note) => tasks.update(viewId, { ...request, note }));
  });

  onAction('task_delete', async ({ viewId, request, task }) => {
    const { workspace, person, channel, root, home: place } = request;
    const sentence = await deletion.delete({ workspace, channel, root, task, person });
    await tasks.showNotice(viewId, workspace, sentence);
    await home.show({ workspace, person, state: place });
  });

  function onAction(actionId: string, handle: (press: TaskPress) => Promise<void>): void {
    app.action(actionId, async ({ ack, body }) => {
      await ack();
      const press = parsePress(body);
      if (press === undefined) {
        log.debug({ action: actionId }, 'a press that is not for us is passed over');
        return;
      }
      runAfterAck(handle(press), log.child({ actionId }), 'a press could not be answered');
    });
  }
}

function parsePress(body: unknown): TaskPress | undefined {
  const actor = parseActor(body);
  const press = pressSchema.safeParse(body);
  if (actor === undefined || !press.success) return undefined;
  const { view, actions } = press.data;
  const metadata = taskMetadataSchema.safeParse(tryParseJson(view.private_metadata));
  if (!metadata.success) return undefined;
  const { channel, root, page, task } = metadata.data;
  const request = { ...actor, channel, root, page, home: parseHomePage(metadata.data.home) };
  return { viewId: view.id, request, task, value: actions[0]?.value ?? '' };
}
