import { type Fault, type FaultRule, Faults } from '../faults.ts';

/** The two services whose calls can fail. */
export const FAULT_TARGETS = ['slack', 'agent'] as const;
export type FaultTarget = (typeof FAULT_TARGETS)[number];

const RETRY_AFTER_HEADERS = { 'retry-after': '1' };

/** The faults of both services. The first rule that matches a call applies. */
export type FaultProfile = Readonly<Record<FaultTarget, readonly FaultRule[]>>;

const SLACK_FAULTS: readonly FaultRule[] = [
  { call: /^(chat|reactions|conversations|files|functions)\./, fault: { kind: 'lost' }, chance: 0.03 },
  { call: /./, fault: { kind: 'cut' }, chance: 0.02 },
  { call: /./, fault: { kind: 'status', status: 503 }, chance: 0.02 },
  {
    call: /^(chat|reactions|conversations)\./,
    fault: {
      kind: 'status',
      status: 429,
      headers: RETRY_AFTER_HEADERS,
      body: { ok: false, error: 'ratelimited' },
    },
    chance: 0.01,
  },
  { call: /./, fault: { kind: 'latency', ms: 250 }, chance: 0.08 },
  { call: /./, fault: { kind: 'latency', ms: 40 }, chance: 0.3 },
];

const AGENT_FAULTS: readonly FaultRule[] = [
  { call: /^(POST|PUT)/, fault: { kind: 'lost' }, chance: 0.05 },
  { call: /./, fault: { kind: 'cut' }, chance: 0.02 },
  { call: /./, fault: { kind: 'status', status: 503 }, chance: 0.02 },
  { call: /./, fault: { kind: 'status', status: 500 }, chance: 0.01 },
  {
    call: /^(GET|POST) /,
    fault: { kind: 'status', status: 429, headers: RETRY_AFTER_HEADERS },
    chance: 0.01,
  },
  { call: /./, fault: { kind: 'latency', ms: 400 }, chance: 0.06 },
  { call: /./, fault: { kind: 'latency', ms: 60 }, chance: 0.3 },
];

/** Every kind of fault, and now and then a call to the agent service that takes up to so many seconds. */
export function withDelays(seconds: number): FaultProfile {
  const delay = (share: number, chance: number): FaultRule => ({
    call: /./,
    fault: { kind: 'latency', ms: seconds * share * 1_000 },
    chance,
  });
  return { slack: SLACK_FAULTS, agent: [...AGENT_FAULTS, delay(1, 0.004), delay(0.3, 0.01)] };
}

/** Every kind of fault, at both services. */
export const ALL_FAULTS: FaultProfile = { slack: SLACK_FAULTS, agent: AGENT_FAULTS };

/** Faults that also report every call as it arrives, before the service handles it. */
export class ObservedFaults extends Faults {
  readonly #onCall: (call: string, subject: () => string) => void;

  constructor(random: () => number, onCall: (call: string, subject: () => string) => void) {
    super(random);
    this.#onCall = onCall;
  }

  override hit(call: string, subject: () => string = () => ''): Fault | undefined {
    this.#onCall(call, subject);
    return super.hit(call, subject);
  }
}

/** Reports the next call of a kind at the moment it arrives, before the service handles it. */
export class CallNotifier {
  #waiting = new Set<{ target: FaultTarget; call: RegExp; callback: () => void }>();

  /** Must run for every call as it arrives. */
  notify(target: FaultTarget, call: string): void {
    for (const one of [...this.#waiting]) {
      if (one.target !== target || !one.call.test(call)) continue;
      this.#waiting.delete(one);
      one.callback();
    }
  }

  /** Runs `callback` once, when a matching call arrives. The returned function unsubscribes. */
  onNext(target: FaultTarget, call: RegExp, callback: () => void): () => void {
    const one = { target, call, callback };
    this.#waiting.add(one);
    return () => this.#waiting.delete(one);
  }
}
