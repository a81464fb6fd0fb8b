import { expect, test } from 'vitest';
import { isReplyForBot } from '../../../src/relay/reading/listening.ts';

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
