import { randomBytes } from 'node:crypto';

export interface Block {
  type: string;
  [field: string]: unknown;
}

export interface ProjectRecord {
  id: string;
  customer: string;
  title: string;
  description: string;
  createdAt: number;
  updatedAt: number;
}

export type TaskStatus = 'idle' | 'running' | 'completed' | 'cancelled' | 'failed';
export type MessageStatus = 'pending' | 'streaming' | 'completed' | 'cancelling' | 'cancelled' | 'failed';
export type StopReason = 'stop' | 'length' | 'cancelled' | 'error';

export interface MessageRecord {
  id: string;
  taskId: string;
  role: 'user' | 'assistant' | 'system';
  content: Block[];
  createdAt: number;
  /** `null` for messages that the agent did not write. */
  status: MessageStatus | null;
  stopReason: StopReason | null;
  startedAt: number | null;
  completedAt: number | null;
  error: string | null;
  input: { userMessageId: string; fileIds: string[] } | null;
  /** Whether it contains a review's findings. */
  review: boolean;
}

export interface ReviewRecord {
  status: 'running' | 'completed' | 'failed';
  messageId: string | null;
  errorMessage: string | null;
}

export interface ResultRecord {
  id: string;
  file: FileRecord;
  createdAt: number;
  /** Whether a list without `reconcile` includes it. */
  reconciled: boolean;
}

export interface TaskRecord {
  id: string;
  project: ProjectRecord;
  title: string;
  model: string;
  /** It was begun with `plan_mode`: the agent shows a plan first, and waits. */
  plansFirst?: boolean;
  createdAt: number;
  status: TaskStatus;
  messages: MessageRecord[];
  reviews: ReviewRecord[];
  results: ResultRecord[];
}

export interface FileRecord {
  id: string;
  project: ProjectRecord;
  name: string;
  mime: string;
  /** Bytes, as declared. */
  size: number;
  purpose: 'input' | 'output';
  createdAt: number;
  /** Its key in the storage. */
  key: string;
  /** Id of its multipart upload, if it has or had one. */
  uploadId: string | null;
  /** Whether it is complete. */
  ready: boolean;
}

/** An opaque id with a prefix for its kind. */
export function newId(kind: 'prj' | 'tsk' | 'msg' | 'file' | 'res' | 'req'): string {
  return `${kind}_${randomBytes(12).toString('hex')}`;
}

/** The text of a message: its text blocks, joined. */
export function textOf(content: readonly Block[]): string {
  return content
    .filter((block) => block.type === 'text')
    .map((block) => (typeof block.text === 'string' ? block.text : ''))
    .join('');
}
