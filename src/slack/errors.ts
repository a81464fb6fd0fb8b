/**
 * What is known about the effect of a call that failed: `none` means that it surely did nothing,
 * `unknown` that it may have taken effect and must be looked up before it is repeated.
 */
export type SlackCallOutcome = 'none' | 'unknown';

/** What an error tells about the call that failed. */
export interface SlackErrorDetails {
  /** Slack's method, such as `chat.update`. */
  method: string;
  /** Slack's own error code, or a short word of ours where Slack gave none. */
  slackCode: string;
  outcome: SlackCallOutcome;
  cause?: unknown;
}

/** Every error that a call at Slack can end with. The message says how to mend it. */
export abstract class SlackError extends Error {
  abstract readonly code: string;
  readonly method: string;
  readonly slackCode: string;
  readonly outcome: SlackCallOutcome;

  constructor(call: SlackErrorDetails, sentence: string) {
    super(`${call.method}: ${call.slackCode}. ${sentence}`, { cause: call.cause });
    this.name = new.target.name;
    this.method = call.method;
    this.slackCode = call.slackCode;
    this.outcome = call.outcome;
  }
}

/** Where Slack asks for a longer pause (ms) it is called again after this; a timer of 25 days or more would not wait at all. */
export const MAX_RETRY_AFTER_MS = 3_600_000;

/** Slack asks us to slow down: a 429, or an `ok:false` that means the same. Nothing was done. */
export class SlackRateLimitError extends SlackError {
  readonly code = 'throttled';
  /** Milliseconds to leave this method of this workspace alone. */
  readonly retryAfterMs: number;

  constructor(call: Omit<SlackErrorDetails, 'outcome'>, askedMs: number) {
    const retryAfterMs = Math.min(askedMs, MAX_RETRY_AFTER_MS);
    super({ ...call, outcome: 'none' }, `Slack asks for a pause of ${retryAfterMs} ms; call again after it.`);
    this.retryAfterMs = retryAfterMs;
  }
}

/** The bot cannot reach or write to this channel or thread. */
export class ChannelGoneError extends SlackError {
  readonly code = 'channel_gone';
}

/** The message (or the thread's root) is not there or cannot be changed any more. */
export class MessageGoneError extends SlackError {
  readonly code = 'message_gone';
}

/** Slack does not take this content: post something shorter or plainer. */
export class PayloadRefusedError extends SlackError {
  readonly code = 'payload_refused';
}

/** The token does not allow the call. */
export class SlackAuthError extends SlackError {
  readonly code = 'unauthorized';
  /** False where only a scope is missing: other calls of the installation still work. */
  readonly isInstallationDead: boolean;
  /** The scopes that Slack asked for, comma-separated; only with `missing_scope`. */
  readonly neededScopes: string | undefined;

  constructor(
    call: SlackErrorDetails,
    sentence: string,
    options: { dead: boolean; needed?: string | undefined },
  ) {
    super(call, sentence);
    this.isInstallationDead = options.dead;
    this.neededScopes = options.needed;
  }
}

/** The network or Slack itself failed, and may work again soon. */
export class SlackUnavailableError extends SlackError {
  readonly code = 'unavailable';
}

/** The turn's lease ended: another process may be at it already. */
export class SlackLeaseError extends SlackError {
  readonly code = 'lease_ended';

  constructor(call: Omit<SlackErrorDetails, 'slackCode'>) {
    super(
      { ...call, slackCode: 'lease_ended' },
      call.outcome === 'none'
        ? 'Nothing was sent; leave the turn to the process that holds it now.'
        : 'It was cut off on its way; the process that holds the turn now must look up what came of it.',
    );
  }
}

/** Slack says no for a reason that is none of the others. */
export class SlackRefusedError extends SlackError {
  readonly code = 'refused';
}

/** Whether Slack's no stays the same for a while, though other calls of the installation work. */
export function isLastingRefusal(error: unknown): boolean {
  return error instanceof SlackRefusedError || (error instanceof SlackAuthError && !error.isInstallationDead);
}

/** Why a file that people shared cannot be read. */
export type FileRefusalReason =
  | 'missing_scope'
  | 'external'
  | 'deleted'
  | 'hidden_by_plan'
  | 'too_large'
  | 'empty'
  | 'canvas'
  | 'list'
  | 'post'
  | 'not_a_file'
  | 'access_denied'
  | 'processing'
  | 'broken_off'
  | 'changed'
  | 'other_host';

const FILE_REFUSAL_SENTENCES: Record<FileRefusalReason, string> = {
  missing_scope: 'Slack showed its sign-in page: add the files:read scope and install the app again.',
  external: 'The file lies with another service; share the file itself instead of a link to it.',
  deleted: 'The file was deleted; share it again.',
  hidden_by_plan: "The workspace's plan hides this file; share it again.",
  too_large: 'The file is larger than the bot accepts; share a smaller one.',
  empty: 'The file is empty.',
  canvas: 'Slack hands out no canvas; export it and share the export.',
  list: 'Slack hands out no list; export it and share the export.',
  post: 'Slack hands out no post; share its text as a file.',
  not_a_file: 'It cannot be downloaded; export it and share the export.',
  access_denied: 'The bot may not open this file; share it in this thread.',
  processing: 'Slack is still working on the file; try again in a moment.',
  broken_off: 'The download broke off; open it again from the byte that is missing.',
  changed: 'The file is not as large as Slack said; ask files.info again and start over.',
  other_host: "The file's address is not at Slack, so the token was not sent there.",
};

/** A shared file that cannot be read, and why. */
export class FileRefusedError extends SlackError {
  readonly code = 'file_refused';
  readonly reason: FileRefusalReason;
  readonly fileId: string;

  constructor(fileId: string, reason: FileRefusalReason, cause?: unknown) {
    super(
      { method: `download of ${fileId}`, slackCode: reason, outcome: 'none', cause },
      FILE_REFUSAL_SENTENCES[reason],
    );
    this.reason = reason;
    this.fileId = fileId;
  }
}
