import { sql } from 'kysely';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { JOB_KIND } from '../../../src/store/jobs/jobs.ts';
import { SETTINGS_ACCOUNT } from '../../../src/store/workspaces/accounts.ts';
import { openMultiWorkspaceScene } from '../../support/multi-workspace-scene.ts';
import { WorkflowStepScene } from '../../support/workflow-step-scene.ts';

const said: string[] = [];
const log = pino({ level: 'warn' }, { write: (line) => void said.push(line) });
const tenants = await openMultiWorkspaceScene({ log });
const { scene, slack } = tenants;
const ours = tenants.personAndChannel('T1');
const theirs = tenants.personAndChannel('T2');
const AN_HOUR = { 'retry-after': '3600' };

const completions = () => slack.calls.filter(({ method }) => method === 'functions.completeSuccess').length;

describe('what one workspace cannot do for an hour delays no other', () => {
  test('neither a step of a workflow', async () => {
    const workflows = new WorkflowStepScene(scene);
    const fault = { kind: 'status', status: 429, headers: AN_HOUR } as const;
    slack.faults.add({ call: 'functions.completeSuccess', times: 1, fault });
    const executions = [];
    for (const { channel } of [ours, theirs]) {
      await workflows.allow(channel, true);
      const inputs = { channel: channel.id, question: 'Any news?' };
      executions.push(slack.steps.run(tenants.team(channel.teamId), 'ask_agent', inputs));
      // It hits the first one.
      await scene.until('Slack was asked', () => completions() > 0);
    }
    const [stuck, other] = executions;
    await scene.until('the other step is over', () => other?.state === 'succeeded');
    expect(stuck?.state).toBe('running');
  });
});

test('a workspace whose tokens cannot be decrypted waits for them, and no other waits', async () => {
  const store = () => scene.sandbox.bot.store;
  const setTokens = (tokens: string) =>
    sql`update installations set encrypted_tokens = ${tokens}, change_seq = nextval('installation_change_seq')
      where workspace = 'T2'`.execute(store().db);
  const isCounted = (count: number) => async () =>
    (await (await tenants.fetch('/metrics')).text()).includes(`_refused{kind="token"} ${count}`);
  const linesOf = (workspace: string, msg: string) =>
    said.filter((line) => line.includes(`"workspace":"${workspace}"`) && line.includes(msg));
  const { encrypted_tokens: tokens } = (await store().installations.get('T2')) ?? {};
  await setTokens('spoiled');
  await scene.until('it is counted', isCounted(1));
  expect(linesOf('T2', 'decrypting the tokens')).toHaveLength(1);

  /** A message that a process recorded before it ended. */
  const leaveWaiting = async ({ person, channel }: typeof ours) => {
    const said = slack.say({ person, channel, text: 'a question that waits' });
    const { teamId: workspace, ts, text } = said;
    const thread = { workspace, channel: channel.id, thread_ts: ts };
    await store().threads.adopt(thread, { account_id: SETTINGS_ACCOUNT, user_id: person.id, ts });
    const words = { state: 'waiting', content: { text }, edited_ts: null } as const;
    await store().messages.add({ ...thread, ts }, { thread_ts: ts, user_id: person.id, ...words });
    await store().jobs.want({ ...thread, kind: JOB_KIND.turn, key: '' });
    return { ends: () => scene.finished(channel, said), now: () => store().messages.get({ ...thread, ts }) };
  };
  const [answered, waiting] = [await leaveWaiting(ours), await leaveWaiting(theirs)];
  await answered.ends();
  expect(await waiting.now()).toMatchObject({ state: 'waiting' });

  await setTokens(tokens ?? '');
  await scene.until('its tokens are read', isCounted(0));
  await waiting.ends();
});
