import { within } from '../../calls/retries-and-waits.ts';
import { answerText } from '../../render/messages/answer-text.ts';
import { compareAnswers } from '../../render/messages/compared-tables.ts';
import * as strings from '../../render/strings/index.ts';
import type { Turn } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import type { ReadReply } from '../replies/reply-blocks.ts';
import { resultTables } from '../replies/result-posts.ts';
import { unquotedPrompt } from '../sending/resent-message.ts';
import type { TurnContext } from './turn-context.ts';

/** A comparison that takes longer (ms) is left out: nobody waits for it. */
const COMPARISON_TIMEOUT_MS = 15_000;

/**
 * A note that compares an answer with that of the earlier thread whose question a form asked again here. None if
 * the question or its files differ or are not kept, if the earlier answer is not completed and whole in its thread,
 * if there are no numbers to compare, or after 15 s. Throws AgentError, SlackError, StoreError.
 */
export async function compareWithEarlier(context: TurnContext, reply: ReadReply): Promise<string[]> {
  const earlier = await earlierTurnOfQuestion(context.deps.store, context.turn);
  if (earlier === undefined) return [];
  const comparing = compareAnswersOf(context, earlier, reply);
  const compared = await within(COMPARISON_TIMEOUT_MS, comparing, undefined);
  return compared === undefined ? [] : [strings.comparedWithEarlier(compared)];
}

/** The completed turn of this channel whose question a form asked again, if words and files are the same. */
async function earlierTurnOfQuestion(store: Store, turn: Turn): Promise<Turn | undefined> {
  const earlier = await store.taskStarts.sourceTurnOf(turn);
  if (earlier?.outcome !== 'completed' || earlier.channel !== turn.channel) return undefined;
  const words = wordsOf(earlier);
  if (words === '' || words !== wordsOf(turn)) return undefined;
  const idsOf = ({ attached_file_ids }: Turn) => attached_file_ids ?? [];
  const sent = await store.uploads.sent(turn.workspace, [earlier, turn].flatMap(idsOf));
  // A file that was uploaded twice has two ids, and one digest.
  const digestOf = (id: string) => sent.get(id)?.sha256 ?? id;
  const digestsOf = (asked: Turn) => JSON.stringify(idsOf(asked).map(digestOf).sort());
  return digestsOf(earlier) === digestsOf(turn) ? earlier : undefined;
}

/** The letters and digits of a turn's question: a form changes its other characters. '' if it is not kept. */
function wordsOf(turn: Turn): string {
  return unquotedPrompt(turn).replace(/[^\p{L}\p{N}]+/gu, '');
}

/** Compares two replies; undefined if the earlier one is not whole, or there are no numbers to compare. */
async function compareAnswersOf(context: TurnContext, earlier: Turn, reply: ReadReply) {
  const { deps, lease } = context;
  const { task_id: taskId, assistant_message_id: replyId } = earlier;
  if (taskId === null || replyId === null || !(await isReplyComplete(context, earlier, taskId)))
    return undefined;
  const task = await context.task();
  const { account_id } = await deps.store.threads.getOrThrow(earlier);
  const earlierTask = { ...task, agent: deps.agent(account_id), taskId, turn: earlier };
  const { content } = await earlierTask.agent.getMessage(taskId, replyId, { signal: lease.signal });
  const first = { text: answerText(content), files: await resultTables(earlierTask) };
  const second = { text: answerText(reply.blocks), files: await resultTables(task) };
  return deps.rendering.run(context.turn.workspace, () => compareAnswers(first, second), lease.signal);
}

/** Whether all of an earlier reply is still in its thread: what people deleted there is not shown elsewhere. */
async function isReplyComplete({ deps, workspace, lease }: TurnContext, earlier: Turn, taskId: string) {
  const sent = await deps.store.tasks.sentTurns({ ...earlier, task_id: taskId });
  const shown = sent.find(({ id }) => id === earlier.id)?.reply_ts ?? [];
  const missing = new Set(shown);
  const place = { channel: earlier.channel, threadTs: earlier.thread_ts, signal: lease.signal, guard: lease };
  const range = { oldest: shown[0], latest: shown.at(-1) }; // `reply_ts` is sorted.
  for await (const { ts, subtype } of workspace.readBack.messages({ ...place, ...range }))
    if (subtype !== 'tombstone') missing.delete(ts); // Slack may leave one where a message was deleted.
  return shown.length > 0 && missing.size === 0;
}
