import { AgentNotFoundError, isTooLarge } from '../../agent/errors.ts';
import { lookUpNames } from '../../relay/reading/display-names.ts';
import { parseMessage } from '../../relay/reading/message-parser.ts';
import { plainText } from '../../relay/reading/message-to-markdown.ts';
import { isLaterEdit, isSameAsWritten } from '../../relay/reading/message-versions.ts';
import { hasFailed, reviewKeys } from '../../relay/replies/review-posts.ts';
import { compareTs, messageContent } from '../../relay/runtime/incoming-message.ts';
import { writerName } from '../../relay/sending/earlier-messages.ts';
import { resendChain } from '../../relay/sending/resent-message.ts';
import { savedPermalink } from '../../relay/tasks/task-summaries.ts';
import { withoutSignedLinks } from '../../render/markdown/signed-links-in-text.ts';
import { answerText } from '../../render/messages/answer-text.ts';
import type * as recorded from '../../render/record/record-page.ts';
import { recordNotes, tasks } from '../../render/strings/index.ts';
import type { ThreadMessage } from '../../slack/message-history.ts';
import type { ShownResult } from '../../store/files/posted-results.ts';
import type { Message, MessageContent, SlackTs } from '../../store/schema.ts';
import type { SentTurn } from '../../store/tasks/tasks.ts';
import { messageKeyOf } from '../../store/threads/turns.ts';
import type { RecordWork } from './archive-delivery.ts';
import { readInputs, readResults, type TaskFile } from './record-files.ts';

/** Turns whose questions are read from the thread in one go. */
const TURNS_PER_READ = 25;

/** What the record says of the task itself. Its title only while its first message is in the thread. */
export async function readTask(work: RecordWork, person: string): Promise<recorded.RecordedTask> {
  const { deps, workspace, row } = work;
  const [first] = await deps.store.tasks.sentTurns(row);
  const words = first && (await findWords(work, first, await readMessages(work, first.sent_ts)));
  const channel = await workspace.people.channel(row.channel);
  return {
    id: row.task_id,
    title: withoutSignedLinks((words && row.task_title) ?? tasks.untitled),
    channel: channel.name ?? tasks.direct,
    url: await savedPermalink(deps, row),
    model: row.task_model ?? recordNotes.defaultModel,
    begunAt: row.started_at,
    starter: await toPerson(work, row.started_by),
    savedAt: new Date(),
    savedBy: await toPerson(work, person),
  };
}

/**
 * The turns in order, of which only one is in memory; undefined for one whose words are no longer in the thread, or of
 * somebody who was erased. Throws an AgentError, a SlackError or a StoreError.
 */
export async function* readTurns(
  work: RecordWork,
): AsyncGenerator<recorded.RecordedTurn<TaskFile> | undefined> {
  const turns = await work.deps.store.tasks.sentTurns(work.row);
  const { claimed, results } = await readResults(work);
  // Those that no turn has posted yet count as the last one's.
  const resultsByTurn = Map.groupBy(results, ({ id }) => claimed.get(id)?.turn_id ?? turns.at(-1)?.id);
  const deleted = await readDeleted(work);
  const unlessDeleted = (file: TaskFile) =>
    deleted.has(file.id) ? { ...file, leftOut: recordNotes.files.deleted } : file;
  let number = 1;
  for (let from = 0; from < turns.length; from += TURNS_PER_READ) {
    const page = turns.slice(from, from + TURNS_PER_READ);
    const wanted = page.flatMap(({ sent_ts, reply_ts }) => [...sent_ts, ...reply_ts]);
    const thread = await readMessages(work, wanted.sort(compareTs));
    for (const turn of page) {
      const words = await findWords(work, turn, thread);
      // Whoever deleted a part of it wants that nowhere.
      const isShown = turn.reply_ts.every((ts) => thread.has(ts));
      yield words && {
        ...words,
        number,
        filesIn: await readInputs(work, turn.attached_file_ids ?? []),
        answer: isShown ? await readAnswer(work, turn.assistant_message_id) : recordNotes.deleted,
        sourceChecks: (isShown && turn.source_checks) || {},
        filesOut: isShown ? (resultsByTurn.get(turn.id) ?? []).map(unlessDeleted) : [],
        skill: turn.skill,
        outcome: turn.outcome,
        endedAt: turn.finished_at,
      };
      if (words !== undefined) number += 1;
    }
  }
}

/** The results and reviews of which somebody deleted a post, or the file. Throws a SlackError or a StoreError. */
async function readDeleted(work: RecordWork): Promise<Set<string>> {
  const { deps, workspace, row, lease } = work;
  const shown = await deps.store.results.shownIn(row);
  const posts = [...shown.values()].flatMap(({ shown_ts }) => shown_ts);
  const thread = await readMessages(work, posts.sort(compareTs));
  const isDeleted = async ({ shown_ts, file }: ShownResult) => {
    const found = file === null ? undefined : await workspace.downloads.lookUp(file, lease.signal);
    return found === 'deleted' || found === 'unseen' || !shown_ts.every((ts) => thread.has(ts));
  };
  const deleted = [...shown].map(async ([id, one]) => ((await isDeleted(one)) ? [id] : []));
  return new Set((await Promise.all(deleted)).flat());
}

