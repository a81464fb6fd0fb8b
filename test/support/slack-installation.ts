import type { LeaseGuard } from '../../src/calls/retries-and-waits.ts';
import type { Installation } from '../../src/slack/slack-client.ts';

export const installation: Installation = {
  workspace: 'T1',
  token: 'xoxb-test-token',
  botUser: 'UBOT',
  botId: 'BBOT',
};

/** A lease with so many ms left; `lose` ends it. */
export function lease(ms: number): LeaseGuard & { lose(): void } {
  const controller = new AbortController();
  const end = performance.now() + ms;
  return {
    signal: controller.signal,
    remainingMs: () => end - performance.now(),
    lose: () => controller.abort(new Error('Another process has the turn.')),
  };
}
