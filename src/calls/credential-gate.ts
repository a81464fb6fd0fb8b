import type { Logger } from 'pino';

export interface CredentialGateOptions {
  /** The setting with the credential, for the log. */
  setting: string;
  /** Whose credential it is; undefined: the operator's. */
  workspace?: string | undefined;
  log: Logger;
  /** How often one call may try a rejected credential again (ms); by default 10 s. */
  probeMs?: number | undefined;
}

/** Stops calls with a rejected credential, except one every `probeMs`, until one is accepted. Logs both changes. */
export class CredentialGate {
  readonly setting: string;
  readonly #log: Logger;
  readonly #probeMs: number;
  #refusal: { error: Error; since: Date; nextProbe: number } | undefined;

  constructor(options: CredentialGateOptions) {
    const { setting, workspace, log, probeMs = 10_000 } = options;
    this.setting = workspace === undefined ? setting : `${setting} of ${workspace}`;
    this.#log = log;
    this.#probeMs = probeMs;
  }

  /** When the credential was rejected; undefined while it works. */
  get refusedSince(): Date | undefined {
    return this.#refusal?.since;
  }

  /** Called before each call; throws the rejection if the call must not be made. */
  enter(): void {
    if (this.#refusal === undefined) return;
    if (performance.now() < this.#refusal.nextProbe) throw this.#refusal.error;
    this.#refusal.nextProbe = performance.now() + this.#probeMs;
  }

  /** The response to a call was that the credential is invalid. */
  refused(error: Error): void {
    if (this.#refusal === undefined) {
      this.#log.error(
        { reason: error.message, setting: this.setting },
        `${this.setting} is not accepted; trying one call every ${this.#probeMs / 1_000} s until it is replaced`,
      );
      this.#refusal = { error, since: new Date(), nextProbe: performance.now() + this.#probeMs };
    } else {
      this.#refusal.error = error;
    }
  }

  /** A call got any other response. */
  accepted(): void {
    if (this.#refusal === undefined) return;
    this.#refusal = undefined;
    this.#log.info({ setting: this.setting }, `${this.setting} is accepted again`);
  }
}

/** What a call needs of its gate. */
export type CallGate = Pick<CredentialGate, 'enter' | 'refused' | 'accepted'>;