/** The reviews of the task, without what was deleted. Throws an AgentError, a SlackError or a StoreError. */
export async function readReviews(work: RecordWork): Promise<recorded.RecordedReview[]> {
  const { reviews } = await work.agent.getTask(work.taskId, { signal: work.lease.signal });
  const deleted = await readDeleted(work);
  const keys = reviewKeys(work.taskId, reviews);
  const found = reviews.map(async (review, index) => {
    if (deleted.has(keys[index] ?? '')) return { status: review.status, text: recordNotes.reviewDeleted };
    const findings = await readAnswer(work, review.messageId);
    const text = typeof findings === 'string' ? findings : answerText(findings);
    return { status: hasFailed(review) ? 'failed' : review.status, text: review.errorMessage ?? text };
  });
  return Promise.all(found);
}

/** What Slack has now of these messages of the thread, whose ts are in order. */
async function readMessages({ workspace, row, lease }: RecordWork, wanted: readonly SlackTs[]) {
  if (wanted.length === 0) return new Map<SlackTs, ThreadMessage>();
  const place = { channel: row.channel, threadTs: row.thread_ts, oldest: wanted[0], latest: wanted.at(-1) };
  const found = new Map<SlackTs, ThreadMessage>();
  for await (const message of workspace.readBack.messages({ ...place, signal: lease.signal, guard: lease }))
    if (wanted.includes(message.ts) && message.subtype !== 'tombstone') found.set(message.ts, message);
  return found;
}

/** Who wrote what a turn sent, and each message of it. Undefined if one is no longer in the thread, or its writer was erased. */
async function findWords(work: RecordWork, turn: SentTurn, thread: ReadonlyMap<SlackTs, ThreadMessage>) {
  const { store } = work.deps;
  const message = await store.messages.get(messageKeyOf(turn));
  // A retry repeats the words of an earlier turn.
  const repeated = message && (await resendChain(store, message)).at(-1);
  const sent = await store.messages.ofTurn(repeated ?? turn);
  const writer = sent[0]?.user_id ?? '';
  if (turn.is_erased || writer === '') return undefined;
  const messages: recorded.RecordedMessage[] = [];
  for (const one of sent) {
    const words = await wordsOf(work, one, thread);
    if (words === undefined) return undefined;
    const ts = repeated === undefined ? one.ts : turn.message_ts;
    messages.push({ ...words, sentAt: new Date(Number(ts) * 1_000) });
  }
  return { writer: await toPerson(work, writer), messages };
}

/** A message as it was sent, while that is kept; else as it is now. Undefined if it is no longer in the thread. */
async function wordsOf(
  work: RecordWork,
  { said_ts, content, edited_ts }: Message,
  thread: ReadonlyMap<SlackTs, ThreadMessage>,
) {
  // A button sent it.
  if (said_ts === null) return { text: content === null ? undefined : await toText(work, content) };
  const said = thread.get(said_ts) ?? (await readMessages(work, [said_ts])).get(said_ts);
  if (said === undefined) return undefined;
  const isOurs = said.user === work.workspace.bot.userId;
  const isEdited =
    !isOurs &&
    isLaterEdit(said.edited?.ts ?? null, edited_ts) &&
    !(content !== null && isSameAsWritten(content, messageContent(said)));
  const now = await toText(work, said);
  if (content === null) return { text: now, isEdited };
  const about = await readAbout(work, content.about);
  const text = await toText(work, content);
  if (text === '' && content.about !== undefined && about === undefined) return undefined;
  return { about, text, isEdited, ...(isEdited && { now }) };
}

/** The message that a question is about, unless it began the thread and was deleted since. */
async function readAbout(work: RecordWork, about: MessageContent['about']) {
  if (about === undefined) return undefined;
  const message = parseMessage(about);
  const { row, workspace } = work;
  const isGone =
    message.ts === row.thread_ts && !(await readMessages(work, [row.thread_ts])).has(row.thread_ts);
  if (isGone) return undefined;
  const { userId: botUserId } = workspace.bot;
  const names = await lookUpNames({ people: workspace.people, channel: row.channel }, message);
  return { writer: writerName(message, names), text: plainText(message, names, botUserId) };
}

async function toText({ workspace, row }: RecordWork, said: object): Promise<string> {
  const parsed = parseMessage(said);
  const names = await lookUpNames({ people: workspace.people, channel: row.channel }, parsed);
  return plainText(parsed, names, workspace.bot.userId);
}

async function toPerson({ workspace }: RecordWork, id: string): Promise<recorded.RecordedPerson> {
  return { id, name: id === '' ? recordNotes.forgotten : await workspace.people.personName(id) };
}

/** A message at the service, or a sentence why there is none. */
async function readAnswer({ agent, taskId, lease }: RecordWork, id: string | null) {
  if (id === null) return recordNotes.none;
  try {
    const { content, error } = await agent.getMessage(taskId, id, { signal: lease.signal });
    const failure =
      error === null ? [] : [{ kind: 'text', text: `\n\n${recordNotes.failed(error)}` } as const];
    return [...content, ...failure];
  } catch (error) {
    if (error instanceof AgentNotFoundError) return recordNotes.notFound;
    if (isTooLarge(error)) return recordNotes.tooLarge;
    throw error;
  }
}
