import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { SlackDirectory } from '../../src/slack/directory.ts';
import { RateLimitedClient, RateLimiter, rateLimitTable } from '../../src/slack/rate-limits.ts';
import { SlackClient } from '../../src/slack/slack-client.ts';
import { silentLog } from '../support/silent-log.ts';
import { type SlackClientScene, startSlackClientScene } from '../support/slack-client-scene.ts';

let scene: SlackClientScene;
let people: SlackDirectory;

beforeEach(async () => {
  scene = await startSlackClientScene();
  people = new SlackDirectory(scene.client, silentLog);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await scene.slack.stop();
});

const member = {
  id: 'U1',
  team_id: 'T1',
  name: 'ada',
  deleted: false,
  is_bot: false,
  is_restricted: false,
  is_ultra_restricted: false,
  profile: { display_name: 'Ada', real_name: 'Ada Lovelace' },
};

function answer(change: Record<string, unknown>): void {
  scene.slack.on('users.info', { body: { ok: true, user: { ...member, ...change } } });
}

describe('a person', () => {
  test('has the name that people see', async () => {
    answer({});
    expect(await people.person('U1')).toEqual({
      id: 'U1',
      name: 'Ada',
      kind: 'member',
      isHuman: true,
      isAdmin: false,
    });
    people.invalidate('U1');
    answer({ profile: { display_name: '', real_name: 'Ada Lovelace' } });
    expect(await people.personName('U1')).toBe('Ada Lovelace');
  });

  test.each([
    ['deactivated', { deleted: true }],
    ['bot', { is_bot: true }],
    ['guest', { is_restricted: true }],
    ['guest', { is_restricted: true, is_ultra_restricted: true }],
    ['stranger', { is_stranger: true }],
    ['stranger', { team_id: 'T2' }],
    ['stranger', { team_id: 'T2', enterprise_user: { enterprise_id: 'E1', teams: ['T2', 'T3'] } }],
    ['stranger', { team_id: 'E1', enterprise_user: { enterprise_id: 'E1', teams: [] } }],
    // The workspace may have come into the organisation after it installed the app.
    ['member', { team_id: 'T2', enterprise_user: { enterprise_id: 'E1', teams: ['T1', 'T2'] } }],
    ['member', { team_id: 'E1', enterprise_user: { enterprise_id: 'E1', teams: ['T1'] } }],
    ['guest', { team_id: 'T2', is_restricted: true, enterprise_user: { teams: ['T1', 'T2'] } }],
    ['unknown', { is_restricted: undefined }],
    ['unknown', { team_id: undefined }],
  ])('is %s when Slack says %j', async (kind, change) => {
    answer(change);
    expect((await people.person('U1')).kind).toBe(kind);
  });

  test.each([
    [true, { is_admin: true }],
    [true, { is_owner: true }],
    [false, { is_admin: false }],
    [false, { is_admin: true, is_stranger: true }],
    [false, { is_admin: true, deleted: true }],
  ])('is an admin here: %s, when Slack says %j', async (isAdmin, change) => {
    answer(change);
    expect((await people.person('U1')).isAdmin).toBe(isAdmin);
  });

  test('whom Slack does not know is unknown, and is not requested again at once', async () => {
    scene.slack.on('users.info', { body: { ok: false, error: 'user_not_found' } });
    expect(await people.person('U1')).toEqual({
      id: 'U1',
      name: 'U1',
      kind: 'unknown',
      isHuman: false,
      isAdmin: false,
    });
    await people.person('U1');
    expect(scene.slack.calls).toHaveLength(1);
  });

  test('is unknown while Slack fails, and is requested again the next time', async () => {
    scene.slack.on('users.info', { status: 503 });
    const asked = await Promise.allSettled([people.person('U1'), people.requirePerson('U1')]);
    expect(asked).toMatchObject([{ value: { kind: 'unknown' } }, { reason: { code: 'unavailable' } }]);
    answer({});
    expect((await people.person('U1')).kind).toBe('member');
    expect((await people.requirePerson('U1')).kind).toBe('member');
  });

  test('is requested once for simultaneous callers, and again after five minutes', async () => {
    answer({});
    await Promise.all(Array.from({ length: 20 }, () => people.personName('U1')));
    expect(scene.slack.calls).toHaveLength(1);
    const now = performance.now();
    vi.spyOn(performance, 'now').mockImplementation(() => now + 301_000);
    await people.personName('U1');
    expect(scene.slack.calls).toHaveLength(2);
  });

  test('rejects with the reason of an aborted caller', async () => {
    scene.slack.on('users.info', () => undefined);
    await expect(people.person('U1', AbortSignal.abort(new Error('over')))).rejects.toThrow('over');
  });
});

