import { within } from '../../calls/retries-and-waits.ts';
import { answerText } from '../../render/messages/answer-text.ts';
import { type AnswerComparison, compareAnswers } from '../../render/messages/compared-tables.ts';
import type { Turn } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import type { ReadReply } from '../replies/reply-blocks.ts';
import { resultTables } from '../replies/result-posts.ts';
import { unquotedPrompt } from '../sending/resent-message.ts';
import type { TurnContext } from './turn-context.ts';

/** A comparison that takes longer (ms) is left out: nobody waits for it. */
const COMPARISON_TIMEOUT_MS = 15_000;

/**
 * Compares an answer with the answer to the same question in an earlier thread. Undefined without such a question, if its words
 * are no longer kept, if its answer or a part of it is gone, or if both have no numbers to compare. Throws an AgentError, a
 * SlackError or a StoreError.
 */
export async function compareWithEarlier(
  context: TurnContext,
  reply: ReadReply,
): Promise<AnswerComparison | undefined> {
  const earlier = await sameQuestionBefore(context.deps.store, context.turn);
  return earlier && (await within(COMPARISON_TIMEOUT_MS, compareWith(context, earlier, reply), undefined));
}

/** The answered turn whose question the first turn of a thread asked again, with the same words and files. */
async function sameQuestionBefore(store: Store, turn: Turn): Promise<Turn | undefined> {
  const earlier = await store.taskStarts.firstTurnOf(turn);
  if (earlier?.outcome !== 'completed' || earlier.channel !== turn.channel) return undefined;
  const words = wordsOf(earlier);
  if (words === '' || words !== wordsOf(turn)) return undefined;
  const ids = [earlier, turn].map(({ attached_file_ids }) => attached_file_ids ?? []);
  const sent = await store.uploads.sent(turn.workspace, ids.flat());
  const [files, own] = ids.map((list) => list.map((id) => sent.get(id)?.sha256 ?? id).sort());
  return JSON.stringify(files) === JSON.stringify(own) ? earlier : undefined;
}

/** A turn's question in its letters and digits: a form shows marks of Markdown as they are. '' if it is no longer kept. */
function wordsOf(turn: Turn): string {
  return unquotedPrompt(turn).replace(/[^\p{L}\p{N}]+/gu, '');
}

async function compareWith(context: TurnContext, earlier: Turn, reply: ReadReply) {
  const { deps, lease } = context;
  const { task_id: taskId, assistant_message_id: replyId } = earlier;
  if (taskId === null || replyId === null || !(await isWhole(context, earlier, taskId))) return undefined;
  const own = await context.task();
  const { account_id } = await deps.store.threads.getOrThrow(earlier);
  const before = { ...own, agent: deps.agent(account_id), taskId, turn: earlier };
  const { content } = await before.agent.getMessage(taskId, replyId, { signal: lease.signal });
  const first = { text: answerText(content), files: await resultTables(before) };
  const second = { text: answerText(reply.blocks), files: await resultTables(own) };
  return deps.rendering.run(own.turn.workspace, () => compareAnswers(first, second), lease.signal);
}

/** Whether all of an earlier reply is still in its thread: whoever deleted a part of it wants that nowhere. */
async function isWhole({ deps, workspace, lease }: TurnContext, earlier: Turn, taskId: string) {
  const sent = await deps.store.tasks.sentTurns({ ...earlier, task_id: taskId });
  const shown = sent.find(({ id }) => id === earlier.id)?.reply_ts ?? [];
  const missing = new Set(shown);
  const place = { channel: earlier.channel, threadTs: earlier.thread_ts, signal: lease.signal, guard: lease };
  const range = { oldest: shown[0], latest: shown.at(-1) };
  for await (const { ts, subtype } of workspace.readBack.messages({ ...place, ...range }))
    if (subtype !== 'tombstone') missing.delete(ts);
  return shown.length > 0 && missing.size === 0;
}
