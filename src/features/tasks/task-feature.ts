import { controlRefusal } from '../../relay/access/control-permission.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import { TaskList } from '../../relay/tasks/task-list.ts';
import { type HomeFeatures, HomeTab } from '../home/home-tab.ts';
import { TaskDeleter } from './task-deletion.ts';
import { TaskFileDelivery } from './task-file-delivery.ts';
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
