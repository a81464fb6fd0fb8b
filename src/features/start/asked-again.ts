import { z } from 'zod';
import { valueIf } from '../../calls/retries-and-waits.ts';
import { actorName } from '../../relay/reading/display-names.ts';
import { filesOf, parseMessage } from '../../relay/reading/message-parser.ts';
import type { RelayDeps, WorkspaceClient } from '../../relay/runtime/deps.ts';
import { messageContent } from '../../relay/runtime/incoming-message.ts';
import type { JobKind } from '../../relay/runtime/job-runner.ts';
import { postJobNotice } from '../../relay/runtime/unknown-outcome.ts';
import { outcomeIfUnreachable } from '../../relay/runtime/unreachable-threads.ts';
import { linkButton, sectionBlock } from '../../render/blocks/slack-blocks.ts';
import { escapeMrkdwn } from '../../render/markdown/pings.ts';
import * as strings from '../../render/strings/index.ts';
import type { SlackFile } from '../../slack/downloadable-files.ts';
import { isPermanentRefusal, MessageGoneError, undefinedIfGone } from '../../slack/errors.ts';
import type { ThreadMessage } from '../../slack/message-history.ts';
import { JOB_KIND } from '../../store/jobs/jobs.ts';
import type { Message, MessageContent, SlackTs, TaskStart, Turn } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { messageKeyOf } from '../../store/threads/turns.ts';

/** Longest reading of a question (ms): where the app is distributed, Slack lets it read once a minute. */
const READ_TIMEOUT_MS = 75_000;

/**
 * Reads the question of a turn with its files from Slack, which knows what was edited and deleted since, and which turn sent
 * it; undefined where it is not there, or its writer was forgotten. Throws a SlackError.
 */
export async function readQuestion(
  { store }: RelayDeps,
  workspace: WorkspaceClient,
  asked: Turn,
): Promise<{ turn: Turn; content: MessageContent } | undefined> {
  const { turn, message, fileIds, askers } = await writtenTurn(store, asked);
  const { channel, thread_ts: threadTs } = turn;
  const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
  const messages: ThreadMessage[] = [];
  for (const { said_ts, ts: own } of await store.messages.ofTurn(turn)) {
    const ts = said_ts ?? own;
    const found = await workspace.readBack.message({ channel, threadTs, ts, signal }).catch(undefinedIfGone);
    if (found !== undefined && found.subtype !== 'tombstone') messages.push(found);
  }
  const [read] = messages;
  if (read === undefined) return undefined;
  const isPost = read.user === workspace.bot.userId;
  // A post of ours may repeat the words of somebody who was forgotten. Its files may have been deleted since.
  const posted = () => message?.content && { ...message.content, files: [] };
  const content = isPost ? posted() : messageContent(asOne(read, messages));
  if (content == null || !message?.user_id) return undefined;
  // Files of a form, and those that were shared before the question, are not part of its message.
  const shared = new Set(sharedFiles(content).map(({ id }) => id));
  const sent = [...(await store.uploads.sent(turn.workspace, fileIds)).values()];
  const ids = new Set(
    sent.flatMap(({ slackFileId: id }) => (id === undefined || shared.has(id) ? [] : [id])),
  );
  const looked = [...ids].map((id) => workspace.downloads.lookUp(id, signal));
  const isThere = (file: SlackFile | string): file is SlackFile =>
    typeof file !== 'string' && (isSharedIn(file, channel) || (isPost && askers.has(file.user)));
  const own = filesOf(content).filter(({ mode }) => mode !== 'tombstone');
  const files = [...own, ...(await Promise.all(looked)).filter(isThere)];
  return { turn, content: { ...content, files } };
}

/** The messages of one person that went as one, in one. */
function asOne(first: ThreadMessage, all: readonly ThreadMessage[]): ThreadMessage {
  if (all.length === 1) return first;
  return {
    ...first,
    text: all.map(({ text }) => text).join('\n\n'),
    blocks: all.flatMap(({ blocks = [] }) => blocks),
    attachments: all.flatMap(({ attachments = [] }) => attachments),
    files: all.flatMap(({ files = [] }) => files),
  };
}

