import type { RelayDeps } from '../context.ts';
import { controlRefusal } from '../controls/permission.ts';
import { TaskFileDelivery } from './file-return.ts';
import { HomeTab, type HomeFeatures } from './home.ts';
import { TaskDeleter } from './task-deletion.ts';
import { TaskList } from './task-list.ts';
import { TaskModal } from './task-modal.ts';

/** Everything by which people find their tasks again. */
export interface TaskFeatures {
  list: TaskList;
  home: HomeTab;
  tasks: TaskModal;
  files: TaskFileDelivery;
  deletion: TaskDeleter;
}

/** Puts it together; `features` are what others add to the Home tab. */
export function createTaskFeatures(deps: RelayDeps, features: HomeFeatures = {}): TaskFeatures {
  const list = new TaskList(deps);
  return {
    list,
    home: new HomeTab(deps, list, features),
    tasks: new TaskModal(deps),
    files: new TaskFileDelivery(deps),
    deletion: new TaskDeleter(deps, (use) => controlRefusal(deps, use)),
  };
}
