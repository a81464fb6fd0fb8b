import * as strings from '../../render/strings/index.ts';
import type { Message, Turn } from '../../store/schema.ts';
import { isEmptyMessage, isFilesOnly } from '../reading/empty-message.ts';
import { misspeltFlagIn } from '../reading/message-flags.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import { isDirectChannel } from '../runtime/incoming-message.ts';
import { TurnEnded } from '../runtime/turn-interruptions.ts';
import { findResentMessage } from './outgoing-message.ts';
import type { Sender } from './sender.ts';

/** The message asks nothing: the turn ends, unless the message is edited before that. */
export class EmptyMessage extends TurnEnded {
  readonly messageAsRead: Message;

  constructor(outcome: 'helped' | 'kept', sentence: string, messageAsRead: Message) {
    super(outcome, sentence);
    this.messageAsRead = messageAsRead;
  }
}

/** Ends the turn of a message without text, or whose first flag is misspelt: throws EmptyMessage with the help text. */
export async function endTurnIfEmpty(
  deps: RelayDeps,
  workspace: WorkspaceClient,
  turn: Turn,
  message: Message,
): Promise<void> {
  const { content } = message;
  if (turn.prompt !== null || content === null) return;
  const botUserId = workspace.bot.userId;
  if (isEmptyMessage(content, botUserId)) {
    const help = isDirectChannel(turn.channel) ? strings.helpInDm : strings.help;
    const { task_id } = await deps.store.threads.getOrThrow(turn);
    throw new EmptyMessage('helped', task_id === null ? help : strings.helpInThread, message);
  }
  const misspelt = misspeltFlagIn(content, botUserId, deps.settings.supportedTaskOptions);
  if (misspelt !== undefined) throw new EmptyMessage('helped', strings.unknownFlag(misspelt), message);
}

/** Ends the turn of a message of files alone, which are kept for the thread's next message: throws EmptyMessage. */
export async function endTurnIfFilesOnly(
  deps: RelayDeps,
  workspace: WorkspaceClient,
  turn: Turn,
  message: Message,
  sender: Pick<Sender, 'keepFiles'>,
): Promise<void> {
  if (turn.prompt !== null || message.content === null) return;
  if (!isFilesOnly(message.content, workspace.bot.userId)) return;
  if ((await findResentMessage(deps.store, message)) !== undefined) return;
  const { attached_file_ids, notes } = await sender.keepFiles();
  await deps.store.turns.record(turn, { attached_file_ids, file_notes: notes });
  const keptNames = notes
    .filter(({ reason }) => reason === null || reason === 'external')
    .map(({ name }) => name);
  throw new EmptyMessage(
    'kept',
    keptNames.length === 0 ? strings.noUsableFiles : strings.filesReceived(keptNames),
    message,
  );
}
