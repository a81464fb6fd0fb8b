/** When something was last heard, for /readyz. */
export interface PulseReport {
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
export class Pulse {
  #lastEventAt: Date | undefined;
  #lastAnswerAt: Date | undefined;
  #last: { status: number | undefined } | undefined;

  event(): void {
    this.#lastEventAt = new Date();
  }

  /** One try of a call to the service; `status` is undefined where no answer came. */
  serviceTry({ status }: { status: number | undefined }): void {
    if (status !== undefined) this.#lastAnswerAt = new Date();
    this.#last = { status };
  }

  report(): PulseReport {
    const status = this.#last?.status;
    const ok = this.#last === undefined ? null : status !== undefined && status < 500 && !refused.has(status);
    return {
      lastEventAt: this.#lastEventAt?.toISOString() ?? null,
      service: { ok, lastAnswerAt: this.#lastAnswerAt?.toISOString() ?? null, lastStatus: status ?? null },
    };
  }
}

const refused = new Set([401, 403]);
