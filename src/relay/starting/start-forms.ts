import { randomUUID } from 'node:crypto';
import type { FormView } from '../../reply/views/inputs.ts';
import { QUESTION_MOST, type StartForm, startNotice, startView } from '../../reply/views/start-view.ts';
import * as words from '../../reply/words.ts';
import type { Start, Words } from '../../store/tables.ts';
import { messageKeyOf } from '../../store/turns.ts';
import { isDirect } from '../arriving/arrivals.ts';
import { choicesIn, namesFor } from '../asking/question.ts';
import type { RelayParts, Workspace } from '../context.ts';
import { turnOf } from '../controls/control.ts';
import { refusalOf } from '../controls/permission.ts';
import { readFlags } from '../reading/flags.ts';
import { fileNames, readMessage } from '../reading/message.ts';
import { idsIn } from '../reading/names.ts';
import { readable } from '../reading/readable.ts';
import { type Opened, openAndFill, type WindowPlace } from '../windows.ts';

/** Somebody wants to see the form. */
export interface FormRequest extends WindowPlace {
  person: string;
}

/** Shows the form by which tasks are begun: opened at once, and filled after where something must be looked up. */
export class StartForms {
  readonly #parts: RelayParts;

  constructor(parts: RelayParts) {
    this.#parts = parts;
  }

  /** A question of its own. Direct conversations cannot be chosen in the form, so they are fixed. Throws a SlackError. */
  async ask(request: FormRequest, channel: string | undefined): Promise<Opened> {
    const views = this.#parts.workspace(request.workspace)?.views;
    if (views === undefined) return 'unknown';
    const isFixed = channel !== undefined && isDirect(channel);
    const view = startView({
      ...this.#blank(randomUUID(), isFixed ? channel : undefined, { from: channel }),
      ...(isFixed ? {} : { channel: { chosen: channel } }),
    });
    return (await views.open(request.triggerId, view)) === undefined ? 'late' : 'done';
  }

  /** A question about a message, which is as Slack gave it; `ts` is when it was asked for. Throws a SlackError. */
  async about(
    request: FormRequest,
    chosen: { channel: string; root: string; ts: string; message: Record<string, unknown> },
  ): Promise<Opened> {
    return this.#open(request, async (workspace) => {
      const { channel, root, ts, message } = chosen;
      const thread = await this.#parts.store.threads.get({ workspace: workspace.id, channel, root });
      const isTaken = thread !== undefined && thread.task_id !== null;
      const source: Words = { text: '', about: message, files: filesOf(message) };
      const id = randomUUID();
      const place = { channel, root: isTaken ? null : root, ts, turn: null };
      await this.#draft(request, id, { ...place, source });
      const { text, files } = await read(workspace, message);
      return startView({
        ...this.#blank(id, channel, { drafted: true }),
        note: isTaken ? words.form.threadTaken : undefined,
        quote: text,
        question: { text: '', optional: true },
        files,
      });
    });
  }

  /** The question of a turn once more: in its thread where it was refused, or in a new one. Throws a SlackError. */
  async again(
    request: FormRequest,
    asked: { turnId: string; channel: string; ts: string; where: 'thread' | 'channel' },
  ): Promise<Opened> {
    const { store, settings } = this.#parts;
    return this.#open(request, async (workspace) => {
      const turn = await turnOf(store, { workspace: workspace.id, ...asked });
      if (turn === undefined) return startNotice(words.form.gone);
      const inThread = asked.where === 'thread';
      if (inThread && turn.followed_at !== null) return startNotice(words.form.over);
      const { channel, root } = turn;
      const use = { workspace: workspace.id, channel, root, person: request.person, turn };
      const control = inThread ? 'choose_again' : 'new_thread';
      const refusal = await refusalOf(this.#parts, { ...use, control });
      if (refusal !== undefined) return startNotice(refusal);
      const source = (await store.messages.get(messageKeyOf(turn)))?.words;
      if (source == null) return startNotice(words.form.gone);
      const id = randomUUID();
      const place = { channel, root: inThread ? root : null, ts: asked.ts, turn: inThread ? turn.id : null };
      await this.#draft(request, id, { ...place, source });
      const thread = await store.threads.expect(turn);
      const { text, files } = await read(workspace, { ...source });
      const question = readFlags(text, settings.offers).text;
      const quoted = source.about === undefined ? undefined : await read(workspace, source.about);
      return startView({
        ...this.#blank(id, channel, { drafted: true }),
        question:
          question.length > QUESTION_MOST ? 'long' : { text: question, optional: source.about !== undefined },
        quote: quoted?.text,
        fixed: inThread && thread.task_id !== null,
        chosen: choicesIn(source, workspace.bot.userId, settings.offers),
        files,
      });
    });
  }

  /** Tells a person something where no channel is known. Throws a SlackError. */
  async tellDirectly(workspace: string, person: string, text: string): Promise<void> {
    const posting = this.#parts.workspace(workspace)?.posting;
    if (posting === undefined) return;
    const channel = await posting.openDm(person);
    await posting.post({ channel, message: { text }, key: `told/${randomUUID()}`, kind: 'notice' });
  }

  async #open(request: FormRequest, fill: (workspace: Workspace) => Promise<FormView>): Promise<Opened> {
    const said = { notice: startNotice, failed: words.command.away };
    return openAndFill(this.#parts, request, said, fill);
  }

  async #draft(
    { workspace, person }: FormRequest,
    id: string,
    about: Pick<Start, 'channel' | 'root' | 'ts' | 'turn' | 'source'>,
  ): Promise<void> {
    await this.#parts.store.starts.draft({ workspace, id, person, ...about });
  }

  #blank(id: string, channel: string | undefined, kept?: Kept): StartForm {
    return blankForm(id, channel, this.#parts.settings.offers, kept);
  }
}

/** What else a form's metadata say: that more of it is kept, and the channel that it was opened in. */
interface Kept {
  drafted?: true;
  from?: string | undefined;
}

/** An empty form of this id; `channel` where it does not ask for one. */
export function blankForm(
  id: string,
  channel: string | undefined,
  offers: StartForm['offers'],
  kept: Kept = {},
): StartForm {
  return {
    metadata: JSON.stringify({ id, ...(channel === undefined ? {} : { channel }), ...kept }),
    question: { text: '', optional: false },
    fixed: false,
    chosen: {},
    files: [],
    offers,
  };
}

/** A message as people read it, and the names of its files. */
async function read(
  workspace: Workspace,
  raw: Record<string, unknown>,
): Promise<{ text: string; files: string[] }> {
  const message = readMessage(raw);
  const names = await namesFor(workspace, idsIn(message));
  return { text: readable(message, names, workspace.bot.userId), files: fileNames(message) };
}

function filesOf({ files }: Record<string, unknown>): unknown[] {
  return Array.isArray(files) ? files : [];
}
