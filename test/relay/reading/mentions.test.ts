import { describe, expect, it, test } from 'vitest';
import { lookUpNames } from '../../../src/relay/reading/display-names.ts';
import { readMentions } from '../../../src/relay/reading/mentions.ts';
import { parseMessage } from '../../../src/relay/reading/message-parser.ts';
import type { Channel } from '../../../src/slack/directory.ts';
import { bot, list, richText, section, styled, user } from '../../support/message-builders.ts';

const seen = (raw: object) => readMentions(parseMessage(raw), bot);

describe('the mentions of a message', () => {
  it('include the bot when the text mentions it, with or without a label', () => {
    expect(seen({ text: `<@${bot}> hi` }).mentionsBot).toBe(true);
    expect(seen({ text: `hi <@${bot}|taskthread>!` }).mentionsBot).toBe(true);
    expect(seen({ text: 'hi <@U0ADA>' }).mentionsBot).toBe(false);
  });

  it('include the bot when a list or a quotation in the blocks mentions it', () => {
    const inList = {
      type: 'rich_text_list',
      style: 'bullet',
      elements: [section('ask ', user(bot))],
      border: 1,
    };
    expect(seen(richText(inList)).mentionsBot).toBe(true);
    expect(seen(richText({ type: 'rich_text_quote', elements: [user(bot)] })).mentionsBot).toBe(true);
  });

  it('do not include the bot when its mention is code', () => {
    expect(seen({ text: `type \`<@${bot}>\`` }).mentionsBot).toBe(false);
    expect(seen({ text: `\`\`\`<@${bot}> hi\`\`\`` }).mentionsBot).toBe(false);
    expect(seen({ text: `&lt;@${bot}&gt;` }).mentionsBot).toBe(false);
    const code = { type: 'rich_text_preformatted', elements: [user(bot)] };
    expect(seen(richText(code, section(styled(`<@${bot}>`, 'code')))).mentionsBot).toBe(false);
  });

  it('do not include the bot when a forwarded message mentions it', () => {
    expect(seen({ text: 'look', attachments: [{ is_share: true, text: `<@${bot}> hi` }] }).mentionsBot).toBe(
      false,
    );
  });

  it('start with somebody else unless the bot is mentioned, too', () => {
    expect(seen({ text: '<@U0ADA> can you look?' }).startsWithOtherPerson).toBe(true);
    expect(seen({ text: '<!subteam^S0GENES> can you look?' }).startsWithOtherPerson).toBe(true);
    expect(seen({ text: `<@U0ADA> <@${bot}> can you look?` }).startsWithOtherPerson).toBe(false);
    expect(seen({ text: 'what did <@U0ADA> say?' }).startsWithOtherPerson).toBe(false);
    expect(seen({ text: '' }).startsWithOtherPerson).toBe(false);
  });

  it('are all there is when only punctuation is left', () => {
    expect(seen({ text: `<@${bot}>` }).isEmptyAfterMention).toBe(true);
    expect(seen(richText(section(user(bot), ' , ', user(bot), '!'))).isEmptyAfterMention).toBe(true);
    expect(seen({ text: `<@${bot}> go` }).isEmptyAfterMention).toBe(false);
    expect(seen(richText(section(user(bot)), list('bullet', ['a']))).isEmptyAfterMention).toBe(false);
    expect(seen({ text: `<@${bot}> <@U0ADA>` }).isEmptyAfterMention).toBe(false);
  });

  it('are not all there is when a message is forwarded to the bot', () => {
    const forwarded = { text: `<@${bot}>`, attachments: [{ is_share: true, text: 'the result' }] };
    expect(seen(forwarded).isEmptyAfterMention).toBe(false);
  });
});

test('names are looked up of people, usergroups and channels, but not of other private channels, each once', async () => {
  const one = parseMessage({ user: 'U0GRACE', text: '<@U0ADA> <@U0ADA> <#C0LAB>' });
  const other = parseMessage(richText(section(user(bot), { type: 'usergroup', usergroup_id: 'S0GENES' })));
  const asked: string[] = [];
  const nameOf = async (kind: string, id: string) => {
    asked.push(`${kind} ${id}`);
    return `the ${id}`;
  };
  const people = {
    personName: (id: string) => nameOf('person', id),
    channel: async (id: string): Promise<Channel> => {
      const kind = id.startsWith('C0OPEN') ? 'public' : 'private';
      return { id, name: id === 'C0LAB' ? undefined : `the ${id}`, purpose: '', kind, isExtShared: false };
    },
    groupName: (id: string) => nameOf('group', id),
  };
  const found = await lookUpNames({ people, channel: 'C0HERE' }, one, other);
  expect(asked.sort()).toEqual(['group S0GENES', 'person U0ADA', 'person U0GRACE', `person ${bot}`]);
  expect([...found.keys()].sort()).toEqual(['S0GENES', 'U0ADA', 'U0GRACE', bot]);
  const channels = parseMessage({ text: '<#C0OPEN> <#C0HERE> <#C0SECRET>' });
  const told = await lookUpNames({ people, channel: 'C0HERE' }, channels);
  expect([...told.keys()]).toEqual(['C0OPEN', 'C0HERE']);
});
