/** What a failure means, for operators. */
const MEANINGS = {
  rate_limited: 'asks for fewer calls; the pause ends by itself.',
  unavailable: 'did not answer; it is asked again later.',
  refused: 'refused a request.',
  not_understood: 'answered in another shape than documented. Update Taskthread.',
};

/** Any failure of a call to a registry. It costs nobody anything: what it is about stays unchecked. */
export class RegistryError extends Error {
  readonly code: keyof typeof MEANINGS;

  /** The message names no id, and nothing that the registry said. */
  constructor(code: keyof typeof MEANINGS, registry: string) {
    super(`${registry} ${MEANINGS[code]}`);
    this.name = 'RegistryError';
    this.code = code;
  }
}
