import { expect, test } from 'vitest';
import { parseMessage } from '../../../src/relay/reading/message-parser.ts';
import { messageLinksIn } from '../../../src/relay/sending/linked-messages.ts';

const at = 'https://lab.slack.com/archives/C0LAB/p1700000000000100';
const link = { url: at, channel: 'C0LAB', ts: '1700000000.000100', threadTs: undefined };
const inBrowser = 'https://app.slack.com/client/T0LAB/C0LAB/thread/C0LAB-1700000000.000100';
const inThread = '?thread_ts=1600000000.000200&amp;cid=C0LAB';

test.each([
  [`see <${at}>`, [link]],
  [`see <${at}|this>, and again <${at}?foo=1>`, [link]],
  [`see ${at}`, [link]],
  [`<${at}> and <${at}${inThread}> and <${at}>`, [{ ...link, threadTs: '1600000000.000200' }]],
  [`<${inBrowser}>`, [{ ...link, url: inBrowser }]],
  [`<${inBrowser.replace('/thread/C0LAB-1700000000.000100', '')}>`, []],
  [`<${at.replace('slack.com', 'slack-gov.com')}>`, [expect.objectContaining({ ts: link.ts })]],
  [`<${at}${inThread}>`, [{ ...link, threadTs: '1600000000.000200' }]],
  [`<${at}?cid=C0LAB&amp;thread_ts=1700000000.000100>`, [link]],
  [`<${at.replace('C0LAB', 'D0ADA')}>`, [{ ...link, url: at.replace('C0LAB', 'D0ADA'), channel: 'D0ADA' }]],
  [
    `<${at.replace('lab.slack.com', 'acme.enterprise.slack.com')}>`,
    [expect.objectContaining({ ts: link.ts })],
  ],
  [`\`${at}\` and \`\`\`${at}\`\`\``, []],
  [`&gt; <${at}>\nwhat is this?`, []],
  [`<${at.replace('slack.com', 'slack.example')}>`, []],
  [`<https://lab.slack.com.example/archives/C0LAB/p1700000000000100>`, []],
  [`<${at.replace('https', 'http')}>`, []],
  ['<https://lab.slack.com/archives/C0LAB>', []],
  ['', []],
])('the messages that %j links to are found', (text, found) => {
  expect(messageLinksIn(parseMessage({ text }))).toEqual(found);
});

test('links in forwarded messages and in quotations do not count', () => {
  const forwarded = { is_share: true, author_name: 'Ada', text: `see <${at}>` };
  expect(messageLinksIn(parseMessage({ text: 'what is this?', attachments: [forwarded] }))).toEqual([]);
  const quote = { type: 'rich_text_quote', elements: [{ type: 'link', url: at }] };
  const section = { type: 'rich_text_section', elements: [{ type: 'link', url: at }] };
  const blocks = (...elements: object[]) => ({ text: '', blocks: [{ type: 'rich_text', elements }] });
  expect(messageLinksIn(parseMessage(blocks(quote)))).toEqual([]);
  expect(messageLinksIn(parseMessage(blocks(quote, section)))).toEqual([link]);
});
