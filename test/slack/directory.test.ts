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
    ['stranger', { team_id: 'T2', enterprise_user: { enterprise_id: 'E1', teams: ['T1', 'T2'] } }],
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

describe('the insiders of a workspace', () => {
  beforeEach(() => {
    const { slackClient, installation } = scene.client;
    const rateLimiter = new RateLimiter({
      workspace: installation.workspace,
      store: { take: async () => 0, pause: async () => undefined },
      rateLimits: rateLimitTable(),
      log: silentLog,
    });
    people = new SlackDirectory(new RateLimitedClient(slackClient, rateLimiter), silentLog);
  });

  /** Slack lists these people, one to a page. */
  function list(...people: Record<string, unknown>[]): void {
    let at = 0;
    scene.slack.on('users.list', () => {
      const person = people[at];
      at += 1;
      const next_cursor = at < people.length ? `p${at}` : '';
      return { body: { ok: true, members: [{ ...member, ...person }], response_metadata: { next_cursor } } };
    });
  }

  test('are its full members, bots and former people, and never whose record does not say so', async () => {
    list(
      { id: 'U1' },
      { id: 'U2', is_restricted: true },
      { id: 'U3', is_bot: true },
      { id: 'U4', team_id: 'T2' },
      { id: 'U5', deleted: true },
      { id: 'U6', is_ultra_restricted: undefined },
      { id: 'U7', is_stranger: 'perhaps' },
    );
    const { botUser } = scene.client.installation;
    expect(await people.insiders()).toEqual(new Set([botUser, 'U1', 'U3', 'U5']));
    await people.insiders();
    expect(scene.slack.calls).toHaveLength(7);
  });

  test('are read from eight pages at most', async () => {
    list(...Array.from({ length: 12 }, (_, at) => ({ id: `U${at}` })));
    expect((await people.insiders()).size).toBe(9);
    expect(scene.slack.calls).toHaveLength(8);
  });

  test('and who is one of them are read again after half a minute', async () => {
    list({ id: 'U1' }, { id: 'U1', is_restricted: true });
    answer({});
    expect((await people.currentPerson('U1')).kind).toBe('member');
    await people.insiders();
    const now = performance.now();
    vi.spyOn(performance, 'now').mockImplementation(() => now + 31_000);
    list({ id: 'U1', is_restricted: true });
    answer({ is_restricted: true });
    expect((await people.currentPerson('U1')).kind).toBe('guest');
    expect(await people.insiders()).not.toContain('U1');
  });
});
