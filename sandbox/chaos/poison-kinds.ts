import { setTimeout as sleep } from 'node:timers/promises';
import { textOf } from '../agent/records.ts';
import type { Fault } from '../faults.ts';
import type { Message } from '../slack/slack-workspace.ts';
import { type BadPlace, DONE, type PoisonScene } from './poison-scene.ts';

/** One thing that stays bad, and what must become of it. */
export interface PoisonKind extends BadPlace {
  /** Makes the thing bad before the bot starts again, while Slack's events are lost. */
  beforeRestart?: (scene: PoisonScene) => Promise<void> | void;
  /** Makes the thing bad, for good, and returns what its person says to it. */
  begin: (scene: PoisonScene) => Promise<Message[]> | Message[];
  /** Whether it has ended or was passed over; by default, once each message has a finished reply. */
  isOver?: (scene: PoisonScene, messages: readonly Message[]) => Promise<boolean> | boolean;
  /** What its people read in the end; by default the agent's answer. */
  told?: RegExp;
  /** The metrics that count it; by default those of completed turns. */
  counted?: RegExp;
}

const MEBIBYTE = 1_024 * 1_024;
const HOUR_MS = 3_600_000;
const HEAVY_REPLIES = 4;
const PAUSED_STEPS = 5;
/** How long the database does not take a new token (ms). */
const OUTAGE_MS = 30_000;
const INTERNAL_ERROR: Fault = { kind: 'status', status: 200, body: { ok: false, error: 'internal_error' } };
const BUSY = /agent service is very busy/;
/** Characters of tables whose cells are open links: the parser took 1.9 s for them at once. */
const FREEZING_LENGTH = 117_178;
const FREEZING_TABLE = '| a | b |\n|-|-|\n| ![a]( | ![a]( |\n\n';

