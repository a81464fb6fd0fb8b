import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ClosedBy,
  closedBy,
  closingAt,
  type PlaceKind,
} from '../../../src/relay/access/access-policy.ts';
import type { AnswerLimits, RelayDeps } from '../../../src/relay/runtime/deps.ts';
import { SlackUnavailableError } from '../../../src/slack/errors.ts';
import {
  DEFAULT_SETTINGS,
  type Settings,
  WHOLE_WORKSPACE,
} from '../../../src/store/workspaces/settings-store.ts';
import { EVERYWHERE } from '../../support/answer-limits.ts';

const ids = ['C1', 'C2'];
const onOff = fc.constantFrom(null, 'on' as const, 'off' as const);
const chosen = fc
  .record({
    answers_in: fc.constantFrom(null, 'invited' as const, 'listed' as const, 'channels' as const),
    answers_in_channels: fc.option(fc.subarray(ids)),
    answers_here: onOff,
    direct_messages: onOff,
    group_messages: onOff,
  })
  .map((set): Settings => ({ ...DEFAULT_SETTINGS, ...set }));
const limits = fc.record<AnswerLimits>({
  channels: fc.option(fc.subarray(ids), { nil: undefined }),
  directMessages: fc.boolean(),
  groupMessages: fc.boolean(),
});
const kinds = fc.constantFrom<PlaceKind>('direct', 'group', 'channel');

describe('where the bot answers', () => {
  test.each<[string, PlaceKind, Partial<Settings>, Partial<AnswerLimits>, ClosedBy | undefined]>([
    ['everywhere by default', 'channel', {}, {}, undefined],
    ['in direct messages by default', 'direct', {}, {}, undefined],
    ['in group messages by default', 'group', {}, {}, undefined],
    ["in the operator's channels", 'channel', {}, { channels: ['C1'] }, undefined],
    ["not beside the operator's channels", 'channel', {}, { channels: ['C2'] }, 'closed_by_operator'],
    ['in direct messages beside these', 'direct', {}, { channels: [] }, undefined],
    ['not in direct messages', 'direct', {}, { directMessages: false }, 'closed_by_operator'],
    ['not in group messages', 'group', {}, { groupMessages: false }, 'closed_by_operator'],
    [
      "in the admins' channels",
      'channel',
      { answers_in: 'listed', answers_in_channels: ['C1'] },
      {},
      undefined,
    ],
    [
      'nowhere while admins have listed no channel',
      'channel',
      { answers_in: 'listed' },
      {},
      'closed_by_admins',
    ],
    ['in all channels if the list does not count', 'channel', { answers_in_channels: ['C2'] }, {}, undefined],
    ['in group messages beside the list', 'group', { answers_in: 'listed' }, {}, undefined],
    [
      'not in direct messages that admins turned off',
      'direct',
      { direct_messages: 'off' },
      {},
      'closed_by_admins',
    ],
    [
      'not in group messages that admins turned off',
      'group',
      { group_messages: 'off' },
      {},
      'closed_by_admins',
    ],
    ['in no channel that has not chosen', 'channel', { answers_in: 'channels' }, {}, 'closed_by_channel'],
    ['in a channel that has', 'channel', { answers_in: 'channels', answers_here: 'on' }, {}, undefined],
    ['not in one that wants no answers', 'channel', { answers_here: 'off' }, {}, 'closed_by_channel'],
  ])('is %s', (_, kind, set, operator, expected) => {
    expect(closedBy(kind, 'C1', { ...DEFAULT_SETTINGS, ...set }, { ...EVERYWHERE, ...operator })).toBe(
      expected,
    );
  });

  test("is never outside of the operator's limits, whatever admins and channels choose", () => {
    fc.assert(
      fc.property(kinds, chosen, limits, (kind, set, operator) => {
        const alone = closedBy(kind, 'C1', DEFAULT_SETTINGS, operator);
        const by = closedBy(kind, 'C1', set, operator);
        expect(by).toBe(alone ?? closedBy(kind, 'C1', set, EVERYWHERE));
      }),
    );
  });

  test('is widened by a channel only if its admins leave the choice to channels', () => {
    fc.assert(
      fc.property(kinds, chosen, limits, (kind, set, operator) => {
        const by = (answers_here: Settings['answers_here']) =>
          closedBy(kind, 'C1', { ...set, answers_here }, operator);
        const mayOpen = kind === 'channel' && set.answers_in === 'channels';
        expect(by('off')).toBeDefined();
        expect(mayOpen || by('on') === by(null)).toBe(true);
      }),
    );
  });
});

describe('what Slack says of a conversation', () => {
  /** Slack says that it is of this kind; `asked` counts how often it was asked. */
  function house(set: Partial<Settings>, requireChannel: () => Promise<{ kind: string }>) {
    const asked: string[] = [];
    const people = {
      requireChannel: (id: string) => {
        asked.push(id);
        return requireChannel();
      },
    };
    const deps = {
      store: { settings: { inForce: async () => ({ ...DEFAULT_SETTINGS, ...set }) } },
      settings: { answers: EVERYWHERE, lookupMs: 1_500 },
      workspace: () => ({ people }),
    } as unknown as RelayDeps;
    return {
      asked,
      closing: (channel = 'C1', said: { isGroup?: boolean } = {}) =>
        closingAt(deps, { workspace: 'T1', channel, ...said }),
    };
  }

  test('is asked only if group messages are decided otherwise than channels', async () => {
    const free = house({}, () => Promise.reject(new Error('not asked')));
    expect(await free.closing()).toBeUndefined();
    const listed = house({ answers_in: 'listed', direct_messages: 'off' }, async () => ({
      kind: 'group_dm',
    }));
    expect(await listed.closing()).toBeUndefined();
    expect(await listed.closing('D1')).toBe('closed_by_admins');
    // An event has just said so.
    expect(await listed.closing('C1', { isGroup: true })).toBeUndefined();
    expect(await listed.closing('C1', { isGroup: false })).toBe('closed_by_admins');
    expect(await listed.closing(WHOLE_WORKSPACE)).toBeUndefined();
    expect(listed.asked).toEqual(['C1']);
  });

  test('closes what it does not know, and an outage decides nothing', async () => {
    const unknown = house({ group_messages: 'off' }, async () => ({ kind: 'unknown' }));
    expect(await unknown.closing()).toBe('closed_by_admins');
    const lost = { method: 'conversations.info', slackCode: 'fetch_failed', outcome: 'none' } as const;
    const away = house({ group_messages: 'off' }, () =>
      Promise.reject(new SlackUnavailableError(lost, 'Slack is away.')),
    );
    await expect(away.closing()).rejects.toThrow(SlackUnavailableError);
  });
});
