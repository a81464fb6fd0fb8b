import { describe, expect, test } from 'vitest';
import { type Refusal, refusalAuditDetails, refusalTold } from '../../../src/relay/access/refusals.ts';
import * as strings from '../../../src/render/strings/index.ts';

const quota = (limit: 'hourPerson' | 'hourWorkspace' | 'atOncePerson' | 'atOnceWorkspace', most: number) => ({
  why: 'limit' as const,
  exceeded: { limit, most, waitMs: limit.startsWith('hour') ? 1_800_000 : null },
});

/** Nothing is asked of what is set for a direct conversation. */
const nothing = {} as unknown as Parameters<typeof refusalTold>[0];

describe('a refused person', () => {
  test.each<[Refusal, string | RegExp]>([
    [{ why: 'guest' }, strings.notAllowed.admins],
    [{ why: 'stranger' }, strings.notAllowed.admins],
    [{ why: 'bot' }, strings.notAllowed.admins],
    [{ why: 'deactivated' }, strings.notAllowed.admins],
    [{ why: 'unknown' }, strings.personUnknown],
    [{ why: 'unread' }, strings.messageUnread],
    [quota('hourPerson', 2), /2 messages in the past hour.*again in 30 min/],
    [quota('hourWorkspace', 1), /This workspace .*one message in the past hour.*again in 30 min/],
    [quota('atOncePerson', 3), /working on 3 messages.*when one of them is done/],
    [quota('atOnceWorkspace', 1), /working on one message from this workspace.*when one of them is done/],
  ])('with %j reads why, and when to ask again', async (refusal, sentence) => {
    expect(await refusalTold(nothing, { workspace: 'T1', channel: 'D1' }, refusal)).toMatch(sentence);
  });

  test('leaves the reason in the audit trail, with the limit where one was reached', () => {
    expect(refusalAuditDetails({ why: 'guest' })).toEqual({ why: 'guest' });
    expect(refusalAuditDetails(quota('hourPerson', 2))).toEqual({
      why: 'limit',
      limit: 'hourPerson',
      most: 2,
    });
  });
});
