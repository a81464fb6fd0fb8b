import { expect, test } from 'vitest';
import { addresseeOf, isReplyForBot } from '../../../src/relay/reading/addressing.ts';
import { parseMessage } from '../../../src/relay/reading/message-parser.ts';

const message = { channel: 'C1', thread_ts: '1.000000', ts: '1.000000', person: 'U1' };
const reply = { ...message, ts: '2.000000' };
const direct = { ...message, channel: 'D1' };
const fromBot = { ...message, person: 'B1' };

test.each([
  ['a mention of the bot', message, '<@UBOT> hi', 'bot'],
  ['a mention of the bot after somebody else', reply, '<@U2> and <@UBOT>, look', 'bot'],
  ['what Slack calls a mention', { ...reply, isMention: true }, '<@WOTHER> hi', 'bot'],
  ['a direct message', direct, 'hi', 'bot'],
  ['a direct message that starts with somebody else', direct, '<@U2> is late', 'bot'],
  ['a message in a channel', message, 'hi', 'channel'],
  ['a reply', reply, 'hi', 'thread'],
  ['a reply that names somebody else later', reply, 'ask <@U2>', 'thread'],
  ['a reply that starts with somebody else', reply, '<@U2> can you look?', 'others'],
  ['a message that starts with a usergroup', message, '<!subteam^S1> look', 'others'],
  ["another bot's mention of the bot", fromBot, '<@UBOT> hi', 'bot'],
  ["another bot's message", fromBot, 'hi', 'others'],
  ["another bot's direct message", { ...direct, person: 'B1' }, 'hi', 'others'],
])('%s is for the right people', (_what, place, text, addressee) => {
  expect(addresseeOf(place, parseMessage({ text }), 'UBOT')).toBe(addressee);
});

const among = { isBetweenPeople: true, listensToAll: false, listenMode: null, isInConversation: false };

test.each([
  ['in a thread that began with the bot', { ...among, isBetweenPeople: false }, 'mentions', true],
  ['among people', among, 'conversation', false],
  ['in a conversation with the bot', { ...among, isInConversation: true }, 'conversation', true],
  [
    'in a conversation, where only mentions are read',
    { ...among, isInConversation: true },
    'mentions',
    false,
  ],
  ['among people, where every reply is read', among, 'replies', true],
  ['where the channel says otherwise', { ...among, listenMode: 'mentions' }, 'replies', false],
  ['where everything in the channel is read', { ...among, listenMode: 'everything' }, 'mentions', true],
  ['in a thread in which every reply is read', { ...among, listensToAll: true }, 'mentions', true],
] as const)('a reply %s is for the bot or not', (_what, listening, usual, isForBot) => {
  expect(isReplyForBot(listening, 'thread', usual)).toBe(isForBot);
  expect(isReplyForBot(listening, 'others', usual)).toBe(false);
});
