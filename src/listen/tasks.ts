import type { App } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { FileReturn } from '../relay/tasks/file-return.ts';
import type { Home } from '../relay/tasks/home.ts';
import type { TaskDeletion } from '../relay/tasks/task-deletion.ts';
import type { TaskModal, TaskRequest } from '../relay/tasks/task-modal.ts';
import { readFilesPage } from '../reply/views/task-view.ts';
import { homePlaceOf } from './home.ts';
import { jsonOf } from './json.ts';
import { behindAnswer, readActor } from './press.ts';

/** Who does what can be pressed in a task's details. */
export interface TaskListeners {
  tasks: Pick<TaskModal, 'fill' | 'say'>;
  files: Pick<FileReturn, 'deliver'>;
  deletion: Pick<TaskDeletion, 'delete'>;
  home: Pick<Home, 'show'>;
}

const placeShape = z.looseObject({
  channel: z.string().regex(/^[A-Z0-9]{1,30}$/),
  root: z.string().regex(/^\d{1,10}\.\d{6}$/),
  task: z.string().min(1),
  page: z.int().min(0).max(10_000),
  home: z.unknown(),
});

const pressShape = z.looseObject({
  view: z.looseObject({ id: z.string(), private_metadata: z.string() }),
  actions: z.array(z.looseObject({ value: z.string().nullish() })).min(1),
});

/** A press in the details of a task. */
interface TaskPress {
  viewId: string;
  request: TaskRequest;
  /** The service's id of the task that was shown. */
  task: string;
  value: string;
}

/** Takes the presses in the details of a task; each is acknowledged at once, and what came of it shows there. */
export function listenToTasks(app: App, { tasks, files, deletion, home }: TaskListeners, log: Logger): void {
  for (const turn of ['task_files_back', 'task_files_more']) {
    listen(turn, async ({ viewId, request, value }) => {
      await tasks.fill(viewId, { ...request, page: readFilesPage(value) ?? request.page });
    });
  }

  listen('task_file', async ({ viewId, request, value: fileId }) => {
    await files.deliver({ ...request, fileId }, (note) => tasks.fill(viewId, { ...request, note }));
  });

  listen('task_delete', async ({ viewId, request, task }) => {
    const { workspace, person, channel, root, home: place } = request;
    const sentence = await deletion.delete({ workspace, channel, root, task, person });
    await tasks.say(viewId, workspace, sentence);
    await home.show({ workspace, person, place });
  });

  function listen(actionId: string, take: (press: TaskPress) => Promise<void>): void {
    app.action(actionId, async ({ ack, body }) => {
      await ack();
      const press = readPress(body);
      if (press === undefined) {
        log.debug({ action: actionId }, 'a press that is not for us is passed over');
        return;
      }
      behindAnswer(take(press), log.child({ actionId }), 'a press could not be answered');
    });
  }
}

function readPress(body: unknown): TaskPress | undefined {
  const actor = readActor(body);
  const press = pressShape.safeParse(body);
  if (actor === undefined || !press.success) return undefined;
  const { view, actions } = press.data;
  const place = placeShape.safeParse(jsonOf(view.private_metadata));
  if (!place.success) return undefined;
  const { channel, root, page, task } = place.data;
  const request = { ...actor, channel, root, page, home: homePlaceOf(place.data.home) };
  return { viewId: view.id, request, task, value: actions[0]?.value ?? '' };
}
