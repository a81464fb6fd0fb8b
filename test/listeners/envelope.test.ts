import { describe, expect, test } from 'vitest';
import { parseEnvelope, parseInstallationQuery, parseUninstallEvent } from '../../src/listeners/envelope.ts';

const event = { type: 'message', channel: 'C1', ts: '1.000000', user: 'U1' };
const outer = { type: 'event_callback', event };
/** As Slack sends it in a channel that the other organisation owns: the top level is theirs. */
const theirs = { ...outer, team_id: 'T9', enterprise_id: 'E9' };
const authorization = { enterprise_id: 'E1', team_id: 'T1', user_id: 'UB', is_bot: true };
const ofAll = { ...authorization, is_enterprise_install: true };

function read(body: object) {
  const envelope = parseEnvelope(body);
  return envelope && [envelope.workspace, envelope.organisation];
}

describe('the installation that an event is for', () => {
  test.for([
    [
      'a workspace',
      { authorizations: [{ ...authorization, is_enterprise_install: false }] },
      'T1',
      undefined,
    ],
    [
      'a workspace outside of Enterprise Grid',
      { authorizations: [{ ...authorization, enterprise_id: null, is_enterprise_install: false }] },
      'T1',
      undefined,
    ],
    ['an organisation', { authorizations: [ofAll] }, 'T1', 'E1'],
    ['an organisation, by the context', { authorizations: null, context_team_id: 'E1' }, 'T9', 'E1'],
    [
      'an organisation, with its workspace in the context',
      { authorizations: [{ ...ofAll, team_id: null }], context_team_id: 'T1' },
      'T1',
      'E1',
    ],
    [
      'an organisation, without its workspace',
      { authorizations: [{ ...ofAll, team_id: null }], context_team_id: 'E1' },
      'T9',
      'E1',
    ],
    [
      'an organisation that stands for its workspace',
      { authorizations: [{ ...ofAll, team_id: 'E1' }] },
      'T9',
      'E1',
    ],
    [
      'an organisation that only the context names',
      { authorizations: [{ team_id: null, is_enterprise_install: true }], context_enterprise_id: 'E1' },
      'T9',
      'E1',
    ],
    ['a workspace, by the context', { authorizations: null, context_team_id: 'T1' }, 'T1', undefined],
    ['a workspace, by the context alone', { context_team_id: 'T1' }, 'T1', undefined],
    ['a workspace, by nothing else', { authorizations: [] }, 'T9', undefined],
  ] as const)('is that of %s', ([, more, workspace, organisation]) => {
    expect(read({ ...theirs, ...more })).toEqual([workspace, organisation]);
  });

  test('is unclear if the organisation is not named: the top level may be the other one', () => {
    for (const enterprise_id of [null, undefined]) {
      const authorizations = [{ team_id: null, enterprise_id, is_enterprise_install: true }];
      expect(read({ ...theirs, authorizations })).toBeUndefined();
    }
  });
});

describe('the installation of what is pressed, sent or typed', () => {
  const pressedBy = { team: { id: 'T1' }, user: { id: 'U1', team_id: 'T2' } };
  const organisation = { is_enterprise_install: true, enterprise: { id: 'E1', name: 'All' } };
  const pressed = { type: 'block_actions', user: { id: 'U1', team_id: 'T2' } };
  const command = { command: '/agent', user_id: 'U1', team_id: 'T1' };
  test.for([
    [
      'a press in a workspace',
      { ...pressed, team: { id: 'T1' }, is_enterprise_install: false },
      'T1',
      undefined,
    ],
    ['a press in an organisation', { ...pressed, ...organisation, team: null }, 'T2', 'E1'],
    [
      'a form of an organisation',
      { ...pressedBy, ...organisation, type: 'view_submission', view: { app_installed_team_id: 'E1' } },
      'T1',
      'E1',
    ],
    [
      'a form that somebody of another organisation sends',
      { ...pressedBy, team: { id: 'T2' }, type: 'view_submission', view: { app_installed_team_id: 'T3' } },
      'T3',
      undefined,
    ],
    [
      'a command in a workspace',
      { ...command, is_enterprise_install: 'false', enterprise_id: 'E1' },
      'T1',
      undefined,
    ],
    [
      'a command in an organisation',
      { ...command, is_enterprise_install: 'true', enterprise_id: 'E1' },
      'T1',
      'E1',
    ],
  ] as const)('is that of %s', ([, body, workspace, organisation]) => {
    expect(parseInstallationQuery(body)).toMatchObject({ workspace, organisation });
  });

  test('is unclear if the organisation is not named', () => {
    expect(
      parseInstallationQuery({ ...pressed, is_enterprise_install: true, enterprise: null, team: null }),
    ).toBeUndefined();
    expect(parseInstallationQuery({ type: 'event_callback' })).toBeUndefined();
  });
});

const installationEvent = (event: Record<string, unknown>, more: Record<string, unknown> = {}) => ({
  type: 'event_callback',
  team_id: 'T1',
  event_time: 1_800_000_000,
  event,
  ...more,
});
const at = new Date(1_800_000_000_000);

describe('an event about the end of an installation', () => {
  test('names the workspace, and whether the token of the bot is revoked', () => {
    expect(parseUninstallEvent(installationEvent({ type: 'app_uninstalled' }))).toEqual({
      kind: 'uninstalled',
      workspace: 'T1',
      organisation: undefined,
      at,
    });
    expect(
      parseUninstallEvent(
        installationEvent({ type: 'tokens_revoked', tokens: { oauth: ['U1'], bot: ['U2'] } }),
      ),
    ).toEqual({
      kind: 'revoked',
      workspace: 'T1',
      organisation: undefined,
      at,
    });
  });

  test('names the organisation if it covers all of its workspaces', () => {
    const ofAll = { authorizations: [{ enterprise_id: 'E1', team_id: 'T1', is_enterprise_install: true }] };
    const departure = parseUninstallEvent(installationEvent({ type: 'app_uninstalled' }, ofAll));
    expect(departure).toMatchObject({ workspace: undefined, organisation: 'E1' });
    const revoked = parseUninstallEvent(
      installationEvent({ type: 'team_access_revoked', team_ids: ['T1', 'T2'] }, ofAll),
    );
    expect(revoked).toMatchObject({ kind: 'access_revoked', organisation: 'E1', from: ['T1', 'T2'] });
    const granted = parseUninstallEvent(
      installationEvent({ type: 'team_access_granted', team_ids: ['T1'] }, ofAll),
    );
    expect(granted).toMatchObject({ kind: 'access_granted', organisation: 'E1', to: ['T1'] });
  });

  test('ignores every other event', () => {
    for (const other of [
      installationEvent({ type: 'message', channel: 'C1' }),
      installationEvent({ type: 'tokens_revoked' }),
      installationEvent({ type: 'tokens_revoked', tokens: { oauth: ['U1'] } }),
      { type: 'block_actions' },
      undefined,
    ])
      expect(parseUninstallEvent(other)).toBeUndefined();
  });
});
