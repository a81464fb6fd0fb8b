import { oneOf } from '../chaos/random-streams.ts';
import type { Random } from '../slack/ids.ts';
import { compose } from '../slack/rich-text-composer.ts';

/** The ids that sample events use. */
export interface EventIdentities {
  workspace: string;
  /** The bot's user and its bot id. */
  botUser: string;
  botId: string;
}

type EventBody = Record<string, unknown>;

/** Messages whose people and channels Slack has replaced by ids already. */
const NOBODY = { person: () => undefined, channel: () => undefined };
const FILE = {
  id: 'F1',
  name: 'a.csv',
  mimetype: 'text/csv',
  size: 10,
  mode: 'hosted',
  url_private: 'https://x',
};

/** Wraps an event as the Events API does. */
export function wrapEvent(
  { workspace, botUser }: EventIdentities,
  event: EventBody,
  eventId: string,
): EventBody {
  return {
    token: 'z',
    type: 'event_callback',
    team_id: workspace,
    context_team_id: workspace,
    api_app_id: 'A1',
    event_id: eventId,
    event_time: 1_700_000_000,
    authorizations: [{ enterprise_id: null, team_id: workspace, user_id: botUser, is_bot: true }],
    event,
  };
}

/** A random event that must have no effect, in its own channel and with its own ts. */
export function silentEvent(
  identities: EventIdentities,
  channel: string,
  ts: string,
  random: Random,
): EventBody {
  const plain = {
    type: 'message',
    channel,
    channel_type: 'channel',
    user: 'U1',
    ts,
    event_ts: ts,
    text: 'nobody asked',
    client_msg_id: '0e9e0b6f-7c5c-4a34-8d50-3a2f4d8b8a01',
    blocks: compose('*nobody* <@U2> <https://a.example|a> :dna:\n- ', NOBODY, 'b').blocks,
  };
  const mention = `<@${identities.botUser}>`;
  const was = { ...plain, text: 'before' };
  const change = { type: 'message', subtype: 'message_changed', channel, ts };
  return oneOf<EventBody>(random, [
    plain,
    { ...plain, subtype: 'file_share', files: [FILE] },
    { ...plain, thread_ts: '1600000000.000100' },
    { ...plain, text: `${mention} from a bot`, blocks: undefined, bot_id: 'B9', app_id: 'A9' },
    {
      ...plain,
      text: `${mention} from ourselves`,
      blocks: undefined,
      user: identities.botUser,
      bot_id: identities.botId,
    },
    { ...plain, subtype: 'channel_join', text: `${mention} has joined` },
    { ...plain, subtype: 'bot_message', user: undefined, bot_id: 'B9' },
    { ...change, message: plain, previous_message: plain },
    { ...change, message: { ...plain, bot_id: identities.botId }, previous_message: was },
    { ...change, subtype: 'message_deleted', deleted_ts: ts, previous_message: { ...was, bot_id: 'B9' } },
    { type: 'app_mention', channel, user: 'U9', ts: 'yesterday', text: `${mention} hi` },
    {
      type: 'reaction_added',
      user: 'U1',
      reaction: 'eyes',
      item: { type: 'message', channel, ts },
      event_ts: ts,
    },
    {
      type: 'member_joined_channel',
      user: 'U1',
      channel,
      channel_type: 'C',
      team: identities.workspace,
      event_ts: ts,
    },
    { type: 'channel_rename', channel: { id: channel, name: 'new', created: 1 }, event_ts: ts },
    { type: 'channel_deleted', channel: 'C0GONE', actor_id: 'U0GONE', event_ts: ts },
    { type: 'channel_id_changed', old_channel_id: 'C0GONE', new_channel_id: channel, event_ts: ts },
    {
      type: 'function_executed',
      function: { id: 'Fn1', callback_id: 'ask_agent' },
      inputs: {
        channel,
        question: 'of a workflow\u0000',
        label: '<!channel>',
        person: 'U1',
        wait_for_answer: true,
      },
      function_execution_id: `Fx${ts.replace('.', '')}`,
      event_ts: ts,
    },
    { type: 'planet_aligned', channel, event_ts: ts },
  ]);
}

/** Whether no mutation of the event can address the bot. */
export function staysSilent(event: EventBody, { botUser }: EventIdentities): boolean {
  return !JSON.stringify(event).includes(botUser);
}

/** A mention as Slack sends it; a mutation of it may or may not start a turn. */
export function mentionEvent({ botUser }: EventIdentities, channel: string, ts: string): EventBody {
  return {
    type: 'app_mention',
    user: 'UFUZZ',
    ts,
    event_ts: ts,
    channel,
    text: `<@${botUser}> look \u0000 at <https://a.example|this> and <#C2|x>`,
    blocks: compose(`<@${botUser}> look`, NOBODY, 'b').blocks,
    files: [FILE],
  };
}

/** A random block action, view submission, shortcut or command. */
export function interaction({ workspace }: EventIdentities, channel: string, random: Random): EventBody {
  const value = oneOf(random, ['0190a0b0-c0d0-7000-8000-000000000001', 'nonsense', '']);
  const who = { team: { id: workspace, domain: 'd' }, user: { id: 'U1', team_id: workspace } };
  const press = {
    type: 'block_actions',
    ...who,
    api_app_id: 'A1',
    channel: { id: channel },
    container: { type: 'message', message_ts: '1700000000.000100', channel_id: channel },
    message: { ts: '1700000000.000100', text: 'x' },
    trigger_id: 't',
    response_url: 'https://hooks.slack.com/actions/T/1/x',
    actions: [
      {
        action_id: oneOf(random, ['stop', 'continue', 'retry', 'fresh_links', 'correct', 'x', '__proto__']),
        block_id: 'b',
        type: 'button',
        value,
        action_ts: '1700000000.000200',
      },
    ],
  };
  return oneOf<EventBody>(random, [
    press,
    { ...press, actions: [] },
    { type: 'view_submission', ...who, view: { id: 'V1', callback_id: 'x', state: {} } },
    { type: 'shortcut', ...who, callback_id: 'x', trigger_id: 't' },
    {
      command: '/agent',
      text: 'status',
      team_id: workspace,
      user_id: 'U1',
      channel_id: channel,
      trigger_id: 't',
    },
  ]);
}
