import { describe, expect, test } from 'vitest';
import { parseActor, parseInstallationQuery, parsePressLocation } from '../../src/listeners/press.ts';

const by = { team: { id: 'T1' }, user: { id: 'U1', team_id: 'T2' } };
const pressed = (container: object) => ({ ...by, channel: { id: 'C1' }, container });
const place = { workspace: 'T1', person: 'U1', channel: 'C1' };

describe('the place of a press', () => {
  test.for([
    ['below the first message of a thread', { message_ts: '1.000000' }, '1.000000'],
    ['within a thread', { message_ts: '2.000000', thread_ts: '1.000000' }, '1.000000'],
    ['below what only a person sees', { message_ts: '2.000000', is_ephemeral: true }, undefined],
    [
      'below what only a person sees in a thread',
      { message_ts: '2.000000', thread_ts: '1.000000', is_ephemeral: true },
      '1.000000',
    ],
  ] as const)('%s', ([, container, threadTs]) => {
    expect(parsePressLocation(pressed(container))).toEqual({ ...place, threadTs });
  });

  test('in a window is none, but it is known who pressed', () => {
    const body = { ...by, container: { type: 'view', view_id: 'V1' } };
    expect(parsePressLocation(body)).toBeUndefined();
    expect(parseActor(body)).toEqual({ workspace: 'T1', person: 'U1' });
  });

  test.for([
    ['a form of a workspace', 'view_submission', 'T3', 'T3'],
    ['a form of an organisation', 'view_submission', 'E3', 'T1'],
    ['a form that says nothing of it', 'view_submission', null, 'T1'],
    ['a press in a view', 'block_actions', 'T3', 'T1'],
  ] as const)('in %s is at the right installation', ([, type, opener, workspace]) => {
    const body = { ...by, type, view: { id: 'V1', app_installed_team_id: opener } };
    expect(parseActor(body)).toEqual({ workspace, person: 'U1' });
  });

  test('is that of the person where Slack names no workspace', () => {
    expect(parseActor({ ...by, team: null })).toEqual({ workspace: 'T2', person: 'U1' });
    expect(parseActor({ team: null, user: { id: 'U1' } })).toBeUndefined();
  });
});

describe('the installation of what is pressed, sent or typed', () => {
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
      { ...by, ...organisation, type: 'view_submission', view: { app_installed_team_id: 'E1' } },
      'T1',
      'E1',
    ],
    [
      'a form that somebody of another organisation sends',
      { ...by, team: { id: 'T2' }, type: 'view_submission', view: { app_installed_team_id: 'T3' } },
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

  test('is not known where an organisation is not named', () => {
    expect(
      parseInstallationQuery({ ...pressed, is_enterprise_install: true, enterprise: null, team: null }),
    ).toBeUndefined();
    expect(parseInstallationQuery({ type: 'event_callback' })).toBeUndefined();
  });
});
