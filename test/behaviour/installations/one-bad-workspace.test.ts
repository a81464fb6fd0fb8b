import { describe, expect, test } from 'vitest';
import { openMultiWorkspaceScene } from '../../support/multi-workspace-scene.ts';
import { WorkflowStepScene } from '../../support/workflow-step-scene.ts';

const tenants = await openMultiWorkspaceScene();
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
