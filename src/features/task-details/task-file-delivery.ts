import { AgentError } from '../../agent/errors.ts';
import { taskUseRefusal } from '../../relay/access/control-permission.ts';
import { filesRefusal } from '../../relay/access/quotas.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import { sendDirectMessage } from '../../relay/runtime/private-notices.ts';
import { storedName, UNNAMED_FILE } from '../../render/file-names.ts';
import { displayedFileName } from '../../render/messages/result-list.ts';
import * as strings from '../../render/strings/index.ts';
import { SlackError } from '../../slack/errors.ts';
import type { ThreadKey } from '../../store/schema.ts';
import { serviceBytes } from './record-files.ts';

/** Who wants which file, by the service's id, of a thread's task. */
type TaskFileRequest = ThreadKey & { person: string; fileId: string };

/** Sends files of tasks back to people: streamed from the service into their direct messages. */
export function taskFileDelivery(deps: RelayDeps) {
  /** Files on their way, each with the person whom it goes to. */
  const onTheWay = new Set<string>();
  /** Deliveries under way, until their outcome is told. */
  const deliveries = new Set<Promise<void>>();
  const closing = new AbortController();

  /**
   * Sends a file and reports progress through `showInModal`, which returns false once the modal is closed: a failure
   * then goes out as a direct message. Ignores a file that is already on its way to this person. Throws a StoreError.
   */
  async function deliver(
    request: TaskFileRequest,
    showInModal: (sentence: string) => Promise<boolean>,
  ): Promise<void> {
    const key = `${request.workspace}/${request.person}/${request.fileId}`;
    if (onTheWay.has(key)) return;
    onTheWay.add(key);
    const show = (sentence: string) =>
      showInModal(sentence).catch((error: unknown) => {
        deps.log.warn({ err: error, file: request.fileId }, 'could not show how far a file is');
        return false;
      });
    // Before the outcome shows: whoever reads of a failure may press again at once.
    const sent = sendFile(request).finally(() => onTheWay.delete(key));
    const delivery = Promise.all([sent, show(strings.tasks.fileOnTheWay)]).then(async ([failure]) => {
      const isSeen = await show(failure ?? strings.tasks.fileSent);
      if (!isSeen && failure !== undefined) await sendDirectMessage(deps, request, failure);
    });
    deliveries.add(delivery);
    await delivery.finally(() => deliveries.delete(delivery));
  }

  /** A sentence about what went wrong; undefined if the file was sent. */
  async function sendFile({ fileId, ...request }: TaskFileRequest): Promise<string | undefined> {
    const { store, log } = deps;
    const workspace = deps.workspace(request.workspace);
    const row = await store.tasks.get(request);
    if (workspace === undefined || row === undefined) return strings.tasks.notFound;
    const use = { person: request.person, control: 'task_files' };
    const refusal = await taskUseRefusal(deps, row, use);
    if (refusal !== undefined) return refusal.sentence;
    if (!(await store.tasks.attachedFileIds(row)).includes(fileId)) return strings.tasks.notFound;
    const tooOften = await filesRefusal(store, request, use.control);
    if (tooOften !== undefined) return tooOften;
    let name = '';
    try {
      const agent = deps.agent(row.account_id);
      const file = await agent.getFile(fileId);
      const { sizeBytes } = file;
      name = file.filename;
      const { maxFileBytes: fileBytes } = deps.settings;
      // Slack wants to know it before the first byte.
      if (sizeBytes === null) return strings.fileNotSent(name);
      if (sizeBytes === 0) return strings.tasks.fileEmpty;
      if (sizeBytes > fileBytes) return strings.fileTooLarge(sizeBytes, fileBytes);
      const content = serviceBytes(agent, file, closing.signal);
      const channel = await workspace.posting.openDm(request.person);
      const stored = storedName(name, UNNAMED_FILE);
      const staged = await workspace.uploads.stage({ name: stored, sizeBytes, content });
      // Nobody sees it yet, and it may have taken long.
      const late = await taskUseRefusal(deps, row, use);
      if (late !== undefined) return late.sentence;
      await workspace.uploads.share({
        channel,
        files: [{ id: staged.fileId, title: displayedFileName(name) }],
      });
      return undefined;
    } catch (error) {
      if (!(error instanceof AgentError || error instanceof SlackError)) throw error;
      log.warn({ err: error, task: row.task_id, file: fileId }, 'could not send a file back');
      return strings.fileNotSent(name);
    }
  }

  return {
    deliver,
    /** Cancels deliveries under way; the people waiting for them are told. */
    stop: async () => {
      closing.abort();
      await Promise.allSettled(deliveries);
    },
  };
}
