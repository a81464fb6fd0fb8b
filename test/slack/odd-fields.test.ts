import fc from 'fast-check';
import { afterAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import {
  actorSchema,
  envelopeSchema,
  pressSchema,
  uninstallEventSchema,
} from '../../src/listeners/envelope.ts';
import { eventSchema } from '../../src/listeners/event-parser.ts';
import { ChannelMembership } from '../../src/slack/channel-membership.ts';
import { SlackDirectory } from '../../src/slack/directory.ts';
import { slackFileSchema } from '../../src/slack/downloadable-files.ts';
import { SlackRefusedError } from '../../src/slack/errors.ts';
import { slackId, slackTs } from '../../src/slack/field-schemas.ts';
import { FileDownloads } from '../../src/slack/file-downloads.ts';
import { FileUploads } from '../../src/slack/file-uploads.ts';
import { MessageHistory } from '../../src/slack/message-history.ts';
import { Posting } from '../../src/slack/posting.ts';
import { SlackClient } from '../../src/slack/slack-client.ts';
import { identifyToken, workspacesOfToken } from '../../src/slack/tokens.ts';
import { silentLog } from '../support/silent-log.ts';
import { startSlackClientScene } from '../support/slack-client-scene.ts';

type Path = readonly (string | number)[];

/** Each field below a schema, with a list's second item for its items. */
function pathsOf(schema: unknown, at: Path = []): Path[] {
  if (schema instanceof z.ZodObject)
    return Object.entries(schema.shape).flatMap(([key, field]) => [
      [...at, key],
      ...pathsOf(field, [...at, key]),
    ]);
  if (schema instanceof z.ZodArray) return [[...at, 1], ...pathsOf(schema.element, [...at, 1])];
  if (schema instanceof z.ZodRecord) return [[...at, 'key'], ...pathsOf(schema.valueType, [...at, 'key'])];
  const inner = innerOf(schema);
  return inner === undefined ? [] : pathsOf(inner, at);
}

/** What a schema that only wraps another one, or chooses among some, stands for. */
function innerOf(schema: unknown): unknown {
  if (schema instanceof z.ZodPipe) return schema.in;
  if (schema instanceof z.ZodUnion) return schema.options[0];
  const wraps =
    schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodCatch;
  return wraps ? schema.unwrap() : undefined;
}

/** A value with all fields, and three items in each list. */
function wholeValueOf(schema: unknown): unknown {
  if (schema === slackTs) return '1700000000.000100';
  if (schema === slackId) return 'X0123';
  if (schema instanceof z.ZodObject)
    return Object.fromEntries(Object.entries(schema.shape).map(([key, field]) => [key, wholeValueOf(field)]));
  if (schema instanceof z.ZodArray) return [1, 2, 3].map(() => wholeValueOf(schema.element));
  if (schema instanceof z.ZodRecord) return { key: wholeValueOf(schema.valueType) };
  if (schema instanceof z.ZodLiteral) return [...schema.values][0];
  if (schema instanceof z.ZodString) return 'text';
  if (schema instanceof z.ZodNumber) return 1;
  if (schema instanceof z.ZodBoolean) return true;
  if (schema instanceof z.ZodUnknown) return {};
  const inner = innerOf(schema);
  if (inner === undefined) throw new Error('a kind of schema that this test does not know');
  return wholeValueOf(inner);
}

const ABSENT = Symbol('absent');
const ODD_VALUES = [ABSENT, null, '', 'other', 0, -1.5, true, false, [], [null], {}, { id: null }];

/** The value with another one at a path. */
function withOddity(value: unknown, [key, ...rest]: Path, odd: unknown): unknown {
  if (key === undefined) return odd;
  if (Array.isArray(value)) return value.map((item, at) => (at === key ? withOddity(item, rest, odd) : item));
  const fields = z.record(z.string(), z.unknown()).safeParse(value).data;
  if (fields === undefined) return value;
  const { [key]: field, ...others } = fields;
  const changed = withOddity(field, rest, odd);
  return changed === ABSENT ? others : { ...others, [key]: changed };
}

const client = await startSlackClientScene();
afterAll(() => client.slack.stop());

/** The schemas by which the answers to calls are read, by method. */
async function schemasOfCalls(): Promise<[string, z.ZodType][]> {
  const schemas = new Map<string, z.ZodType>();
  const call = vi
    .spyOn(SlackClient.prototype, 'call')
    .mockImplementation(async (method, _args, { schema }) => {
      schemas.set(method, schema);
      throw new SlackRefusedError({ method, slackCode: 'refused', outcome: 'none' }, 'Nothing.');
    });
  const caller = client.client;
  const directory = new SlackDirectory(caller, silentLog);
  const token = { token: 'xoxb-1', log: silentLog };
  await Promise.allSettled([
    new MessageHistory(caller).messages({ channel: 'C1' }).next(),
    new MessageHistory(caller).messages({ channel: 'C1', threadTs: '1.000000' }).next(),
    new ChannelMembership(caller).statusOf('C1', 'U1'),
    directory.requirePerson('U1'),
    directory.areInsiders(Array.from({ length: 50 }, (_, at) => `U${at}`)),
    directory.requireChannel('C1'),
    new FileUploads(caller).shareOutcome('F1', { channel: 'C1' }),
    new FileDownloads({ client: caller, maxBytes: 1 }).resolve({ id: 'F1', mode: 'file_access' }),
    new Posting(caller, silentLog).post({ channel: 'C1', message: { text: 'a' }, key: 'k', kind: 'first' }),
    identifyToken(token),
    workspacesOfToken(token),
  ]);
  call.mockRestore();
  return [...schemas];
}

/** What cannot be understood without; everything else may be of any form, or missing. */
const ESSENTIAL: Readonly<Record<string, readonly string[]>> = {
  'conversations.history': ['messages', 'response_metadata.next_cursor'],
  'conversations.replies': ['messages', 'response_metadata.next_cursor'],
  'conversations.members': ['members', 'response_metadata.next_cursor'],
  'users.info': ['user.id'],
  'users.list': ['members', 'response_metadata.next_cursor'],
  'conversations.info': ['channel.id'],
  'files.info': ['file.id'],
  'chat.postMessage': ['ts'],
  'auth.test': ['team_id', 'user_id', 'bot_id'],
  'auth.teams.list': ['teams', 'response_metadata.next_cursor'],
  'a file': ['id'],
  'an envelope': ['type', 'event.type'],
  'a press': ['trigger_id', 'actions'],
  'who acts': ['user.id'],
  app_mention: ['type', 'ts', 'channel'],
  message: ['type', 'channel'],
  app_uninstalled: ['type', 'event.type'],
};

const messageEvents: [string, z.ZodType][] = eventSchema.options
  .filter(({ shape }) => 'text' in shape)
  .map((option) => [z.string().parse([...option.shape.type.values][0]), option]);
const schemas: [string, z.ZodType][] = [
  ...(await schemasOfCalls()),
  ...messageEvents,
  ['a file', slackFileSchema],
  ['an envelope', envelopeSchema],
  ['a press', pressSchema],
  ['who acts', actorSchema],
  ['app_uninstalled', uninstallEventSchema],
];

test('each schema is known, with what it cannot do without', () => {
  expect(schemas.map(([name]) => name).sort()).toEqual(Object.keys(ESSENTIAL).sort());
});

test.each(schemas)('no odd field or item refuses %s that has its essential fields', (name, schema) => {
  const whole = wholeValueOf(schema);
  expect(schema.safeParse(whole).error).toBeUndefined();
  const essential = ESSENTIAL[name] ?? [];
  const isEssential = (path: Path) =>
    !path.includes(1) && essential.some((one) => `${one}.`.startsWith(`${path.join('.')}.`));
  const paths = pathsOf(schema).filter((path) => !isEssential(path));
  const oddity = fc.record({ path: fc.constantFrom(...paths), odd: fc.constantFrom(...ODD_VALUES) });
  fc.assert(
    fc.property(fc.array(oddity, { minLength: 1, maxLength: 4 }), (oddities) => {
      const value = oddities.reduce((before, { path, odd }) => withOddity(before, path, odd), whole);
      expect(schema.safeParse(value).error).toBeUndefined();
    }),
    { numRuns: 500 },
  );
});

test('an odd message leaves its page as it is otherwise, and is counted', async () => {
  const page = (await schemasOfCalls()).find(([name]) => name === 'conversations.replies')?.[1] ?? z.never();
  const message = (n: number) => ({ ts: `${n}.000000`, text: `said ${n}` });
  const odd = [null, 'text', 7, [], {}, { ts: null }, { ts: 'yesterday' }];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...odd, ...[1, 2, 3].map(message))), (messages) => {
      const kept = messages.filter((one) => !odd.includes(one));
      const leftOut = messages.length - kept.length;
      expect(page.parse({ messages })).toMatchObject({ messages: kept, leftOut });
    }),
  );
});