describe('a channel', () => {
  test('has its name, purpose and kind', async () => {
    const channel = {
      id: 'C1',
      name: 'lab',
      is_private: false,
      is_ext_shared: true,
      topic: { value: 'Genes' },
      purpose: { value: 'Work' },
    };
    scene.slack.on('conversations.info', { body: { ok: true, channel } });
    expect(await people.channel('C1')).toEqual({
      id: 'C1',
      name: 'lab',
      purpose: 'Work',
      kind: 'public',
      isExtShared: true,
    });
  });

  test.each([
    ['dm', { is_im: true }],
    ['group_dm', { is_mpim: true, is_private: true, name: 'mpdm-a--b-1' }],
    ['private', { is_private: true, name: 'secret' }],
    ['unknown', { name: 'odd' }],
  ])('is %s when Slack says %j', async (kind, change) => {
    scene.slack.on('conversations.info', { body: { ok: true, channel: { id: 'C1', ...change } } });
    expect((await people.channel('C1')).kind).toBe(kind);
  });

  test.each([
    ['group_dm', 'mpim:read'],
    ['unknown', 'channels:read,groups:read,mpim:read,im:read'],
  ])('is %s where Slack misses the scope %s', async (kind, needed) => {
    scene.slack.on('conversations.info', { body: { ok: false, error: 'missing_scope', needed } });
    expect((await people.channel('C1')).kind).toBe(kind);
  });

  test.each([
    ['public', { context_team_id: 'T1' }],
    ['public', { context_team_id: 'T2', shared_team_ids: ['T2', 'T1'] }],
    ['public', { context_team_id: 'T2', internal_team_ids: ['T1'] }],
    ['elsewhere', { context_team_id: 'T2', shared_team_ids: ['T2'] }],
    ['elsewhere', {}],
    ['private', { context_team_id: 'T1', is_private: true }],
    ['elsewhere', { context_team_id: 'T2', is_private: true }],
  ])("is %s to an organisation's installation when Slack says %j", async (kind, teams) => {
    const { rateLimiter, slackClient } = scene.client;
    const installation = { ...slackClient.installation, isOrgToken: true };
    const client = new SlackClient({ installation, log: silentLog, slackApiUrl: scene.slack.apiUrl });
    people = new SlackDirectory(new RateLimitedClient(client, rateLimiter), silentLog);
    const channel = { id: 'C1', name: 'lab', is_private: false, ...teams };
    scene.slack.on('conversations.info', { body: { ok: true, channel } });
    expect((await people.channel('C1')).kind).toBe(kind);
  });

  test('is unknown while Slack fails', async () => {
    scene.slack.on('conversations.info', { status: 503 });
    await expect(people.requireChannel('C1')).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('that the bot cannot see is unknown', async () => {
    scene.slack.on('conversations.info', { body: { ok: false, error: 'channel_not_found' } });
    expect(await people.requireChannel('C1')).toEqual(await people.channel('C1'));
    expect(await people.channel('C1')).toMatchObject({
      kind: 'unknown',
      name: undefined,
      isExtShared: undefined,
    });
  });
});

test('who may do something is read each time, whatever is known', async () => {
  answer({});
  expect((await people.personNow('U1')).kind).toBe('member');
  answer({ is_restricted: true });
  expect((await people.personNow('U1')).kind).toBe('guest');
  expect((await people.person('U1')).kind).toBe('guest');
});

/** Many people, more than are looked up one by one for a link. */
const many = (...first: string[]) => [...first, ...Array.from({ length: 40 }, (_, at) => `U9${at}`)];

/** Slack lists these people, so many on a page, and knows nobody else. */
function list(people: readonly Record<string, unknown>[], pageSize = 1_000): void {
  scene.slack.on('users.info', ({ args }) => {
    const user = people.find(({ id }) => id === args.user);
    return {
      body: user ? { ok: true, user: { ...member, ...user } } : { ok: false, error: 'user_not_found' },
    };
  });
  scene.slack.on('users.list', ({ args }) => {
    const from = Number(args.cursor ?? 0);
    const members = people.slice(from, from + pageSize).map((person) => ({ ...member, ...person }));
    const next_cursor = from + pageSize < people.length ? `${from + pageSize}` : '';
    return { body: { ok: true, members, response_metadata: { next_cursor } } };
  });
}

/** Without Slack's limits. */
function unlimited(): void {
  const { slackClient, installation } = scene.client;
  const rateLimiter = new RateLimiter({
    workspace: installation.workspace,
    store: { take: async () => 0, pause: async () => undefined },
    rateLimits: rateLimitTable(),
    log: silentLog,
  });
  people = new SlackDirectory(new RateLimitedClient(slackClient, rateLimiter), silentLog);
}

describe('many people at once', () => {
  const ids = Array.from({ length: 300 }, (_, at) => `U${at}`);

  test('are known from a page of a thousand, and so are those who come next', async () => {
    list([...ids, 'U-NEXT'].map((id) => ({ id })));
    const found = await Promise.all(ids.map((id) => people.requirePerson(id)));
    expect(found.map(({ id, kind }) => ({ id, kind }))).toEqual(ids.map((id) => ({ id, kind: 'member' })));
    const calls = scene.slack.calls.length;
    expect(calls).toBeLessThan(30);
    expect((await people.requirePerson('U-NEXT')).kind).toBe('member');
    expect(scene.slack.calls).toHaveLength(calls);
  });

  test('are looked up one by one if the list fails or does not name them', async () => {
    unlimited();
    list([]);
    answer({});
    const some = ids.slice(0, 60);
    await Promise.all(some.map((id) => people.requirePerson(id)));
    expect(scene.slack.callsOf('users.info')).toHaveLength(60);
    unlimited();
    scene.slack.on('users.list', { body: { ok: false, error: 'missing_scope' } });
    await Promise.all(some.map((id) => people.currentPerson(`${id}-2`)));
    expect(scene.slack.callsOf('users.info')).toHaveLength(120);
    expect(scene.slack.callsOf('users.list')).toHaveLength(2);
  });
});

describe('the readers of a channel', () => {
  beforeEach(unlimited);

  test.each([
    [true, { is_bot: true }],
    [true, { deleted: true }],
    [false, { is_restricted: true }],
    [false, { team_id: 'T2' }],
    [false, { is_ultra_restricted: undefined }],
    [false, { is_stranger: 'perhaps' }],
  ])('are insiders: %s, when Slack says of one of them %j', async (areInsiders, change) => {
    const { botUser } = scene.client.installation;
    scene.slack.on('users.info', ({ args }) => {
      const { user: id } = args;
      return { body: { ok: true, user: { ...member, id, ...(id === 'U2' ? change : {}) } } };
    });
    expect(await people.areInsiders(['U1', botUser, 'U2'])).toBe(areInsiders);
    list(many('U1', 'U2').map((id) => ({ id, ...(id === 'U2' ? change : {}) })));
    expect(await people.areInsiders(many('U1', botUser, 'U2'))).toBe(areInsiders);
  });

  test('are asked about one by one in a small channel, however many people the workspace has', async () => {
    list([{ id: 'U1' }]);
    answer({});
    expect(await people.areInsiders(['U1', 'U2'])).toBe(true);
    expect(scene.slack.callsOf('users.list')).toHaveLength(0);
  });

  test('are looked for on eight pages at most, and a longer list is not read again', async () => {
    list(
      Array.from({ length: 12 }, (_, at) => ({ id: `U${at}` })),
      1,
    );
    expect(await people.areInsiders(many('U1'))).toBe(false);
    const now = performance.now();
    vi.spyOn(performance, 'now').mockImplementation(() => now + 31_000);
    expect(await people.areInsiders(many('U1'))).toBe(false);
    expect(scene.slack.callsOf('users.list')).toHaveLength(8);
  });

  test('are read again after half a minute', async () => {
    list(many('U1').map((id) => ({ id })));
    expect(await people.areInsiders(many('U1'))).toBe(true);
    answer({});
    expect(await people.areInsiders(['U1'])).toBe(true);
    const now = performance.now();
    vi.spyOn(performance, 'now').mockImplementation(() => now + 31_000);
    list(many('U1').map((id) => ({ id, is_restricted: id === 'U1' })));
    expect(await people.areInsiders(many('U1'))).toBe(false);
    answer({ is_restricted: true });
    expect((await people.currentPerson('U1')).kind).toBe('guest');
    expect(await people.areInsiders(['U1'])).toBe(false);
  });
});
