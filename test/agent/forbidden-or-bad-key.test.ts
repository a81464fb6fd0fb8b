import { afterEach, describe, expect, test, vi } from 'vitest';
import { AgentError, AgentRejectedError } from '../../src/agent/errors.ts';
import { KeyCheck } from '../../src/agent/forbidden-or-bad-key.ts';

const lasting = new AbortController().signal;
const forbidden = () =>
  new AgentRejectedError({ sentence: 'No.', outcome: 'refused', status: 403, reason: '' }, 'forbidden');
const refused = new AgentError('bad_key', { sentence: 'No key.', outcome: 'refused', status: 401 });
const down = new AgentError('unavailable', { sentence: 'Down.', outcome: 'unknown' });

function setUp() {
  let now = 1_000_000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const tryKey = vi.fn<() => Promise<unknown>>(async () => undefined);
  const gate = {
    enter: vi.fn<() => void>(),
    refused: vi.fn<(error: AgentError) => void>(),
    accepted: vi.fn<() => void>(),
  };
  let lastSuccessAt = 0;
  return {
    check: new KeyCheck(
      {
        tryKey,
        get lastSuccessAt() {
          return lastSuccessAt;
        },
      },
      gate,
    ),
    tryKey,
    gate,
    wait: (ms: number) => {
      now += ms;
    },
    succeed: () => {
      lastSuccessAt = now + 1;
    },
  };
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a 403', () => {
  test('is about the call where the key is valid', async () => {
    const { check, gate } = setUp();
    const refusal = forbidden();
    expect(await check.explain(refusal, lasting)).toBe(refusal);
    expect(gate.refused).not.toHaveBeenCalled();
    expect(gate.accepted).toHaveBeenCalledOnce();
  });

  test('is about the key where the key is refused for another call', async () => {
    const { check, gate, tryKey } = setUp();
    tryKey.mockRejectedValue(refused);
    const error = await check.explain(forbidden(), lasting);
    expect(error).toMatchObject({ code: 'bad_key', status: 403 });
    expect(gate.refused).toHaveBeenCalledWith(error);
  });

  test('is about the call where another call succeeds meanwhile, although that one is refused, too', async () => {
    const { check, gate, tryKey, succeed } = setUp();
    tryKey.mockImplementation(async () => {
      succeed();
      throw refused;
    });
    const refusal = forbidden();
    expect(await check.explain(refusal, lasting)).toBe(refusal);
    expect(gate.refused).not.toHaveBeenCalled();
  });

  test('is about neither while the service does not tell, unless other calls succeed', async () => {
    const { check, gate, tryKey, succeed, wait } = setUp();
    tryKey.mockRejectedValue(down);
    expect(await check.explain(forbidden(), lasting)).toMatchObject({ code: 'unavailable', status: 403 });
    expect(gate.refused).not.toHaveBeenCalled();
    succeed();
    expect(await check.explain(forbidden(), lasting)).toMatchObject({ kind: 'forbidden' });
    wait(20_000);
    expect(await check.explain(forbidden(), lasting)).toMatchObject({ code: 'unavailable' });
  });
});

describe('the key', () => {
  test('is tried once for several refusals, and not again within 10 s', async () => {
    const { check, tryKey, wait } = setUp();
    await Promise.all([forbidden(), forbidden()].map((error) => check.explain(error, lasting)));
    wait(500);
    await check.explain(forbidden(), lasting);
    wait(9_000);
    const stopped = new AbortController();
    const waiting = check.explain(forbidden(), stopped.signal);
    stopped.abort();
    expect(await waiting).toMatchObject({ code: 'aborted', status: 403 });
    expect(tryKey).toHaveBeenCalledOnce();
    wait(600);
    tryKey.mockRejectedValue(refused);
    expect(await check.explain(forbidden(), lasting)).toMatchObject({ code: 'bad_key' });
    expect(tryKey).toHaveBeenCalledTimes(2);
  });
});
