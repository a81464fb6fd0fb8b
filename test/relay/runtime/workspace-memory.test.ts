import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { CredentialGate } from '../../../src/calls/credential-gate.ts';
import { createWorkspaceClient } from '../../../src/relay/runtime/deps.ts';
import { InMemoryRateLimits } from '../../support/in-memory-rate-limits.ts';
import { silentLog as log } from '../../support/silent-log.ts';
import { installation } from '../../support/slack-installation.ts';

/** What an active workspace may take beside what the bot knows of it. */
const MAX_BYTES = 20_000;
const WORKSPACES = 300;

setFlagsFromString('--expose-gc');
const collectGarbage: unknown = runInNewContext('gc');

function usedBytes(): number {
  if (typeof collectGarbage === 'function') collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

test('a workspace of which nothing is known yet takes little memory', () => {
  const options = {
    ...{ slackApiUrl: 'http://127.0.0.1:1/', rateLimitStore: new InMemoryRateLimits(), log },
    ...{ isDistributed: false, editsPerMinute: 50, showAgentSessions: true, maxFileBytes: 1 },
    onEdit: () => undefined,
  };
  const open = (at: number) =>
    createWorkspaceClient(
      { ...installation, workspace: `T${at}` },
      options,
      new CredentialGate({ setting: 'SLACK_BOT_TOKEN', workspace: `T${at}`, log }),
    );
  const kept = [open(0)];
  const before = usedBytes();
  for (let at = 1; at <= WORKSPACES; at += 1) kept.push(open(at));
  expect((usedBytes() - before) / WORKSPACES).toBeLessThan(MAX_BYTES);
  expect(kept).toHaveLength(WORKSPACES + 1);
});
