import { z } from 'zod';
import { actorName } from '../../relay/reading/display-names.ts';
import type { RelayDeps, WorkspaceClient } from '../../relay/runtime/deps.ts';
import type { JobKind } from '../../relay/runtime/job-runner.ts';
import { outcomeIfUnreachable } from '../../relay/runtime/retry-and-giving-up.ts';
import { postJobNotice } from '../../relay/runtime/unknown-outcome.ts';
import { linkButton, sectionBlock } from '../../render/blocks/slack-blocks.ts';
import { escapeMrkdwn } from '../../render/markdown/pings.ts';
import * as strings from '../../render/strings/index.ts';
import { isPermanentRefusal, MessageGoneError } from '../../slack/errors.ts';
import { JOB_KIND } from '../../store/jobs/jobs.ts';
import type { SlackTs, TaskStart, Turn } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { messageKeyOf } from '../../store/threads/turns.ts';

/** The turn of an earlier thread whose question a form asks again; `own`: it replaces our post with that ts. */
export async function firstTurn(
  { turns, taskStarts }: Pick<Store, 'turns' | 'taskStarts'>,
  { workspace, channel, thread_ts, source_turn_id }: TaskStart,
  own?: SlackTs,
): Promise<Turn | undefined> {
  if (thread_ts === null) return source_turn_id === null ? undefined : turns.get(workspace, source_turn_id);
  return thread_ts === own ? taskStarts.firstTurnOf({ workspace, channel, thread_ts }) : undefined;
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
  try {
    return await posting.getPermalink(message);
  } catch (error) {
    if (error instanceof MessageGoneError || isPermanentRefusal(error)) return undefined;
    throw error;
  }
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
    share: 2,
    timeoutMs: 30_000,
    giveUpAfterMs: 24 * 60 * 60_000,
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
        return (await postJobNotice(deps, job, lease, notice)) ? 'done' : 'later';
      } catch (error) {
        return outcomeIfUnreachable(error, job);
      }
    },
    onGivenUp: 'counted',
  };
}
