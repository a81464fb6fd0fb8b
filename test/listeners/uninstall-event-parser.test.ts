import { describe, expect, test } from 'vitest';
import { parseUninstallEvent } from '../../src/listeners/uninstall-event-parser.ts';

const envelope = (event: Record<string, unknown>, more: Record<string, unknown> = {}) => ({
  type: 'event_callback',
  team_id: 'T1',
  event_time: 1_800_000_000,
  event,
  ...more,
});
const at = new Date(1_800_000_000_000);

describe('an event about the end of an installation', () => {
  test('names the workspace, and whether the token of the bot is revoked', () => {
    expect(parseUninstallEvent(envelope({ type: 'app_uninstalled' }))).toEqual({
      kind: 'uninstalled',
      workspace: 'T1',
      organisation: undefined,
      at,
    });
    expect(
      parseUninstallEvent(envelope({ type: 'tokens_revoked', tokens: { oauth: ['U1'], bot: ['U2'] } })),
    ).toEqual({
      kind: 'revoked',
      workspace: 'T1',
      organisation: undefined,
      at,
    });
  });

  test('names the organisation if it covers all of its workspaces', () => {
    const ofAll = { authorizations: [{ enterprise_id: 'E1', team_id: 'T1', is_enterprise_install: true }] };
    const departure = parseUninstallEvent(envelope({ type: 'app_uninstalled' }, ofAll));
    expect(departure).toMatchObject({ workspace: undefined, organisation: 'E1' });
    const revoked = parseUninstallEvent(
      envelope({ type: 'team_access_revoked', team_ids: ['T1', 'T2'] }, ofAll),
    );
    expect(revoked).toMatchObject({ kind: 'access_revoked', organisation: 'E1', from: ['T1', 'T2'] });
    const granted = parseUninstallEvent(envelope({ type: 'team_access_granted', team_ids: ['T1'] }, ofAll));
    expect(granted).toMatchObject({ kind: 'access_granted', organisation: 'E1', to: ['T1'] });
  });

  test('ignores every other event', () => {
    for (const other of [
      envelope({ type: 'message', channel: 'C1' }),
      envelope({ type: 'tokens_revoked' }),
      envelope({ type: 'tokens_revoked', tokens: { oauth: ['U1'] } }),
      { type: 'block_actions' },
      undefined,
    ])
      expect(parseUninstallEvent(other)).toBeUndefined();
  });
});
