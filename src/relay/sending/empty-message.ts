import { valueIf } from '../../calls/retries-and-waits.ts';
import { UNNAMED_FILE } from '../../render/file-names.ts';
import * as strings from '../../render/strings/index.ts';
import { isSlackFault } from '../../slack/errors.ts';
import type { FileNote, MessageContent, Turn } from '../../store/schema.ts';
import type { WholeMessage } from '../../store/threads/messages.ts';
import { isFrozen } from '../../store/threads/turn-phase.ts';
import { NO_NAMES } from '../reading/display-names.ts';
import { isEmptyAfterMention } from '../reading/listening.ts';
import { blocksOf, filesOf, parseMessage } from '../reading/message-parser.ts';
import { readableText } from '../reading/message-to-markdown.ts';
import { tablesAmong } from '../reading/pasted-tables.ts';
import { flagsOf, parseFlags } from '../reading/typed-choices.ts';
import type { ThreadWork } from '../runtime/deps.ts';
import { isDirectChannel } from '../runtime/incoming-message.ts';
import { TurnEnded } from '../runtime/turn-exceptions.ts';
import { withLeftOut } from './allowed-files.ts';
import { resentTurn } from './resent-message.ts';

/** Ends the turn of a message that asks nothing, or begins with a misspelt flag: throws TurnEnded with help. */
export async function endTurnIfEmpty(
  { deps, workspace }: Pick<ThreadWork, 'deps' | 'workspace'>,
  turn: Turn,
  message: WholeMessage,
): Promise<void> {
  const { content, parts } = message;
  // A frozen message has been looked at before, and a message without content is gone.
  if (isFrozen(turn) || content === null) return;
  const botUserId = workspace.bot.userId;
  if (parts.every((part) => part.content !== null && isEmptyMessage(part.content, botUserId))) {
    const help = isDirectChannel(turn.channel) ? strings.helpInDm : strings.help;
    const { task_id } = await deps.store.threads.getOrThrow(turn);
    const sentence = task_id === null ? help : strings.helpInThread;
    throw new TurnEnded('helped', sentence, { unsendableMessage: message });
  }
  const { misspelt } = flagsOf(content, botUserId, deps.settings.supportedTaskOptions);
  if (misspelt !== undefined)
    throw new TurnEnded('helped', strings.unknownFlag(misspelt), { unsendableMessage: message });
}

/** All flags, also those that this service does not take: a message of nothing else asks nothing. */
const ALL_FLAGS = { noFallback: true, autoMode: true, planMode: true };

/** Whether a message asks nothing: it has at most a mention and flags, no file, no table, and is about no other message. */
export function isEmptyMessage(content: MessageContent, botUserId: string): boolean {
  if ((content.files ?? []).length > 0 || content.about !== undefined) return false;
  const message = parseMessage(content);
  if (tablesAmong(blocksOf(message)).length > 0) return false;
  if (isEmptyAfterMention(message, botUserId)) return true;
  return parseFlags(readableText(message, NO_NAMES, botUserId), ALL_FLAGS).text === '';
}

/** Ends the turn of a message of files only, which the thread's next message takes along: throws TurnEnded. */
export async function endTurnIfFilesOnly(
  { deps, workspace }: Pick<ThreadWork, 'deps' | 'workspace'>,
  turn: Turn,
  message: WholeMessage,
  sender: { keepFiles(): Promise<readonly FileNote[]> },
): Promise<void> {
  if (isFrozen(turn) || message.content === null) return;
  if (!message.parts.every(({ content }) => isFilesOnly(content, workspace.bot.userId))) return;
  // A message that repeats a turn's words asks with them.
  if ((await resentTurn(deps.store, message)) !== undefined) return;
  const notes = await sender.keepFiles();
  // Of an `external` file, the agent gets the link.
  const names = notes.flatMap(({ name, reason }) => (reason === null || reason === 'external' ? [name] : []));
  const sentence = names.length === 0 ? strings.noUsableFiles : strings.filesReceived(names);
  throw new TurnEnded('kept', sentence, { unsendableMessage: message });
}

/** Whether a message has files or tables, but no words, no choices of a form, and no message that it is about. */
function isFilesOnly(content: MessageContent | null, botUserId: string): boolean {
  if (content === null || content.about !== undefined || content.choices !== undefined) return false;
  const message = parseMessage(content);
  const hasFiles = filesOf(content).length > 0 || tablesAmong(blocksOf(message)).length > 0;
  return hasFiles && isEmptyAfterMention(message, botUserId);
}

/**
 * Claims for this turn the files that earlier messages left, so that no other turn sends them. Returns the `ids` of those
 * to send, `notes` on all, and the `writers` who shared them. A file is left out if Slack says that it was deleted since,
 * not if Slack fails at the lookup (`isSlackFault`). Throws other SlackErrors.
 */
export async function takeKeptFiles({ deps: { store }, workspace, lease }: ThreadWork, turn: Turn) {
  const keptTurns = await store.keptFiles.take(turn);
  const keptIds = keptTurns.flatMap(({ attached_file_ids }) => attached_file_ids ?? []);
  const uploads = keptIds.length === 0 ? undefined : await store.uploads.sent(turn.workspace, keptIds);
  const ids: string[] = [];
  const undefinedIfFault = valueIf(undefined, isSlackFault);
  for (const id of keptIds) {
    const fileId = uploads?.get(id)?.slackFileId;
    const found = fileId && (await workspace.downloads.lookUp(fileId, lease.signal).catch(undefinedIfFault));
    if (found !== 'deleted' && found !== 'unseen') ids.push(id);
  }
  const notes = keptTurns.flatMap((one) => withLeftOut(one, ids, 'deleted'));
  const named = notes.map((note) => ({ ...note, name: note.name || UNNAMED_FILE })); // A name may have been erased.
  return { ids, notes: named, writers: keptTurns.map(({ asked_by }) => asked_by) };
}
