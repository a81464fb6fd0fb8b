/** A Web API call that Slack answers with `ok: false`; `extra` goes into the answer. */
export class SlackRefusal extends Error {
  readonly code: string;
  readonly extra: Record<string, unknown>;

  constructor(code: string, extra: Record<string, unknown> = {}) {
    super(`Slack refuses: ${code}`);
    this.name = 'Refusal';
    this.code = code;
    this.extra = extra;
  }
}

/** A refusal that says in words what is wrong, in the place where Slack says it. */
export function explainedRefusal(code: string, messages: string[]): SlackRefusal {
  return new SlackRefusal(code, {
    response_metadata: { messages: messages.map((message) => `[ERROR] ${message}`) },
  });
}
