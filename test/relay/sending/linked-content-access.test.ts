import { expect, test } from 'vitest';
import { WORKFLOW_STEP } from '../../../src/relay/runtime/incoming-message.ts';
import { maySeeFile } from '../../../src/relay/sending/allowed-files.ts';
import { linkDenialFor } from '../../../src/relay/sending/linked-messages.ts';
import type { MembershipStatus } from '../../../src/slack/channel-membership.ts';
import type { Channel, PersonKind } from '../../../src/slack/directory.ts';

type Known = Partial<Pick<Channel, 'kind' | 'isExtShared'>>;

/** What Slack says: by default everything that is needed to read a public channel from another one. */
interface Answers {
  linked?: Known;
  asking?: Known;
  status?: MembershipStatus;
  person?: PersonKind;
  areAllInsiders?: boolean;
  areMembersListed?: boolean;
  asker?: string;
}

function slackSays({ linked, asking, status, person, areAllInsiders, areMembersListed }: Answers) {
  const channel = (id: string, known: Known): Channel => ({
    ...{ id, name: id, purpose: '', kind: 'public', isExtShared: false, ...known },
  });
  return {
    people: {
      channelNow: async (id: string) => channel(id, (id === 'C-LINKED' ? linked : asking) ?? {}),
      isElsewhere: async () => linked?.kind === 'elsewhere',
      personNow: async (id: string) => ({
        id,
        name: id,
        kind: person ?? 'member',
        isHuman: true,
        isAdmin: false,
      }),
      areInsiders: async () => areAllInsiders ?? true,
    },
    membership: {
      statusOf: async () => status ?? 'outsider',
      membersOf: async () => (areMembersListed === false ? undefined : ['U1', 'U2']),
    },
  };
}

async function denial(asked: string, answers: Answers) {
  const { asker = 'U1' } = answers;
  return linkDenialFor(slackSays(answers), { workspace: 'T1', channel: asked, person: asker }, 'C-LINKED');
}

test.each<[string, string, Answers]>([
  [
    'the same conversation, whatever it is',
    'C-LINKED',
    { linked: { kind: 'unknown' }, areAllInsiders: false },
  ],
  ['a public channel, among full members', 'C1', {}],
  ['a public channel, among full members of a private one', 'C1', { asking: { kind: 'private' } }],
  ['a public channel, for a full member alone', 'D1', {}],
  [
    'whatever the asker is in, alone',
    'D1',
    { status: 'member', linked: { kind: 'private', isExtShared: true } },
  ],
])('a linked message may be read from %s', async (_, asked, answers) => {
  expect(await denial(asked, answers)).toBeUndefined();
});

test.each<[string, string, Answers]>([
  ['a workflow asks, even in the same conversation', 'C-LINKED', { asker: WORKFLOW_STEP }],
  ['its channel is unknown', 'C1', { linked: { kind: 'unknown' } }],
  ['its channel is private', 'C1', { linked: { kind: 'private' } }],
  [
    'its channel is private, although the asker is in it',
    'C1',
    { linked: { kind: 'private' }, status: 'member' },
  ],
  ['it is a group conversation', 'C1', { linked: { kind: 'group_dm' } }],
  ["it is somebody's direct message", 'C1', { linked: { kind: 'dm' } }],
  ['it is in another workspace', 'C1', { linked: { kind: 'elsewhere' } }],
  ['it is in another workspace and the asker alone', 'D1', { linked: { kind: 'elsewhere' } }],
  [
    'it is in another workspace, for one of its members alone',
    'D1',
    { linked: { kind: 'elsewhere' }, status: 'member' },
  ],
  ['its channel is shared', 'C1', { linked: { isExtShared: true } }],
  ['its channel may be shared', 'C1', { linked: { isExtShared: undefined } }],
  ['the asking channel is shared', 'C1', { asking: { isExtShared: true } }],
  ['the asking channel may be shared', 'C1', { asking: { isExtShared: undefined } }],
  ['not everybody who asks is known as a full member', 'C1', { areAllInsiders: false }],
  ['Slack does not list everybody who asks', 'C1', { areMembersListed: false }],
  ['the asker is not in its private channel', 'D1', { linked: { kind: 'private' } }],
  [
    'it is unknown whether the asker is in its private channel',
    'D1',
    { linked: { kind: 'private' }, status: 'unknown' },
  ],
  [
    'it is unknown whether the asker is in its shared channel',
    'D1',
    { linked: { isExtShared: true }, status: 'unknown' },
  ],
  ...(['guest', 'stranger', 'unknown', 'deactivated', 'bot'] as const).map(
    (person): [string, string, Answers] => [`the asker is alone and ${person}`, 'D1', { person }],
  ),
])('a linked message is not read if %s', async (_, asked, answers) => {
  expect(await denial(asked, answers)).toMatch(/^link_/);
});

test.each<[boolean, string, Answers]>([
  [true, 'of this workspace, to a full member', {}],
  [false, 'of this workspace, to a guest', { person: 'guest' }],
  [false, 'of another workspace, to a full member', { linked: { kind: 'elsewhere' } }],
  [false, 'that became private', { linked: { kind: 'private' } }],
  [true, 'of another workspace, to one of its members', { linked: { kind: 'elsewhere' }, status: 'member' }],
])('whether a file may be seen is %s for one in a public channel %s', async (maySee, _, answers) => {
  const file = { id: 'F1', user: 'U2', channels: ['C-LINKED'] };
  expect(await maySeeFile(slackSays(answers), 'U1', file)).toBe(maySee);
});
