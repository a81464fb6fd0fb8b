import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { fileNamesOf, parseMessage } from '../../src/relay/reading/message-parser.ts';
import { readableText } from '../../src/relay/reading/message-to-markdown.ts';
import { openHttpReceiver } from '../support/http-receiver.ts';

/** What a recorded payload must lead to. */
type Outcome = { turn: string; files: string[] } | { control: string } | 'ignored';

const expected: Record<string, Outcome> = {
  'app_mention-1.json': { turn: 'Test', files: [] },
  'app_mention-2.json': { turn: 'Hey', files: [] },
  'app_mention-3.json': { turn: 'test', files: [] },
  // Buttons of another app: acknowledged, and nothing comes of them.
  'block_actions-message-1.json': 'ignored',
  'block_actions-message-2.json': 'ignored',
  'member_joined_channel-C-1.json': 'ignored',
  'message-channel-1.json': { turn: 'Can you see the name of this channel: #C00FAKECHAN2?', files: [] },
  'message-im-1.json': { turn: 'hello hello', files: [] },
  'message-im-2.json': { turn: 'cool!!', files: [] },
  'reaction_added-1.json': 'ignored',
  'slash_command-1.json': 'ignored',
};

const folder = process.env.SLACK_PAYLOADS;
const files = folder === undefined ? [] : readdirSync(folder).filter((name) => name.endsWith('.json'));

const payload = z.looseObject({
  type: z.string().optional(),
  command: z.string().optional(),
  event: z.looseObject({ channel: z.string().optional(), ts: z.string().optional() }).optional(),
  team_id: z.string().optional(),
});
const nobody = new Map<string, string>();
const bots = {
  T00FAKE00AA: { userId: 'U00FAKEBOT01', botId: 'B00FAKEBOT01' },
  T0ADGE2G4EM: { userId: 'U0ADXR1N57A', botId: 'B0ADXR1N57A' },
};
const receiver = await openHttpReceiver(bots);

if (files.length === 0) console.log('Skipped: recorded payloads; set SLACK_PAYLOADS to a folder of them.');

// Also without payloads: where all tests of a file are skipped, nothing closes what it has opened.
test('each recorded payload has an outcome', () => {
  expect(files.filter((name) => !(name in expected))).toEqual([]);
});

test.each(files)('%s has the expected outcome', async (name) => {
  const text = readFileSync(join(folder ?? '', name), 'utf8');
  const body = payload.parse(JSON.parse(text));
  const before = { admissions: receiver.admissions.length, controls: receiver.controls.length };
  const response = await send(text, body);
  expect(response.status).toBeLessThan(500);
  expect(await outcome(body, before)).toEqual(expected[name]);
});

function send(text: string, body: z.output<typeof payload>): Promise<Response> {
  if (body.type === 'event_callback') return receiver.send(text);
  const fields = z.record(z.string(), z.unknown()).parse(JSON.parse(text));
  const form =
    body.command === undefined
      ? new URLSearchParams({ payload: text })
      : new URLSearchParams(
          Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, String(value)])),
        );
  return receiver.send(form.toString(), { form: true });
}

async function outcome(
  body: z.output<typeof payload>,
  before: { admissions: number; controls: number },
): Promise<Outcome> {
  const control = receiver.controls[before.controls];
  if (control !== undefined) return { control: control.control };
  const admission = receiver.admissions[before.admissions];
  if (admission?.kind !== 'admitted') return 'ignored';
  const { workspace, channel } = admission.thread;
  const key = { workspace, channel, ts: body.event?.ts ?? '' };
  const row = await receiver.store.messages.get(key);
  const message = parseMessage(row?.content);
  const botUser =
    workspace in bots ? bots[workspace === 'T0ADGE2G4EM' ? workspace : 'T00FAKE00AA'].userId : '';
  return { turn: readableText(message, nobody, botUser), files: fileNamesOf(message) };
}
