import { expect, test } from 'vitest';
import {
  type ControlUse,
  controlRefusal,
  mayUseControl,
} from '../../../src/relay/access/control-permission.ts';
import type { RelayDeps, WorkspaceClient } from '../../../src/relay/runtime/deps.ts';
import * as strings from '../../../src/render/strings/index.ts';
import type { MembershipStatus } from '../../../src/slack/channel-membership.ts';
import type { PersonKind } from '../../../src/slack/directory.ts';
import type { TaskControl } from '../../../src/store/schema.ts';
import { DEFAULT_SETTINGS, type Settings } from '../../../src/store/workspaces/settings-store.ts';
import { EVERYWHERE } from '../../support/answer-limits.ts';
import { withinMs } from '../../support/busy-machine.ts';
import { silentLog } from '../../support/silent-log.ts';

const use: ControlUse = {
  workspace: 'T1',
  channel: 'C1',
  person: 'U2',
  control: 'stop',
  thread_ts: '1.000000',
};

interface House {
  deps: RelayDeps;
  asked: string[];
  told: { user: string; text: string; threadTs: string | undefined }[];
  trail: unknown[];
}

function house(
  by: TaskControl,
  kind: PersonKind = 'member',
  more: {
    admin?: boolean;
    starter?: string;
    silent?: boolean;
    set?: Partial<Settings>;
    place?: MembershipStatus;
  } = {},
): House {
  const [asked, told, trail]: [string[], House['told'], unknown[]] = [[], [], []];
  const people = {
    personNow: async (id: string, signal?: AbortSignal) => {
      asked.push(id);
      if (more.silent === true)
        await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
      return { id, name: id, kind, isAdmin: kind === 'member' && (more.admin ?? false) };
    },
  };
  const posting: Pick<WorkspaceClient['posting'], 'postEphemeral'> = {
    postEphemeral: async ({ user, message, threadTs }) => {
      told.push({ user, text: message.text, threadTs });
    },
  };
  const deps = {
    store: {
      settings: {
        inForce: async () => ({ ...DEFAULT_SETTINGS, ...more.set }),
        get: async () => ({ ...DEFAULT_SETTINGS, ...more.set }),
      },
      threads: { get: async () => (more.starter === undefined ? undefined : { started_by: more.starter }) },
      audit: { addRefusal: async (entry: object) => void trail.push({ kind: 'refusal', ...entry }) },
    },
    log: silentLog,
    settings: {
      taskControl: by,
      allowedUsers: 'members',
      answers: EVERYWHERE,
      lookupMs: 1_500,
      allowedBots: [],
    },
    workspace: () => ({ people, posting, membership: { statusOf: async () => more.place ?? 'member' } }),
  };
  return { deps: deps as unknown as RelayDeps, asked, told, trail };
}

test.each<[TaskControl, PersonKind, Parameters<typeof house>[2], string | undefined]>([
  ['channel', 'member', {}, undefined],
  ['channel', 'guest', {}, strings.controlRefused.stranger],
  ['channel', 'stranger', {}, strings.controlRefused.stranger],
  ['channel', 'bot', {}, strings.controlRefused.stranger],
  ['channel', 'deactivated', {}, strings.controlRefused.stranger],
  ['channel', 'unknown', {}, strings.controlRefused.unknown],
  ['channel', 'guest', { starter: 'U2' }, undefined],
  ['starter', 'member', { starter: 'U2' }, undefined],
  ['starter', 'member', { starter: 'U1' }, strings.controlRefused.starter],
  ['starter', 'member', { admin: true }, undefined],
  ['starter', 'guest', { admin: true }, strings.controlRefused.starter],
  ['admins', 'member', { starter: 'U2' }, strings.controlRefused.admins],
  ['admins', 'member', { admin: true }, undefined],
  ['admins', 'unknown', { admin: true }, strings.controlRefused.unknown],
  ['channel', 'guest', { set: { allowed_users: 'guests' } }, undefined],
  ['channel', 'stranger', { set: { allowed_users: 'guests' } }, strings.controlRefused.stranger],
  ['channel', 'stranger', { set: { allowed_users: 'everyone' } }, undefined],
  ['channel', 'deactivated', { set: { allowed_users: 'everyone' } }, strings.controlRefused.stranger],
  ['channel', 'member', { set: { task_control: 'admins' } }, strings.controlRefused.admins],
  ['admins', 'member', { set: { task_control: 'channel' } }, undefined],
])('with the setting %s, a %s with %o gets %s', async (by, kind, more, answer) => {
  expect(await controlRefusal(house(by, kind, more).deps, use)).toBe(answer);
});

