import type { Logger } from 'pino';

/** Which credential a gate watches, and how. */
export interface CredentialGateOptions {
  /** The setting that holds the credential, for the operator. */
  setting: string;
  log: Logger;
  /** How often (ms) one call tries a refused credential again; 10 s when left out. */
  probeMs?: number;
  /** Milliseconds of a clock that never goes back. */
  now?: () => number;
}

/**
 * Stops calls with a credential that was refused: none leaves but one every `probeMs`, until one is accepted.
 * The operator is told once, and once more when it works again.
 */
export class CredentialGate {
  readonly setting: string;
  readonly #log: Logger;
  readonly #probeMs: number;
  readonly #now: () => number;
  #refusal: { error: Error; since: Date; nextProbe: number } | undefined;

  constructor({ setting, log, probeMs = 10_000, now = () => performance.now() }: CredentialGateOptions) {
    this.setting = setting;
    this.#log = log;
    this.#probeMs = probeMs;
    this.#now = now;
  }

  /** When the credential was refused; undefined while it is good. */
  get refusedSince(): Date | undefined {
    return this.#refusal?.since;
  }

  /** To be called before each call; throws the refusal where it must not be made. */
  enter(): void {
    if (this.#refusal === undefined) return;
    if (this.#now() < this.#refusal.nextProbe) throw this.#refusal.error;
    this.#refusal.nextProbe = this.#now() + this.#probeMs;
  }

  /** A call was answered that the credential is not good. */
  refused(error: Error): void {
    if (this.#refusal === undefined) {
      this.#log.error(
        { err: error, setting: this.setting },
        `${this.setting} is not accepted any more: no call is made with it but one every ${this.#probeMs / 1_000} s, until it is mended`,
      );
      this.#refusal = { error, since: new Date(), nextProbe: this.#now() + this.#probeMs };
    } else {
      this.#refusal.error = error;
    }
  }

  /** A call was answered in any other way. */
  accepted(): void {
    if (this.#refusal === undefined) return;
    this.#refusal = undefined;
    this.#log.info({ setting: this.setting }, `${this.setting} is accepted again`);
  }
}
