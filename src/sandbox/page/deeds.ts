import { sampleTable } from '../sample-table.ts';
import { type Fields, isFields } from '../slack/model.ts';
import type { SlackWorkspace } from '../slack/workspace.ts';
import type { CheckedDeed } from './deed.ts';
import type { Uploads } from './uploads.ts';
import type { Outcome } from './wire.ts';

const sampleSeed = 18;
const sampleBytes = 400_000;
let bytes: Buffer | undefined;

/** The table that newcomers drop: made up, the same each time. */
export function sample(): { name: string; bytes: Buffer } {
  bytes ??= sampleTable(sampleSeed, sampleBytes).csv;
  return { name: 'run-18.csv', bytes };
}

const unheard = 'The app did not answer within 3 seconds. In Slack you would see a warning now.';

/** Carries deeds out in the workspace, as its verbs do. */
export class Deeds {
  readonly #slack: SlackWorkspace;
  readonly #uploads: Uploads;
  /** Slack's ids of the files that were sent with forms, by the keys of their uploads: a form may be sent again. */
  readonly #inForms = new Map<string, string>();

  constructor(slack: SlackWorkspace, uploads: Uploads) {
    this.#slack = slack;
    this.#uploads = uploads;
  }

  /** Carries a deed out. What the workspace refuses comes back as a sentence. */
  async carryOut(deed: CheckedDeed): Promise<Outcome> {
    try {
      return await this.#do(deed);
    } catch (error) {
      return { ok: false, error: error instanceof Error ? error.message : String(error) };
    }
  }

  async #do(deed: CheckedDeed): Promise<Outcome> {
    const slack = this.#slack;
    switch (deed.kind) {
      case 'say': {
        const files = deed.files.map((key) => this.#uploads.take(key));
        const { kind: _, files: __, ...said } = deed;
        const { ts } = slack.say({ ...said, ...(files.length === 0 ? {} : { files }) });
        return { ok: true, ts };
      }
      case 'edit':
        this.#own(deed);
        slack.edit(deed.channel, deed.ts, deed.text);
        return { ok: true };
      case 'remove':
        this.#own(deed);
        slack.remove(deed.channel, deed.ts);
        return { ok: true };
      case 'react':
        if (deed.on) slack.react(deed.person, deed.channel, deed.ts, deed.name);
        else slack.unreact(deed.person, deed.channel, deed.ts, deed.name);
        return { ok: true };
      case 'click':
        return heard(await slack.click(deed));
      case 'command':
        return heard(await slack.command(deed));
      case 'shortcut':
        return heard(await slack.shortcut(deed));
      case 'submit':
        return this.#submit(deed.person, deed.values, deed.files);
      case 'close':
        await slack.closeView(deed.person);
        return { ok: true };
      case 'open-app':
        slack.openHome(deed.person, deed.tab);
        return { ok: true };
      case 'invite':
        slack.invite(deed.channel, undefined, deed.person);
        return { ok: true };
      case 'stop-session':
        slack.stopSession(deed.person, deed.channel, deed.ts);
        return { ok: true };
    }
  }

  async #submit(
    person: string,
    values: Record<string, string | string[]>,
    files: Record<string, string | string[]>,
  ): Promise<Outcome> {
    const uploaded = Object.entries(files).map(([input, keys]): [string, string[]] => [
      input,
      [keys].flat().map((key) => this.#inForm(person, key)),
    ]);
    const sent = await this.#slack.submitView(person, { ...values, ...Object.fromEntries(uploaded) });
    const body = isFields(sent.body) ? sent.body : {};
    if (sent.acked && body.response_action === 'errors') return { ok: false, errors: texts(body.errors) };
    return heard(sent);
  }

  #inForm(person: string, key: string): string {
    const id = this.#inForms.get(key) ?? this.#slack.upload(person, this.#uploads.take(key)).id;
    this.#inForms.set(key, id);
    return id;
  }

  #own({ person: who, channel, ts }: { person: string; channel: string; ts: string }): void {
    if (this.#slack.message(channel, ts).user !== who) throw new Error('That is not your message.');
  }
}

function heard({ acked }: { acked: boolean }): Outcome {
  return acked ? { ok: true } : { ok: false, error: unheard };
}

function texts(raw: unknown): Record<string, string> {
  const entries = Object.entries(isFields(raw) ? raw : ({} satisfies Fields));
  return Object.fromEntries(entries.map(([name, text]) => [name, String(text)]));
}
