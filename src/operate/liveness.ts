/** When something was last heard, for /readyz. */
export interface LivenessReport {
  /** Of this process; other processes hear other events. */
  lastEventAt: string | null;
  /** That of the settings. */
  service: {
    /** Whether the last try reached it and was not refused for the key; null before the first. */
    ok: boolean | null;
    lastAnswerAt: string | null;
    /** Of the last try; null where no answer came. */
    lastStatus: number | null;
  };
}

/** Signs of life of what the process depends on, noted as they come: a look at /readyz asks nobody. */
export class Liveness {
  #lastEventAt: Date | undefined;
  #lastAnswerAt: Date | undefined;
  #lastAttempt: { status: number | undefined } | undefined;

  recordEvent(): void {
    this.#lastEventAt = new Date();
  }

  /** One try of a call to the service; `status` is undefined where no answer came. */
  recordServiceAttempt({ status }: { status: number | undefined }): void {
    if (status !== undefined) this.#lastAnswerAt = new Date();
    this.#lastAttempt = { status };
  }

  report(): LivenessReport {
    const status = this.#lastAttempt?.status;
    const ok =
      this.#lastAttempt === undefined
        ? null
        : status !== undefined && status < 500 && !REJECTED_STATUSES.has(status);
    return {
      lastEventAt: this.#lastEventAt?.toISOString() ?? null,
      service: { ok, lastAnswerAt: this.#lastAnswerAt?.toISOString() ?? null, lastStatus: status ?? null },
    };
  }
}

const REJECTED_STATUSES = new Set([401, 403]);
