import { expect, test } from 'vitest';
import type { AgentScript } from '../../../sandbox/agent/agent-script.ts';
import { openMultiWorkspaceScene } from '../../support/multi-workspace-scene.ts';

const apiKey = 'workspace-key-of-one';
const RUNS = 4;
/** As much as four runs of a workspace may hold together, and then more than one of them could grow by. */
const FIRST_CHARACTERS = 4_000_000;
const FURTHER_CHARACTERS = 1_000_000;

const { promise: grow, resolve: letGrow } = Promise.withResolvers<void>();

const script: AgentScript = async (turn) => {
  const number = /run (\d)/.exec(turn.text)?.[1] ?? '';
  const say = (characters: number, id: string) => {
    turn.block({ type: 'tool_use', id, name: 'search', input: { query: `step ${id}` } });
    turn.block({ type: 'tool_result', tool_use_id: id, content: 'x'.repeat(characters) });
  };
  say(FIRST_CHARACTERS, 'a');
  await grow;
  say(FURTHER_CHARACTERS, 'b');
  turn.write(`The answer of run ${number}.`);
};

const tenants = await openMultiWorkspaceScene({
  agent: { apiKeys: { [apiKey]: 'one' }, script },
  settings: { AGENT_BASE_URL: '', AGENT_API_KEY: '', PRIVATE_HOSTS: '127.0.0.1', ACCOUNT_HOSTS: '127.0.0.1' },
});
const { scene } = tenants;

test('four replies of a workspace with 5 MB of tool output each arrive', async ({ onTestFinished }) => {
  // Those of a failed attempt would leave no room for others.
  onTestFinished(() => letGrow());
  const boss = scene.slack.createPerson({ name: 'boss', teamId: 'T1', admin: true });
  await tenants.setAccount(boss, scene.agent.url, apiKey);
  const place = tenants.personAndChannel('T1');
  const roots = Array.from({ length: RUNS }, (_, at) => tenants.ask(place, `run ${at}`));
  await scene.until('each thread shows its first step', () =>
    roots.every((root) => tenants.shown(root).includes('1 step done')),
  );
  letGrow();
  for (const [at, root] of roots.entries()) {
    await scene.finished(place.channel, root);
    expect(tenants.shown(root)).toContain(`The answer of run ${at}.`);
  }
});
