import type { RelayParts } from '../context.ts';
import { refusalOf } from '../controls/permission.ts';
import { FileReturn } from './file-return.ts';
import { Home, type HomeFeatures } from './home.ts';
import { TaskDeletion } from './task-deletion.ts';
import { TaskList } from './task-list.ts';
import { TaskModal } from './task-modal.ts';

/** Everything by which people find their tasks again. */
export interface TaskFeature {
  list: TaskList;
  home: Home;
  tasks: TaskModal;
  files: FileReturn;
  deletion: TaskDeletion;
}

/** Puts it together; `features` are what others add to the Home tab. */
export function taskFeature(parts: RelayParts, features: HomeFeatures = {}): TaskFeature {
  const list = new TaskList(parts);
  return {
    list,
    home: new Home(parts, list, features),
    tasks: new TaskModal(parts),
    files: new FileReturn(parts),
    deletion: new TaskDeletion(parts, (use) => refusalOf(parts, use)),
  };
}