/** The last turn with words of its own, behind those of buttons, and its message; the files and askers of all of them. */
async function writtenTurn({ turns, messages }: Store, asked: Turn) {
  const fileIds: string[] = [];
  const askers = new Set<string | undefined>();
  let written: { turn: Turn; message: Message | undefined } | undefined;
  for (let turn = asked; ; ) {
    fileIds.push(...(turn.attached_file_ids ?? []));
    askers.add(turn.asked_by);
    const message = await messages.get(messageKeyOf(turn));
    const hasWords = message !== undefined && message.said_ts !== null && message.resends_turn_id === null;
    const earlier = await turns.madeBy(turn);
    if (hasWords || earlier === undefined) written ??= { turn, message };
    if (earlier === undefined) return { turn, message, ...written, fileIds, askers };
    turn = earlier;
  }
}

/** The files of a message, and of those that it forwards. */
function sharedFiles(content: MessageContent): SlackFile[] {
  const forwarded = parseMessage(content).attachments.flatMap(({ files = [] }) => files);
  return filesOf({ files: [...(content.files ?? []), ...forwarded] });
}

function isSharedIn({ channels = [], groups = [], ims = [] }: SlackFile, channel: string): boolean {
  return [...channels, ...groups, ...ims].includes(channel);
}

/** The turn of an earlier thread whose question a form asks again; `own`: it replaces our post with that ts. */
export async function firstTurn(
  { turns, taskStarts }: Pick<Store, 'turns' | 'taskStarts'>,
  { workspace, channel, thread_ts, source_turn_id }: TaskStart,
  own?: SlackTs,
): Promise<Turn | undefined> {
  if (thread_ts === null) return source_turn_id === null ? undefined : turns.get(workspace, source_turn_id);
  return thread_ts === own ? taskStarts.sourceTurnOf({ workspace, channel, thread_ts }) : undefined;
}

/** The turn whose question a form asks again in its own thread, where the agent did not get it; undefined for other forms. */
export async function refusedTurn(
  { turns }: Pick<Store, 'turns'>,
  { workspace, thread_ts, source_turn_id }: TaskStart,
): Promise<Turn | undefined> {
  return thread_ts !== null && source_turn_id !== null ? turns.get(workspace, source_turn_id) : undefined;
}

/** Our post that shows the question that a form asks again in its own thread; undefined where a person wrote that. */
export async function ownPost(store: Store, start: TaskStart): Promise<SlackTs | undefined> {
  const turn = await refusedTurn(store, start);
  const question = turn && (await store.messages.get(messageKeyOf(turn)));
  return question?.content?.choices === undefined ? undefined : (question.said_ts ?? undefined);
}

/** The web address of a message; undefined where it is gone or Slack refuses to tell. Throws a SlackError. */
export async function linkTo(
  { posting }: WorkspaceClient,
  message: { channel: string; ts: string },
): Promise<string | undefined> {
  const isGone = (error: unknown) => error instanceof MessageGoneError || isPermanentRefusal(error);
  return await posting.getPermalink(message).catch(valueIf(undefined, isGone));
}

const payloadSchema = z.object({ ts: z.string() });

/** Asks for the link from the thread of a question to the one in which it was asked again, `ts`. */
export async function wantLinkBack(
  { jobs }: Pick<Store, 'jobs'>,
  { workspace, channel, thread_ts }: Turn,
  { id: key, user_id: person }: TaskStart,
  ts: string,
): Promise<void> {
  await jobs.add({ workspace, kind: JOB_KIND.askedAgain, channel, thread_ts, key, person, payload: { ts } });
}

/** Jobs that post in a thread, once, where its question was asked again. */
export function askedAgainJobs(deps: RelayDeps): JobKind {
  return {
    kind: JOB_KIND.askedAgain,
    perform: async (job, lease) => {
      const workspace = deps.workspace(job.workspace);
      if (workspace === undefined) return 'later';
      try {
        const link = await linkTo(workspace, { ...job, ...payloadSchema.parse(job.payload) });
        if (link === undefined) return 'done';
        // A name is no markup.
        const words = strings.askedAgain(await actorName(deps, job));
        const blocks = [{ ...sectionBlock(words), accessory: linkButton('open_thread', link) }];
        const notice = { key: `again/${job.key}`, text: `${escapeMrkdwn(words)} <${link}>`, blocks };
        return await postJobNotice(deps, job, lease, notice);
      } catch (error) {
        return outcomeIfUnreachable(error, job);
      }
    },
    onGivenUp: 'counted',
  };
}