test("the operator's setting applies to a channel without a setting of its own", async () => {
  const everyone = (set: Partial<Settings>) => {
    const { deps } = house('channel', 'stranger', { set });
    return { ...deps, settings: { ...deps.settings, allowedUsers: 'everyone' as const } };
  };
  expect(await controlRefusal(everyone({}), use)).toBeUndefined();
  expect(await controlRefusal(everyone({ allowed_users: 'guests' }), use)).toBe(
    strings.controlRefused.stranger,
  );
});

test('a refusal goes to the person alone and to the audit trail', async () => {
  const { deps, told, trail } = house('starter', 'member', { starter: 'U1' });
  expect(await mayUseControl(deps, { ...use, turn: { id: 'turn-1', asked_by: 'U1' } })).toBe(false);
  expect(told).toEqual([{ user: 'U2', text: strings.controlRefused.starter, threadTs: '1.000000' }]);
  expect(trail).toEqual([
    expect.objectContaining({
      kind: 'refusal',
      user_id: 'U2',
      turn_id: 'turn-1',
      details: { control: 'stop', by: 'starter', why: 'starter' },
    }),
  ]);
});

test('a permitted control sends no message and writes no audit row', async () => {
  const { deps, told, trail } = house('channel');
  expect(await mayUseControl(deps, use)).toBe(true);
  expect([told, trail]).toEqual([[], []]);
});

test.each<[MembershipStatus, boolean, string | undefined]>([
  ['member', true, undefined],
  ['outsider', false, strings.controlRefused.outsider],
  ['outsider', true, strings.controlRefused.outsider],
  // Where Slack lists no members, its word that somebody presses there counts, which a modal does not have.
  ['unknown', false, undefined],
  ['unknown', true, strings.controlRefused.hidden],
])("whoever is a channel's %s, in a modal: %s, gets %s", async (place, isInView, answer) => {
  const { deps } = house('channel', 'member', { place });
  expect(await controlRefusal(deps, { ...use, isReadOnly: true, isInView })).toBe(answer);
});

test("a turn's asker may stop it as the starter may, also in a direct message, without a lookup in Slack", async () => {
  const theirs = house('starter', 'guest', { starter: 'U1' });
  expect(await mayUseControl(theirs.deps, { ...use, turn: { id: 'turn-1', asked_by: 'U2' } })).toBe(true);
  const direct = house('admins', 'guest');
  expect(await mayUseControl(direct.deps, { ...use, channel: 'D1', turn: { asked_by: 'U2' } })).toBe(true);
  expect([...theirs.asked, ...direct.asked]).toEqual([]);
});

test.each([
  ['somebody else', 'member', {}],
  ['an admin', 'member', { admin: true }],
] as const)("a direct message's controls are not for %s, whatever the settings", async (_who, kind, more) => {
  for (const isReadOnly of [false, true]) {
    const { deps, trail } = house('channel', kind, { ...more, starter: 'U1' });
    const pressed = { ...use, channel: 'D1', turn: { asked_by: 'U1' }, isReadOnly };
    expect(await controlRefusal(deps, pressed)).toBe(strings.controlRefused.direct);
    expect(trail).toMatchObject([
      { kind: 'refusal', user_id: 'U2', details: { by: 'direct', why: 'direct' } },
    ]);
  }
});

test('a control that changes nothing is for everyone in the channel, whatever the settings', async () => {
  const readOnlyUse = { ...use, isReadOnly: true };
  expect(await mayUseControl(house('admins').deps, readOnlyUse)).toBe(true);
  expect(await mayUseControl(house('admins', 'guest').deps, readOnlyUse)).toBe(false);
});

test('a person whom Slack does not identify in time is refused', async () => {
  const { deps } = house('channel', 'member', { silent: true });
  const since = performance.now();
  expect(await controlRefusal(deps, use)).toBe(strings.controlRefused.unknown);
  expect(performance.now() - since).toBeLessThan(withinMs(10_000));
});
