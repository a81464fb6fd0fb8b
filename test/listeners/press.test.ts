import { describe, expect, test } from 'vitest';
import { parseActor, parsePress } from '../../src/listeners/envelope.ts';

const by = { team: { id: 'T1' }, user: { id: 'U1', team_id: 'T2' } };
const press = { ...by, trigger_id: '1.2.3', actions: [{ action_ts: '9.000000' }] };
const pressed = (container: object) => ({ ...press, channel: { id: 'C1' }, container });
const place = { workspace: 'T1', person: 'U1', channel: 'C1' };

describe('the location of a press', () => {
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
    expect(parsePress(pressed(container))).toMatchObject({ ...place, threadTs });
  });

  test('is undefined in a modal, but the person is known', () => {
    const body = { ...press, container: { type: 'view', view_id: 'V1' } };
    expect(parsePress(body)).toMatchObject({ workspace: 'T1', person: 'U1', channel: undefined });
    expect(parseActor(body)).toEqual({ workspace: 'T1', person: 'U1' });
  });

  test.for([
    ['a form of a workspace', 'view_submission', 'T3', 'T3'],
    ['a form of an organisation', 'view_submission', 'E3', 'T1'],
    ['a form that says nothing of it', 'view_submission', null, 'T1'],
    ['a press in a view', 'block_actions', 'T3', 'T3'],
  ] as const)('in %s is at the right installation', ([, type, opener, workspace]) => {
    const body = { ...by, type, view: { id: 'V1', app_installed_team_id: opener } };
    expect(parseActor(body)).toEqual({ workspace, person: 'U1' });
  });

  test('in a view of an organisation is in the workspace for which it was made', () => {
    const shown = { id: 'V1', private_metadata: 'T3 {"page":1}', app_installed_team_id: 'E1' };
    const body = { ...press, team: null, is_enterprise_install: true, type: 'block_actions', view: shown };
    expect(parsePress(body)).toMatchObject({ workspace: 'T3', view: { metadata: '{"page":1}' } });
    expect(parseActor({ ...body, is_enterprise_install: false })).toMatchObject({ workspace: 'T2' });
  });

  test("falls back to the person's workspace if Slack names none", () => {
    expect(parseActor({ ...by, team: null })).toEqual({ workspace: 'T2', person: 'U1' });
    expect(parseActor({ team: null, user: { id: 'U1' } })).toBeUndefined();
  });
});
