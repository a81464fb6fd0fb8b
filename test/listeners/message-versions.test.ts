import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { filesOf, parseMessage } from '../../src/relay/reading/message-parser.ts';
import { readableText } from '../../src/relay/reading/message-to-markdown.ts';
import { openHttpReceiver } from '../support/http-receiver.ts';

const folder = process.env.SLACK_PAYLOADS;
const eventSchema = z.looseObject({
  type: z.enum(['message', 'app_mention']),
  text: z.string(),
  channel: z.string(),
  user: z.string(),
  client_msg_id: z.string().optional(),
  channel_type: z.string().optional(),
});
const payloadSchema = z.looseObject({ team_id: z.string(), event: eventSchema });
type Payload = z.output<typeof payloadSchema>;

const recorded = (folder === undefined ? [] : readdirSync(folder)).flatMap((name) => {
  if (!name.endsWith('.json')) return [];
  const payload = payloadSchema.safeParse(JSON.parse(readFileSync(join(folder ?? '', name), 'utf8')));
  return payload.success ? [{ name, payload: payload.data }] : [];
});
if (recorded.length === 0) console.log('Skipped: recorded messages; set SLACK_PAYLOADS to a folder of them.');

const bots = {
  T00FAKE00AA: { userId: 'U00FAKEBOT01', botId: 'B00FAKEBOT01' },
  T0ADGE2G4EM: { userId: 'U0ADXR1N57A', botId: 'B0ADXR1N57A' },
};
const receiver = await openHttpReceiver(bots);
let count = 0;

const file = (id: string) => ({ id, name: `${id}.csv`, mode: 'hosted', mimetype: 'text/csv', size: 9 });
const cell = { type: 'raw_text', text: 'TP53' };
const table = { blocks: [{ type: 'table', rows: [[cell]] }], fallback: '[no preview available]' };
const preview = { id: 1, from_url: 'https://example.com/', title: 'An example', fallback: 'An example' };

type Version = 'mention' | 'poor' | 'whole' | 'late file' | 'table' | 'preview';
const VERSIONS: readonly Version[] = ['mention', 'poor', 'whole', 'late file', 'table', 'preview'];

/** The events of one message, by what each shows of it. */
function versionsOf({ event }: Payload, isSummarised: boolean): Record<Version, object> {
  count += 1;
  const seconds = Math.floor(Date.now() / 1_000);
  const ts = `${seconds}.${String(count).padStart(6, '0')}`;
  const section = { type: 'section', text: { type: 'mrkdwn', text: event.text } };
  const words = isSummarised ? { text: 'A summary', blocks: [section] } : {};
  const { client_msg_id: _, ...said } = { ...event, ...words, ts, event_ts: ts };
  const { blocks: __, channel_type: ___, ...bare } = said;
  const message = { ...said, type: 'message', files: [file('F1')] };
  const change = (after: object) => {
    const { channel, ...shown } = { ...message, ...after };
    const place = { channel, channel_type: event.channel_type, ts: `${seconds + 1}.000000` };
    return {
      ...place,
      type: 'message',
      subtype: 'message_changed',
      message: shown,
      previous_message: message,
    };
  };
  const edited = { user: event.user, ts: `${seconds + 5}.000000` };
  return {
    mention: event.channel.startsWith('D') ? { ...said, type: 'message' } : { ...bare, type: 'app_mention' },
    poor: { ...said, type: 'message' },
    whole: { ...message, subtype: 'file_share' },
    'late file': change({ files: [file('F1'), file('F2')] }),
    table: change({ attachments: [table], edited }),
    preview: change({ attachments: [preview] }),
  };
}

async function send(payload: Payload, event: object): Promise<void> {
  count += 1;
  const response = await receiver.send(JSON.stringify({ ...payload, event_id: `Ev${count}`, event }));
  expect(response.status).toBe(200);
}

/** What the agent gets of all messages of a channel that wait. */
async function waiting({ team_id: workspace, event: { channel } }: Payload) {
  const bot = workspace === 'T0ADGE2G4EM' ? bots[workspace].userId : bots.T00FAKE00AA.userId;
  const query = receiver.store.db.selectFrom('messages').selectAll().where('channel', '=', channel);
  return (await query.execute()).map(({ content, state }) => ({
    state,
    text: readableText(parseMessage(content), new Map(), bot),
    files: filesOf({ files: content?.files }).map(({ id }) => id),
  }));
}

// Also without payloads: where all tests of a file are skipped, nothing closes what it has opened.
test('some of the recorded payloads are messages', () => {
  expect(recorded.length > 3).toBe(folder !== undefined);
});

test.each(recorded)(
  'whatever a version of $name showed is in what the agent gets, once',
  async ({ payload }) => {
    const orders = fc.tuple(fc.boolean(), fc.shuffledSubarray([...VERSIONS], { minLength: 2 }));
    const run = fc.asyncProperty(orders, async ([isSummarised, some]) => {
      // Slack sends a message itself sooner or later.
      const order = some.some((one) => one === 'poor' || one === 'whole') ? some : [...some, 'poor' as const];
      const versions = versionsOf(payload, isSummarised);
      await receiver.store.db.deleteFrom('messages').execute();
      for (const one of order) await send(payload, versions[one]);
      const [message, ...more] = await waiting(payload);
      expect(more).toEqual([]);
      const words = payload.event.text.replace(/^<@\w+> /, '').split('<')[0] ?? '';
      expect(message?.state).toBe('waiting');
      expect(message?.text.split(words)).toHaveLength(2);
      const shows = (...wanted: Version[]) => order.some((one) => wanted.includes(one));
      expect(message?.text.split('TP53')).toHaveLength(shows('table') ? 2 : 1);
      const files = [
        ...(shows('whole', 'late file', 'table', 'preview') ? ['F1'] : []),
        ...(shows('late file') ? ['F2'] : []),
      ];
      expect(message?.files.toSorted()).toEqual(files);
    });
    await fc.assert(run, { numRuns: 25 });
  },
);
