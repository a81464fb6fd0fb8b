import { describe, expect, test } from 'vitest';
import {
  accessDenialUnder,
  accessPolicyFor,
  isKindAllowed,
} from '../../../src/relay/access/access-policy.ts';
import type { RelayDeps } from '../../../src/relay/runtime/deps.ts';
import { WORKFLOW_STEP } from '../../../src/relay/runtime/incoming-message.ts';
import type { PersonKind } from '../../../src/slack/directory.ts';
import type { AllowedUsers } from '../../../src/store/schema.ts';
import { DEFAULT_SETTINGS, type Settings } from '../../../src/store/workspaces/settings-store.ts';
import { EVERYWHERE } from '../../support/answer-limits.ts';

const asker = { workspace: 'T1', channel: 'C1', person: 'U1' };

/** The operator admits `usual`; channel and workspace have set what is given. */
function access(usual: AllowedUsers, set: Partial<Settings> = {}): RelayDeps {
  const deps = {
    store: {
      settings: {
        inForce: async () => ({ ...DEFAULT_SETTINGS, ...set }),
      },
    },
    settings: { allowedUsers: usual, answers: EVERYWHERE, lookupMs: 1_500, allowedBots: ['B0USUAL'] },
  };
  return deps as unknown as RelayDeps;
}

/** Slack says of everybody that they are of this kind. */
const people = (kind: PersonKind) => ({
  currentPerson: async (id: string) => ({ id, name: id, kind, isHuman: true, isAdmin: false }),
});

const denial = async (deps: RelayDeps, kind: PersonKind, person = asker.person) => {
  const set = await deps.store.settings.inForce(asker.workspace, asker.channel);
  return accessDenialUnder(set, deps, people(kind), { ...asker, person }, AbortSignal.timeout(1_000));
};

describe('who may use the agent', () => {
  test.each<[AllowedUsers, PersonKind[]]>([
    ['members', ['member']],
    ['guests', ['member', 'guest']],
    ['everyone', ['member', 'guest', 'stranger']],
  ])('is, where %s are admitted, exactly %j', (admits, allowed) => {
    const kinds: PersonKind[] = ['member', 'guest', 'stranger', 'bot', 'deactivated', 'unknown'];
    expect(kinds.filter((kind) => isKindAllowed(admits, kind))).toEqual(allowed);
  });

  test("is the channel's or workspace's choice before the operator's", async () => {
    expect(await accessPolicyFor(access('members'), asker)).toEqual({
      allowedUsers: 'members',
      allowedBots: ['B0USUAL'],
    });
    const set = access('members', { allowed_users: 'everyone', allowed_bots: ['B0OTHER'] });
    expect(await accessPolicyFor(set, asker)).toEqual({ allowedUsers: 'everyone', allowedBots: ['B0OTHER'] });
    expect((await accessPolicyFor(access('members', { allowed_bots: [] }), asker)).allowedBots).toEqual([]);
  });

  test('holds for steps of workflows where the channel lets them in', async () => {
    expect(await denial(access('everyone'), 'member', WORKFLOW_STEP)).toBe('bot');
    const set = access('members', { allow_workflow_steps: true });
    expect(await denial(set, 'member', WORKFLOW_STEP)).toBeUndefined();
  });

  test.each<[AllowedUsers, PersonKind, PersonKind | undefined]>([
    ['members', 'member', undefined],
    ['members', 'guest', 'guest'],
    ['members', 'stranger', 'stranger'],
    ['guests', 'guest', undefined],
    ['guests', 'stranger', 'stranger'],
    ['everyone', 'stranger', undefined],
    ['everyone', 'deactivated', 'deactivated'],
    ['everyone', 'unknown', 'unknown'],
  ])('decides, where %s are admitted, for a %s with the denial %s', async (admits, kind, why) => {
    expect(await denial(access(admits), kind)).toBe(why);
  });

  test('admits a bot only by its own id', async () => {
    expect(await denial(access('everyone'), 'bot', 'B0USUAL')).toBeUndefined();
    expect(await denial(access('everyone'), 'bot', 'B0OTHER')).toBe('bot');
    expect(await denial(access('everyone', { allowed_bots: [] }), 'bot', 'B0USUAL')).toBe('bot');
    expect(await denial(access('everyone', { allowed_bots: ['B0OTHER'] }), 'bot', 'B0OTHER')).toBeUndefined();
  });
});
