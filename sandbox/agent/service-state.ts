import type {
  Block,
  FileRecord,
  MessageRecord,
  MessageStatus,
  ProjectRecord,
  ResultRecord,
  TaskRecord,
  TaskStatus,
} from './records.ts';
import { newId } from './records.ts';
import type { ServiceBehaviour } from './service-behaviour.ts';
import { notFound } from './service-refusal.ts';

/** A new status of a task or message. */
export type StatusChange =
  | { kind: 'task'; task: TaskRecord; status: TaskStatus }
  | { kind: 'message'; message: MessageRecord; status: MessageStatus };

/** The service's data, in memory. Lookups do not find what belongs to another customer. */
export class ServiceState {
  readonly projects = new Map<string, ProjectRecord>();
  readonly tasks = new Map<string, TaskRecord>();
  readonly files = new Map<string, FileRecord>();
  readonly #listeners = new Set<(change: StatusChange) => void>();
  readonly now: () => number;
  readonly #behaviour: Pick<ServiceBehaviour, 'numbersFrom'>;
  #numbers = 0n;

  constructor(now: () => number, behaviour: Pick<ServiceBehaviour, 'numbersFrom'>) {
    this.now = now;
    this.#behaviour = behaviour;
  }

  #newId(kind: Parameters<typeof newId>[0]): string {
    const { numbersFrom } = this.#behaviour;
    return numbersFrom === null ? newId(kind) : String(numbersFrom + this.#numbers++);
  }

  project(customer: string, id: string): ProjectRecord {
    const project = this.projects.get(id);
    if (project === undefined || project.customer !== customer) throw notFound('Project', id);
    return project;
  }

  task(customer: string, id: string): TaskRecord {
    const task = this.tasks.get(id);
    if (task === undefined || task.project.customer !== customer) throw notFound('Task', id);
    return task;
  }

  /** A message of the task; a review's findings exist only once the review has completed. */
  message(task: TaskRecord, id: string): MessageRecord {
    const message = task.messages.find((other) => other.id === id);
    if (message === undefined) throw notFound('Message', id);
    const done = task.reviews.some((review) => review.messageId === id && review.status === 'completed');
    if (message.review && !done) throw notFound('Message', id);
    return message;
  }

  file(customer: string, id: string): FileRecord {
    const file = this.files.get(id);
    if (file === undefined || file.project.customer !== customer) throw notFound('File', id);
    return file;
  }

  addProject(customer: string, title: string, description: string): ProjectRecord {
    const at = this.now();
    const project = { id: this.#newId('prj'), customer, title, description, createdAt: at, updatedAt: at };
    this.projects.set(project.id, project);
    return project;
  }

  addTask(project: ProjectRecord, title: string, model: string): TaskRecord {
    const task: TaskRecord = {
      id: this.#newId('tsk'),
      project,
      title,
      model,
      createdAt: this.now(),
      status: 'idle',
      messages: [],
      reviews: [],
      results: [],
    };
    this.tasks.set(task.id, task);
    return task;
  }

  addMessage(
    task: TaskRecord,
    role: MessageRecord['role'],
    content: Block[],
    more: Partial<MessageRecord> = {},
  ): MessageRecord {
    const message: MessageRecord = {
      id: this.#newId('msg'),
      taskId: task.id,
      role,
      content,
      createdAt: this.now(),
      status: null,
      stopReason: null,
      startedAt: null,
      completedAt: null,
      error: null,
      input: null,
      review: false,
      ...more,
    };
    task.messages.push(message);
    return message;
  }

  addFile(fields: Pick<FileRecord, 'project' | 'name' | 'mime' | 'size' | 'purpose' | 'ready'>): FileRecord {
    const id = this.#newId('file');
    const file: FileRecord = { ...fields, id, key: `files/${id}`, createdAt: this.now(), uploadId: null };
    this.files.set(id, file);
    return file;
  }

  addResult(task: TaskRecord, file: FileRecord): ResultRecord {
    const result = { id: this.#newId('res'), file, createdAt: this.now(), reconciled: false };
    task.results.push(result);
    return result;
  }

  setTask(task: TaskRecord, status: TaskStatus): void {
    if (task.status === status) return;
    task.status = status;
    if (status !== 'running') for (const result of task.results) result.reconciled = true;
    this.#tell({ kind: 'task', task, status });
  }

  setMessage(message: MessageRecord, status: MessageStatus): void {
    if (message.status === status) return;
    message.status = status;
    if (status === 'streaming') message.startedAt = this.now();
    if (isSettled(message)) message.completedAt = this.now();
    this.#tell({ kind: 'message', message, status });
  }

  onStatus(listener: (change: StatusChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when the reply is completed, cancelled or failed. */
  settled(message: MessageRecord): Promise<void> {
    if (isSettled(message)) return Promise.resolve();
    return new Promise((resolve) => {
      const stop = this.onStatus((change) => {
        if (change.kind !== 'message' || change.message !== message || !isSettled(message)) return;
        stop();
        resolve();
      });
    });
  }

  #tell(change: StatusChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}

function isSettled({ status }: MessageRecord): boolean {
  return status === 'completed' || status === 'cancelled' || status === 'failed';
}
