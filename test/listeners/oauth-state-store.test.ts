import { describe, expect, test } from 'vitest';
import { OAuthStateRejected, OAuthStateStore } from '../../src/listeners/oauth-state-store.ts';

const options = { scopes: ['chat:write'], redirectUri: 'https://bot.example/slack/oauth_redirect' };
let clock = 1_800_000_000_000;

function states(secretKeys = ['a'.repeat(32)], spent = new Set<string>()): OAuthStateStore {
  const spend = async (state: string) => !spent.has(state) && Boolean(spent.add(state));
  return new OAuthStateStore({ secretKeys, options, markUsed: spend, now: () => clock });
}

async function verdict(ours: OAuthStateStore, state: string): Promise<unknown> {
  return ours.verifyStateParam(new Date(), state).catch((error: unknown) => {
    if (error instanceof OAuthStateRejected) return error.reason;
    throw error;
  });
}

describe('the state of an installation', () => {
  test('is valid once, for the scopes of the settings', async () => {
    const ours = states();
    const state = await ours.generateStateParam({ scopes: ['admin'] }, new Date());
    expect(await verdict(ours, state)).toEqual(options);
    expect(await verdict(ours, state)).toBe('used');
  });

  test('is valid for ten minutes', async () => {
    const ours = states();
    const state = await ours.generateStateParam(options, new Date());
    clock += 10 * 60_000;
    expect(await verdict(ours, state)).toBe('old');
  });

  test('is invalid under another key or if modified, but valid under the previous key', async () => {
    const state = await states().generateStateParam(options, new Date());
    expect(await verdict(states(['b'.repeat(32)]), state)).toBe('forged');
    expect(await verdict(states(['b'.repeat(32), 'a'.repeat(32)]), state)).toEqual(options);
    for (const odd of ['', '.', `x${state}`, `${state}x`, `${state}.x`, state.split('.')[0] ?? ''])
      expect(await verdict(states(), odd)).toBe('forged');
  });
});
