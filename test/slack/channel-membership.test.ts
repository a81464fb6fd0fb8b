import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ChannelMembership } from '../../src/slack/channel-membership.ts';
import { type SlackClientScene, startSlackClientScene } from '../support/slack-client-scene.ts';

let scene: SlackClientScene;
let membership: ChannelMembership;

beforeEach(async () => {
  scene = await startSlackClientScene();
  membership = new ChannelMembership(scene.client);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await scene.slack.stop();
});

/** Slack lists these channels of whom it is asked about. */
function ownChannels(...ids: string[]): void {
  const channels = ids.map((id) => ({ id }));
  scene.slack.on('users.conversations', { body: { ok: true, channels } });
}

/** Slack answers with these pages, one after the other. */
function pages(...all: string[][]): void {
  let at = 0;
  scene.slack.on('conversations.members', () => {
    const members = all[at] ?? [];
    at += 1;
    return {
      body: { ok: true, members, response_metadata: { next_cursor: at < all.length ? `p${at}` : '' } },
    };
  });
}

describe('the standing of a person in a channel', () => {
  test('is looked up page by page until it is found', async () => {
    pages(['U2'], ['U3', 'U1'], ['U4']);
    expect(await membership.statusOf('C1', 'U1')).toBe('member');
    expect(scene.slack.callsOf('conversations.members')).toHaveLength(2);
  });

  test('is that of an outsider if no page names the person', async () => {
    pages(['U2'], ['U3']);
    expect(await membership.statusOf('C1', 'U1')).toBe('outsider');
  });

  test('in a large channel is also looked for among their own channels, and their absence there says nothing', async () => {
    const large = Array.from({ length: 11 }, () => ['U2']);
    pages(...large);
    ownChannels('C2', 'C1');
    expect(await membership.statusOf('C1', 'U1')).toBe('member');
    expect(scene.slack.callsOf('conversations.members')).toHaveLength(3);
    expect(scene.slack.callsOf('users.conversations')[0]?.args).toMatchObject({
      user: 'U1',
      types: 'public_channel,private_channel',
    });
    pages(...large);
    ownChannels('C2');
    expect(await membership.statusOf('C1', 'U1')).toBe('unknown');
    pages(...large);
    scene.slack.on('users.conversations', { body: { ok: false, error: 'user_not_found' } });
    expect(await membership.statusOf('C1', 'U1')).toBe('unknown');
    pages(['U2'], ['U3'], ['U4'], ['U5']);
    expect(await membership.statusOf('C1', 'U1')).toBe('outsider');
  });

  test('is looked up for each use, and once for those who ask together', async () => {
    scene.slack.on('conversations.members', { body: { ok: true, members: ['U1'] } });
    await Promise.all(['U1', 'U1', 'U2'].map((person) => membership.statusOf('C1', person)));
    expect(scene.slack.callsOf('conversations.members')).toHaveLength(2);
    scene.slack.on('conversations.members', { body: { ok: true, members: [] } });
    expect(await membership.statusOf('C1', 'U1')).toBe('outsider');
  });

  test.each(['channel_not_found', 'missing_scope', 'fetch_members_failed'])(
    'is unknown where Slack answers %s',
    async (error) => {
      scene.slack.on('conversations.members', { body: { ok: false, error } });
      expect(await membership.statusOf('C1', 'U1')).toBe('unknown');
    },
  );

  test('is an error if Slack is unavailable, and is requested again', async () => {
    scene.slack.on('conversations.members', { status: 503, body: {} });
    await expect(membership.statusOf('C1', 'U1')).rejects.toThrow('http_503');
    pages(['U1']);
    expect(await membership.statusOf('C1', 'U1')).toBe('member');
  });
});

describe('the members of a channel', () => {
  test('are read page by page', async () => {
    pages(['U1'], ['U3'], ['U2']);
    expect(await membership.membersOf('C1')).toEqual(['U1', 'U3', 'U2']);
  });

  test('are unknown if Slack does not list them, or too many', async () => {
    scene.slack.on('conversations.members', { body: { ok: false, error: 'missing_scope' } });
    expect(await membership.membersOf('C1')).toBeUndefined();
    pages(...Array.from({ length: 11 }, () => ['U1']));
    expect(await membership.membersOf('C1')).toBeUndefined();
    expect(scene.slack.callsOf('conversations.members')).toHaveLength(11);
  });
});
