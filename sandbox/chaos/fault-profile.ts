import { type Fault, type FaultRule, Faults } from '../faults.ts';

/** Where a call arrived. */
export const FAULT_TARGETS = ['slack', 'agent'] as const;
export type FaultTarget = (typeof FAULT_TARGETS)[number];

/** Faults that also tell of every call as it arrives, before it is handled. */
export class ObservedFaults extends Faults {
  readonly #onCall: (call: string) => void;

  constructor(random: () => number, onCall: (call: string) => void) {
    super(random);
    this.#onCall = onCall;
  }

  override hit(call: string): Fault | undefined {
    this.#onCall(call);
    return super.hit(call);
  }
}

const RETRY_AFTER_HEADERS = { 'retry-after': '1' };

/** The faults of both services. The first rule that hits a call decides. */
export type FaultProfile = Readonly<Record<FaultTarget, readonly FaultRule[]>>;

const SLACK_FAULTS: readonly FaultRule[] = [
  { call: /^(chat|reactions|conversations|files)\./, fault: { kind: 'lost' }, chance: 0.03 },
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

/** Every kind of fault, at both. */
export const ALL_FAULTS: FaultProfile = { slack: SLACK_FAULTS, agent: AGENT_FAULTS };

/** Tells whoever waits for a kind of call that one has just arrived. */
export class CallNotifier {
  #waiting = new Set<{ place: FaultTarget; call: RegExp; heard: () => void }>();

  /** To be called with every call, as it arrives. */
  notify(place: FaultTarget, call: string): void {
    for (const one of [...this.#waiting]) {
      if (one.place !== place || !one.call.test(call)) continue;
      this.#waiting.delete(one);
      one.heard();
    }
  }

  /** Calls `heard` in the very moment in which such a call arrives; the answer takes it back. */
  onNext(place: FaultTarget, call: RegExp, callback: () => void): () => void {
    const one = { place, call, heard: callback };
    this.#waiting.add(one);
    return () => this.#waiting.delete(one);
  }
}
