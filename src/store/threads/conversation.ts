import { sql } from 'kysely';
import { inThread, sameThread } from '../queries.ts';
import type { ListenMode, SlackTs, ThreadKey } from '../schema.ts';

/** What decides whether a reply is for the agent. */
export interface ThreadListening {
  /** People had talked in the thread before the agent was mentioned in it. */
  isBetweenPeople: boolean;
  listensToAll: boolean;
  /** The channel's setting, else the workspace's. */
  listenMode: ListenMode | 'everything' | null;
  /** The writer has turned to the agent in the thread, and nobody else has written since its last message. */
  isInConversation: boolean;
}

/** What decides whether a person's reply is for the agent: nobody else has written since its last message. No row if it is not ours. */
export function listeningQuery(key: ThreadKey, person: string, ts: SlackTs) {
  const replies = sql`${sameThread('messages', 'thread')} and messages.thread_ts <> messages.ts`;
  return sql<ThreadListening>`
    select thread.is_between_people as "isBetweenPeople", thread.listens_to_all as "listensToAll",
      coalesce(of_channel.listen_mode, of_all.listen_mode) as "listenMode",
      own.ts is not null and not exists (
        select from messages where ${replies} and messages.user_id <> ${person} and messages.state <> 'withdrawn'
          and messages.ts < ${ts} and messages.ts > greatest(own.ts, bot.ts)) as "isInConversation"
    from (
      select *, adopted_ts <> thread_ts and not exists (
        select from messages where (messages.workspace, messages.channel, messages.ts)
          = (threads.workspace, threads.channel, threads.thread_ts)) as is_between_people
      from threads where ${inThread(key)} and not is_dormant and adopted_ts <= ${ts}) as thread
    left join settings as of_all on (of_all.workspace, of_all.channel) = (thread.workspace, '')
    left join settings as of_channel
      on (of_channel.workspace, of_channel.channel) = (thread.workspace, thread.channel)
    left join lateral (
      select max(messages.ts) as ts from messages where ${replies} and messages.user_id = ${person}
        and messages.state not in ('unsent', 'withdrawn', 'refused') and messages.ts < ${ts}) as own
      on thread.is_between_people
    left join lateral (
      select max(posts.ts) as ts from turns join posts on (posts.workspace, posts.turn_id) = (turns.workspace, turns.id)
      where ${sameThread('turns', 'thread')} and posts.ts < ${ts}) as bot on own.ts is not null`;
}