/** The kinds, in the order in which a run plays them: those that take ten minutes to end come first. */
export const POISON_KINDS = {
  unreadableReply: {
    answer: async (turn) => {
      turn.write('This begins, ');
      await turn.sleep(4_000);
      turn.write('and is read by nobody.');
    },
    begin: ({ agent, ask }) => {
      const message = 'GET /experimental/tasks/{task_id}/messages/{message_id}';
      const fault = { kind: 'status', status: 404, body: { detail: 'Message not found' } } as const;
      const stopListening = agent.onStatus((change) => {
        if (change.kind !== 'message' || change.message.role !== 'assistant') return;
        const task = agent.tasks.find(({ messages }) => messages.includes(change.message));
        if (!task?.messages.some(({ content }) => textOf(content).includes('bad reply'))) return;
        stopListening();
        agent.faults.add({ call: message, about: change.message.id, fault });
      });
      return [ask('bad reply')];
    },
    told: /try again|not available|deleted/i,
    counted: /^taskthread_service_calls_total\{.*status="404"/,
  },
  refusedEdit: {
    begin: ({ slack, channel, ask }) => {
      slack.faults.add({ call: 'chat.update', about: channel.id, fault: INTERNAL_ERROR });
      return [ask('bad edits')];
    },
    counted: /^taskthread_slack_calls_total\{method="chat.update",outcome="unavailable"/,
  },
  refusedEvent: {
    begin: async ({ database, channel, ask }) => {
      // Now and then, the database refuses other events once: they are kept, too.
      await database.query(`
        create sequence refused_events;
        create function refuse_event() returns trigger language plpgsql as $$
        begin
          if new.channel = '${channel.id}' or nextval('refused_events') % 10 = 0 then
            raise 'canceling statement due to statement timeout' using errcode = 'query_canceled';
          end if;
          return new;
        end $$;
        create trigger refuse_event before insert on messages for each row execute function refuse_event()`);
      return [ask('bad event')];
    },
    isOver: async (scene, events) => {
      // The event is given up, and its thread is to be read back. That may be so before, after a gap: then nobody is told yet.
      const sql = `select from jobs where kind = 'backfill' and channel = $1 and thread_ts = $2`;
      const { rowCount } = await scene.database.query(sql, [scene.channel.id, events[0]?.ts]);
      return rowCount === 1 && scene.read(events) !== '';
    },
    told: /\S/,
    counted: /^taskthread_events_total\{kind="message",outcome="failed"/,
  },
  oddMessage: {
    begin: ({ slack, person, channel, ask }) => {
      const root = slack.say({ person, channel, text: 'lunch?' });
      const odd = { text: null, user: null };
      slack.say({ person, channel, text: 'an old integration', thread: root.ts, odd });
      return [ask('what about this bad thread?', root)];
    },
  },
  heavyReplies: {
    ownService: true,
    answer: async (turn) => {
      await turn.tool('read_everything', {}, () => 'x'.repeat(5 * MEBIBYTE));
      await turn.sleep(3_000);
      turn.write(DONE);
    },
    begin: ({ ask }) => Array.from({ length: HEAVY_REPLIES }, (_, at) => ask(`bad weight ${at}`)),
    told: new RegExp(`(${DONE}[^]*){${HEAVY_REPLIES}}`),
  },
  freezingAnswer: {
    ownService: true,
    answer: async (turn) => {
      turn.write(`${DONE}\n\n${FREEZING_TABLE.repeat(FREEZING_LENGTH / FREEZING_TABLE.length)}`);
      await turn.sleep(3_000);
      turn.write('The end.');
    },
    begin: ({ ask }) => [ask('bad answer')],
  },
  unreadablePlace: {
    beforeRestart: ({ slack, channel, ask }) => {
      slack.faults.add({
        call: /^conversations\.(history|replies)$/,
        about: channel.id,
        fault: INTERNAL_ERROR,
      });
      ask('what nobody can read');
    },
    begin: ({ ask }) => [ask('bad place')],
    counted: /^taskthread_slack_calls_total\{method="conversations\.(history|replies)",outcome="unavailable"/,
  },
  pausingService: {
    ownService: true,
    workflows: true,
    answer: async (turn) => {
      await turn.sleep(5_000);
      turn.write(DONE);
    },
    begin: async ({ own, ask, workflows }) => {
      for (let step = 0; step < PAUSED_STEPS; step += 1) workflows.runOne();
      const atWork = () => own.tasks.filter(({ messages }) => messages.length > 1).length;
      for (let wait = 0; wait < 150 && atWork() < PAUSED_STEPS; wait += 1) await sleep(200);
      const headers = { 'retry-after': '3600' };
      own.faults.add({ call: /./, fault: { kind: 'status', status: 429, headers } });
      return [ask('bad pause')];
    },
    isOver: ({ read }, messages) => BUSY.test(read(messages)),
    told: BUSY,
    counted: /^taskthread_service_calls_total\{.*status="429".*account="own"/,
  },
  lostToken: {
    rotation: 12 * HOUR_MS,
    beforeRestart: async ({ database, team }) => {
      await database.query(`
        update installations set token_expires_at = now() + interval '1 hour' where workspace = '${team.id}';
        create function lose_token() returns trigger language plpgsql as $$
        begin
          if new.workspace = '${team.id}' and new.encrypted_tokens <> old.encrypted_tokens
            and clock_timestamp() < '${new Date(Date.now() + OUTAGE_MS).toISOString()}' then
            raise 'the database system is shutting down' using errcode = 'cannot_connect_now';
          end if;
          return new;
        end $$;
        create trigger lose_token before update on installations for each row execute function lose_token()`);
    },
    begin: ({ ask }) => [ask('bad token')],
    isOver: async ({ database, team }) => {
      const sql = `select from installations where workspace = $1 and token_expires_at > now() + interval '2 hours'`;
      return (await database.query(sql, [team.id])).rowCount === 1;
    },
    counted: /^taskthread_slack_calls_total\{method="oauth.v2.access",outcome="ok"/,
  },
} satisfies Record<string, PoisonKind>;

export type PoisonKindName = keyof typeof POISON_KINDS;
