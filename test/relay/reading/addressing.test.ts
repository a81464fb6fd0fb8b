import { describe, expect, test } from 'vitest';
import { lookUpNames } from '../../../src/relay/reading/display-names.ts';
import { addresseeOf, isEmptyAfterMention, mentionedIds } from '../../../src/relay/reading/listening.ts';
import { authoredBlocksOf, parseMessage } from '../../../src/relay/reading/message-parser.ts';
import { readableText } from '../../../src/relay/reading/message-to-markdown.ts';
import type { Channel } from '../../../src/slack/directory.ts';
import { bot, list, richText, section, styled, user } from '../../support/message-builders.ts';

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

const mentionsBot = (raw: object) => mentionedIds(parseMessage(raw)).includes(bot);
const isEmpty = (raw: object) => isEmptyAfterMention(parseMessage(raw), bot);
const isForOthers = (raw: object) => addresseeOf(reply, parseMessage(raw), bot) === 'others';

describe('the mentions of a message', () => {
  test('include the bot when the text mentions it, with or without a label', () => {
    expect(mentionsBot({ text: `<@${bot}> hi` })).toBe(true);
    expect(mentionsBot({ text: `hi <@${bot}|taskthread>!` })).toBe(true);
    expect(mentionsBot({ text: 'hi <@U0ADA>' })).toBe(false);
  });

  test('include the bot when a list or a quotation in the blocks mentions it', () => {
    const inList = {
      type: 'rich_text_list',
      style: 'bullet',
      elements: [section('ask ', user(bot))],
      border: 1,
    };
    expect(mentionsBot(richText(inList))).toBe(true);
    expect(mentionsBot(richText({ type: 'rich_text_quote', elements: [user(bot)] }))).toBe(true);
  });

  test('do not include the bot when its mention is code', () => {
    expect(mentionsBot({ text: `type \`<@${bot}>\`` })).toBe(false);
    expect(mentionsBot({ text: `\`\`\`<@${bot}> hi\`\`\`` })).toBe(false);
    expect(mentionsBot({ text: `&lt;@${bot}&gt;` })).toBe(false);
    const code = { type: 'rich_text_preformatted', elements: [user(bot)] };
    expect(mentionsBot(richText(code, section(styled(`<@${bot}>`, 'code'))))).toBe(false);
  });

  test('do not include the bot when a forwarded message mentions it', () => {
    expect(mentionsBot({ text: 'look', attachments: [{ is_share: true, text: `<@${bot}> hi` }] })).toBe(
      false,
    );
  });

  test('start with somebody else unless the bot is mentioned, too', () => {
    expect(isForOthers({ text: '<@U0ADA> can you look?' })).toBe(true);
    expect(isForOthers({ text: '<!subteam^S0GENES> can you look?' })).toBe(true);
    expect(isForOthers({ text: `<@U0ADA> <@${bot}> can you look?` })).toBe(false);
    expect(isForOthers({ text: 'what did <@U0ADA> say?' })).toBe(false);
    expect(isForOthers({ text: '' })).toBe(false);
  });

  test('are all there is when only punctuation is left', () => {
    expect(isEmpty({ text: `<@${bot}>` })).toBe(true);
    expect(isEmpty(richText(section(user(bot), ' , ', user(bot), '!')))).toBe(true);
    expect(isEmpty({ text: `<@${bot}> go` })).toBe(false);
    expect(isEmpty(richText(section(user(bot)), list('bullet', ['a'])))).toBe(false);
    expect(isEmpty({ text: `<@${bot}> <@U0ADA>` })).toBe(false);
  });

  test('are not all there is when a message is forwarded to the bot', () => {
    const forwarded = { text: `<@${bot}>`, attachments: [{ is_share: true, text: 'the result' }] };
    expect(isEmpty(forwarded)).toBe(false);
  });
});

test('names are looked up of people and channels, but not of other private channels, each once', async () => {
  const one = parseMessage({ user: 'U0GRACE', text: '<@U0ADA> <@U0ADA> <#C0LAB>' });
  const other = parseMessage(richText(section(user(bot), { type: 'usergroup', usergroup_id: 'S0GENES' })));
  const asked: string[] = [];
  const people = {
    personName: async (id: string) => {
      asked.push(id);
      return `the ${id}`;
    },
    channel: async (id: string): Promise<Channel> => {
      const closed = id === 'C0THERE' ? 'elsewhere' : 'private';
      const kind = id.startsWith('C0OPEN') ? 'public' : closed;
      return { id, name: id === 'C0LAB' ? undefined : `the ${id}`, purpose: '', kind, isExtShared: false };
    },
  };
  const found = await lookUpNames({ people, channel: 'C0HERE' }, one, other);
  expect(asked.sort()).toEqual(['U0ADA', 'U0GRACE', bot]);
  expect([...found.keys()].sort()).toEqual(['C0LAB', 'U0ADA', 'U0GRACE', bot]);
  expect(found.get('C0LAB')).toBe('C0LAB');
  const channels = parseMessage({ text: '<#C0OPEN> <#C0HERE> <#C0SECRET|the plan> <#C0THERE|theirs>' });
  const told = await lookUpNames({ people, channel: 'C0HERE' }, channels);
  expect(readableText(channels, told, bot)).toBe('#the C0OPEN #the C0HERE #C0SECRET #C0THERE');
});

test('a message is parsed once, however often it is read', () => {
  const raw = richText(section(user(bot), { type: 'text', text: ' what is it?' }));
  const message = parseMessage(raw);
  expect(parseMessage(raw)).toBe(message);
  expect(authoredBlocksOf(parseMessage(raw))).toBe(authoredBlocksOf(message));
  expect(parseMessage({ ...raw })).not.toBe(message);
});
