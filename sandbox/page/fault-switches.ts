import type { AgentService } from '../agent/agent-service.ts';
import type { Fault } from '../faults.ts';
import type { RegistryService } from '../registry-service.ts';
import type { SlackWorkspace } from '../slack/slack-workspace.ts';
import type { FaultSwitch } from './page-protocol.ts';

interface FaultPlan {
  side: FaultSwitch['side'];
  name: string;
  description: string;
  call: string | RegExp;
  fault: Fault;
}

const RATE_LIMIT_BODY = { error: { type: 'rate_limit_error', message: 'Too many requests' } };
const UNAVAILABLE_BODY = { error: { type: 'unavailable', message: 'The service is down for maintenance' } };

const FAULT_PLANS: Record<string, FaultPlan> = {
  'slack-slow': {
    side: 'slack',
    name: 'Slack is slow',
    description: 'Every call takes 2 s longer.',
    call: /./,
    fault: { kind: 'latency', ms: 2_000 },
  },
  'slack-limits-edits': {
    side: 'slack',
    name: 'Slack limits edits',
    description: 'chat.update is refused with 429; posts still go through.',
    call: 'chat.update',
    fault: {
      kind: 'status',
      status: 429,
      headers: { 'retry-after': '5' },
      body: { ok: false, error: 'ratelimited' },
    },
  },
  'slack-loses-answers': {
    side: 'slack',
    name: 'Slack loses responses',
    description: 'Posts take effect, but the bot gets no response. It still posts nothing twice.',
    call: 'chat.postMessage',
    fault: { kind: 'lost' },
  },
  'service-slow': {
    side: 'service',
    name: 'The service is slow',
    description: 'Every call takes 3 s longer.',
    call: /./,
    fault: { kind: 'latency', ms: 3_000 },
  },
  'service-limits': {
    side: 'service',
    name: 'The service limits calls',
    description: 'Every call is refused with 429.',
    call: /./,
    fault: { kind: 'status', status: 429, headers: { 'retry-after': '3' }, body: RATE_LIMIT_BODY },
  },
  'service-down': {
    side: 'service',
    name: 'The service is down',
    description: 'Every call fails with 503, including download links.',
    call: /./,
    fault: { kind: 'status', status: 503, body: UNAVAILABLE_BODY },
  },
  'registries-down': {
    side: 'registry',
    name: 'The registries are down',
    description: 'Crossref and PubMed fail with 503. What they have said before still counts.',
    call: /./,
    fault: { kind: 'status', status: 503 },
  },
};

/** Not a fault: another way in which the agent answers. */
const PAPERS = {
  id: 'agent-papers',
  side: 'service',
  name: 'The agent writes papers',
  description: 'Every answer has formulas, a figure, references, a long and a wide table.',
} as const;

/** The faults that people can switch on and off on the page, and the agent's way of answering. */
export class FaultSwitches {
  readonly #sides: Record<FaultSwitch['side'], Pick<SlackWorkspace, 'faults'> | undefined>;
  readonly #on = new Map<string, () => void>();
  readonly #habits: AgentService['habits'];

  constructor(slack: SlackWorkspace, agent: AgentService, registry: RegistryService | undefined) {
    this.#sides = { slack, service: agent, registry };
    this.#habits = agent.habits;
  }

  get all(): FaultSwitch[] {
    const faults = Object.entries(FAULT_PLANS).map(([id, { side, name, description }]) => ({
      id,
      side,
      name,
      description,
      on: this.#on.has(id),
    }));
    return [...faults, { ...PAPERS, on: this.#habits.writesPapers }];
  }

  /** @throws if there is no such fault */
  set(id: string, on: boolean): void {
    if (id === PAPERS.id) {
      this.#habits.writesPapers = on;
      return;
    }
    const plan = FAULT_PLANS[id];
    if (plan === undefined) throw new Error(`There is no fault ${id}.`);
    this.#on.get(id)?.();
    this.#on.delete(id);
    const faults = on ? this.#sides[plan.side]?.faults : undefined;
    if (faults !== undefined) this.#on.set(id, faults.add({ call: plan.call, fault: plan.fault }));
  }
}
