import { sampleTable } from '../sample-table.ts';
import { type Fields, isFields } from '../slack/model.ts';
import type { SlackWorkspace } from '../slack/slack-workspace.ts';
import type { BrowserUploads } from './browser-uploads.ts';
import type { ActionResult } from './page-protocol.ts';
import type { ParsedUserAction } from './user-action.ts';

const SAMPLE_SEED = 18;
const SAMPLE_BYTES = 400_000;
let cachedSample: Buffer | undefined;

/** The sample table of the welcome section, the same every time. */
export function sampleFile(): { name: string; bytes: Buffer } {
  cachedSample ??= sampleTable(SAMPLE_SEED, SAMPLE_BYTES).csv;
  return { name: 'run-18.csv', bytes: cachedSample };
}

const NOT_ACKNOWLEDGED = 'The app did not respond within 3 seconds. Slack would now show a warning.';

/** Performs people's actions in the workspace. */
export class ActionExecutor {
  readonly #slack: SlackWorkspace;
  readonly #uploads: BrowserUploads;
  /** Slack's file ids by upload key: a form that is submitted again keeps its files. */
  readonly #formFileIds = new Map<string, string>();

  constructor(slack: SlackWorkspace, uploads: BrowserUploads) {
    this.#slack = slack;
    this.#uploads = uploads;
  }

  /** Performs an action; a refusal of the workspace becomes the result's error. */
  async execute(action: ParsedUserAction): Promise<ActionResult> {
    try {
      return await this.#run(action);
    } catch (error) {
      return { ok: false, error: error instanceof Error ? error.message : String(error) };
    }
  }

  async #run(action: ParsedUserAction): Promise<ActionResult> {
    const slack = this.#slack;
    switch (action.kind) {
      case 'say': {
        const files = action.files.map((key) => this.#uploads.take(key));
        const { kind: _, files: __, ...said } = action;
        const { ts } = slack.say({ ...said, ...(files.length === 0 ? {} : { files }) });
        return { ok: true, ts };
      }
      case 'edit':
        this.#assertOwnMessage(action);
        slack.edit(action.channel, action.ts, action.text);
        return { ok: true };
      case 'remove':
        this.#assertOwnMessage(action);
        slack.remove(action.channel, action.ts);
        return { ok: true };
      case 'react':
        if (action.on) slack.react(action.person, action.channel, action.ts, action.name);
        else slack.unreact(action.person, action.channel, action.ts, action.name);
        return { ok: true };
      case 'click':
        return toResult(await slack.click(action));
      case 'command':
        return toResult(await slack.command(action));
      case 'shortcut':
        return toResult(await slack.shortcut(action));
      case 'submit':
        return this.#submit(action.person, action.values, action.files);
      case 'close':
        await slack.closeView(action.person);
        return { ok: true };
      case 'open-app':
        slack.openHome(action.person, action.tab);
        return { ok: true };
      case 'invite':
        slack.invite(action.channel, undefined, action.person);
        return { ok: true };
      case 'stop-session':
        slack.stopSession(action.person, action.channel, action.ts);
        return { ok: true };
    }
  }

  async #submit(
    person: string,
    values: Record<string, string | string[]>,
    files: Record<string, string | string[]>,
  ): Promise<ActionResult> {
    const uploaded = Object.entries(files).map(([input, keys]): [string, string[]] => [
      input,
      [keys].flat().map((key) => this.#formFileId(person, key)),
    ]);
    const sent = await this.#slack.submitView(person, { ...values, ...Object.fromEntries(uploaded) });
    const body = isFields(sent.body) ? sent.body : {};
    if (sent.acked && body.response_action === 'errors')
      return { ok: false, errors: stringValues(body.errors) };
    return toResult(sent);
  }

  #formFileId(person: string, key: string): string {
    const id = this.#formFileIds.get(key) ?? this.#slack.upload(person, this.#uploads.take(key)).id;
    this.#formFileIds.set(key, id);
    return id;
  }

  #assertOwnMessage({ person, channel, ts }: { person: string; channel: string; ts: string }): void {
    if (this.#slack.message(channel, ts).user !== person) throw new Error('That is not your message.');
  }
}

function toResult({ acked }: { acked: boolean }): ActionResult {
  return acked ? { ok: true } : { ok: false, error: NOT_ACKNOWLEDGED };
}

function stringValues(raw: unknown): Record<string, string> {
  const entries = Object.entries(isFields(raw) ? raw : ({} satisfies Fields));
  return Object.fromEntries(entries.map(([name, text]) => [name, String(text)]));
}
