import type { AgentService } from '../agent/agent-service.ts';
import type { Fault } from '../faults.ts';
import type { SlackWorkspace } from '../slack/slack-workspace.ts';
import type { FaultSwitch } from './page-protocol.ts';

interface FaultPlan {
  side: FaultSwitch['side'];
  name: string;
  what: string;
  call: string | RegExp;
  fault: Fault;
}

const RATE_LIMIT_BODY = { error: { type: 'rate_limit_error', message: 'Too many requests' } };
const UNAVAILABLE_BODY = { error: { type: 'unavailable', message: 'The service is down for maintenance' } };

const FAULT_PLANS: Record<string, FaultPlan> = {
  'slack-slow': {
    side: 'slack',
    name: 'Slack is slow',
    what: 'Every call takes 2 s longer.',
    call: /./,
    fault: { kind: 'latency', ms: 2_000 },
  },
  'slack-limits-edits': {
    side: 'slack',
    name: 'Slack limits edits',
    what: 'chat.update is refused with 429; posts still go through.',
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
    name: 'Slack loses answers',
    what: 'Posts take effect, but the bot never hears so. Watch for doubles: there are none.',
    call: 'chat.postMessage',
    fault: { kind: 'lost' },
  },
  'service-slow': {
    side: 'service',
    name: 'The service is slow',
    what: 'Every call takes 3 s longer.',
    call: /./,
    fault: { kind: 'latency', ms: 3_000 },
  },
  'service-limits': {
    side: 'service',
    name: 'The service limits calls',
    what: 'Every call is refused with 429.',
    call: /./,
    fault: { kind: 'status', status: 429, headers: { 'retry-after': '3' }, body: RATE_LIMIT_BODY },
  },
  'service-down': {
    side: 'service',
    name: 'The service is down',
    what: 'Every call is answered with 503, links included.',
    call: /./,
    fault: { kind: 'status', status: 503, body: UNAVAILABLE_BODY },
  },
};

/** The faults that can be switched on and off while the thread is watched. */
export class FaultSwitches {
  readonly #sides: Record<FaultSwitch['side'], Pick<SlackWorkspace | AgentService, 'faults'>>;
  readonly #on = new Map<string, () => void>();

  constructor(slack: SlackWorkspace, agent: AgentService) {
    this.#sides = { slack, service: agent };
  }

  get all(): FaultSwitch[] {
    return Object.entries(FAULT_PLANS).map(([id, { side, name, what }]) => ({
      id,
      side,
      name,
      what,
      on: this.#on.has(id),
    }));
  }

  /** @throws if there is no such fault */
  set(id: string, on: boolean): void {
    const plan = FAULT_PLANS[id];
    if (plan === undefined) throw new Error(`There is no fault ${id}.`);
    this.#on.get(id)?.();
    this.#on.delete(id);
    if (on) this.#on.set(id, this.#sides[plan.side].faults.add({ call: plan.call, fault: plan.fault }));
  }
}
