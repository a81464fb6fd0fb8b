import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import { CredentialGate } from '../../../src/calls/credential-gate.ts';
import { createWorkspaceClient, type WorkspaceClient } from '../../../src/relay/runtime/deps.ts';
import { ScriptedSlack } from '../../support/scripted-slack.ts';
import { silentLog as log } from '../../support/silent-log.ts';
import { installation } from '../../support/slack-installation.ts';

/** What an active workspace may take beside what the bot knows of it. */
const MAX_BYTES = 20_000;
const WORKSPACES = 100;

setFlagsFromString('--expose-gc');
const collectGarbage: unknown = runInNewContext('gc');

function usedBytes(): number {
  if (typeof collectGarbage === 'function') collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

test('a workspace that is used takes little memory beside what is known of it', async () => {
  const slack = await new ScriptedSlack().start();
  onTestFinished(() => slack.stop());
  for (const method of ['chat.postMessage', 'chat.postEphemeral', 'reactions.add', 'reactions.remove'])
    slack.on(method, { body: { ok: true, ts: '1.000001', message_ts: '1.000001' } });
  const options = {
    ...{ slackApiUrl: slack.apiUrl, isDistributed: false, editsPerMinute: 50, log },
    ...{ showAgentSessions: true, maxFileBytes: 1, onEdit: () => undefined },
    rateLimitStore: { take: async () => 0, pause: async () => undefined },
  };
  const use = async (at: number): Promise<WorkspaceClient> => {
    const gate = new CredentialGate({ setting: 'SLACK_BOT_TOKEN', workspace: `T${at}`, log });
    const workspace = createWorkspaceClient({ ...installation, workspace: `T${at}` }, options, gate);
    const message = { channel: 'C1', threadTs: undefined, message: { text: 'a' } };
    await workspace.posting.post({ ...message, key: `${at}`, kind: 'first' });
    await workspace.posting.postEphemeral({ ...message, user: 'U1' });
    const reaction = { channel: 'C1', ts: '1.000001', name: 'eyes' };
    expect(await workspace.posting.addReaction(reaction)).toBe('done');
    expect(await workspace.posting.removeReaction(reaction)).toBe('done');
    return workspace;
  };
  const kept: WorkspaceClient[] = [];
  const useMany = async () => {
    for (let at = 0; at < WORKSPACES; at += 1) kept.push(await use(kept.length));
    expect(slack.calls).toHaveLength(4 * WORKSPACES);
    slack.calls.length = 0;
    return usedBytes();
  };
  // What all share is there after the first ones.
  const before = await useMany();
  expect(((await useMany()) - before) / WORKSPACES).toBeLessThan(MAX_BYTES);
  expect(kept).toHaveLength(2 * WORKSPACES);
});
