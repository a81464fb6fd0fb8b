/** A Web API response with `ok: false`; `extra` adds fields to it. */
export class SlackRefusal extends Error {
  readonly code: string;
  readonly extra: Record<string, unknown>;

  constructor(code: string, extra: Record<string, unknown> = {}) {
    super(`Slack refuses the call: ${code}`);
    this.name = 'SlackRefusal';
    this.code = code;
    this.extra = extra;
  }
}

/** A refusal with explanations in `response_metadata`, and those of blocks in `errors` too, as Slack gives them. */
export function explainedRefusal(code: string, messages: string[]): SlackRefusal {
  return new SlackRefusal(code, {
    ...(code === 'invalid_blocks' && { errors: messages }),
    response_metadata: { messages: messages.map((message) => `[ERROR] ${message}`) },
  });
}
