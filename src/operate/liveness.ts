/** The last signs of life of what the process depends on, recorded as they come: /readyz itself makes no calls. */
export class Liveness {
  #lastEventAt: Date | undefined;
  #lastAnswerAt: Date | undefined;
  #lastAttempt: { status: number | undefined } | undefined;

  recordEvent(): void {
    this.#lastEventAt = new Date();
  }

  /** Records an attempt of a call to the service; `status` is undefined if there was no response. */
  recordServiceAttempt({ status }: { status: number | undefined }): void {
    if (status !== undefined) this.#lastAnswerAt = new Date();
    this.#lastAttempt = { status };
  }

  /** In this process. The service is that of the settings; `ok` is null before the first attempt. */
  report() {
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
