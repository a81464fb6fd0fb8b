import type { AgentScript } from '../agent/agent-script.ts';
import { textOf } from '../agent/records.ts';
import type { Message } from '../slack/slack-workspace.ts';
import type { PoisonScene } from './poison-scene.ts';

/** One thing that stays bad, and what must become of it. */
export interface PoisonKind {
  /** Whether it is in the workspace with a service of its own. */
  ownService?: boolean;
  /** The agent's answer to the bad message; a short one by default. */
  answer?: AgentScript;
  /** Makes the thing bad, for good, and returns what its person says to it. */
  begin: (scene: PoisonScene) => Promise<Message[]> | Message[];
  /** Whether it has ended or was passed over; by default, once each message has a finished reply. */
  isOver?: (scene: PoisonScene, messages: readonly Message[]) => Promise<boolean> | boolean;
  /** What its people read in the end. */
  told: RegExp;
  /** The metrics that count it. */
  counted: RegExp;
}

const MEBIBYTE = 1_024 * 1_024;
const HEAVY_REPLIES = 4;
/** Characters of tables whose cells are open links: the parser took 1.9 s for them at once. */
const FREEZING_LENGTH = 117_178;
const FREEZING_TABLE = '| a | b |\n|-|-|\n| ![a]( | ![a]( |\n\n';
/** In every answer to what is bad. */
export const DONE = 'That was all of it.';

/** The kinds, in the order in which a run plays them. */
export const POISON_KINDS = {
  oddMessage: {
    begin: ({ slack, person, channel, ask }) => {
      const root = slack.say({ person, channel, text: 'lunch?' });
      const odd = { text: null, user: null };
      slack.say({ person, channel, text: 'an old integration', thread: root.ts, odd });
      return [ask('what about this bad thread?', root)];
    },
    told: new RegExp(DONE),
    counted: /^taskthread_turns_ended_total\{outcome="completed"/,
  },
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
      const fault = { kind: 'status', status: 200, body: { ok: false, error: 'internal_error' } } as const;
      slack.faults.add({ call: 'chat.update', about: channel.id, fault });
      return [ask('bad edits')];
    },
    told: new RegExp(DONE),
    counted: /^taskthread_slack_calls_total\{method="chat.update",outcome="unavailable"/,
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
    counted: /^taskthread_turns_ended_total\{outcome="completed"/,
  },
  freezingAnswer: {
    ownService: true,
    answer: async (turn) => {
      turn.write(`${DONE}\n\n${FREEZING_TABLE.repeat(FREEZING_LENGTH / FREEZING_TABLE.length)}`);
      await turn.sleep(3_000);
      turn.write('The end.');
    },
    begin: ({ ask }) => [ask('bad answer')],
    told: new RegExp(DONE),
    counted: /^taskthread_turns_ended_total\{outcome="completed"/,
  },
} satisfies Record<string, PoisonKind>;

export type PoisonKindName = keyof typeof POISON_KINDS;
