import { type Fault, Faults } from '../faults.ts';
import type { FaultTarget } from './fault-profile.ts';

/** Faults that also report every call as it arrives, before the service handles it. */
export class ObservedFaults extends Faults {
  readonly #onCall: (call: string) => void;

  constructor(random: () => number, onCall: (call: string) => void) {
    super(random);
    this.#onCall = onCall;
  }

  override hit(call: string, subject?: () => string): Fault | undefined {
    this.#onCall(call);
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
