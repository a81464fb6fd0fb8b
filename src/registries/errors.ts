/** What a failure means, for operators. */
const MEANINGS = {
  /** 429, 403, NCBI's sentence about its limit, or no permit in time. */
  rate_limited: 'asks for fewer calls; the pause ends by itself.',
  /** 5xx, a broken connection or no answer in time. */
  unavailable: 'did not answer; it is asked again later.',
  /** Any other status. */
  refused: 'refused a request.',
  /** No JSON, or not of the documented shape. */
  not_understood: 'answered in another shape than documented. Update Taskthread.',
};

/** Any failure of a call to a registry. It costs nobody anything: what it is about stays unchecked. */
export class RegistryError extends Error {
  readonly code: keyof typeof MEANINGS;

  /** The message names no id, and nothing that the registry said. */
  constructor(code: keyof typeof MEANINGS, registry: string, cause?: unknown) {
    super(`${registry} ${MEANINGS[code]}`, cause === undefined ? undefined : { cause });
    this.name = 'RegistryError';
    this.code = code;
  }
}
