import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FormView } from '../../reply/views/form-blocks.ts';
import { QUESTION_MOST, type StartForm, startNotice, startView } from '../../reply/views/start-view.ts';
import * as words from '../../reply/words.ts';
import { SlackError } from '../../slack/errors.ts';
import type { Start, Words } from '../../store/tables.ts';
import { choicesIn, namesFor } from '../asking/question.ts';
import type { Workspace } from '../context.ts';
import { readFlags } from '../reading/flags.ts';
import { fileNames, readMessage } from '../reading/message.ts';
import { idsIn } from '../reading/names.ts';
import { readable } from '../reading/readable.ts';
import { ChannelStarts, type ChannelStartsParts, type Posted } from './channel-starts.ts';
import { type FormValues, wordsOf } from './sent-form.ts';

/** A form must be answered within 3 s; what takes longer (ms) goes on behind it. */
const answerWithinMs = 1_800;
/** How long the bot's own name is waited for (ms). */
const namedWithinMs = 500;

/** Somebody wants to see the form. */
export interface FormRequest {
  workspace: string;
  person: string;
  /** Lives 3 s. */
  triggerId: string;
}

/** A form that was sent. */
export interface SentForm {
  workspace: string;
  person: string;
  viewId: string;
  id: string;
  /** The channel, where the form did not ask for it. */
  channel: string | undefined;
  values: FormValues;
}

/** What the form does next. */
export type FormAnswer =
  | { do: 'close' }
  /** Stays open with what was typed, and says what is wrong. */
  | { do: 'complain'; sentence: string }
  | { do: 'show'; view: FormView };

/** What became of the wish to see a form. */
export type Opened = 'done' | 'late' | 'unknown';

/** Forms by which tasks are begun: opened at once, filled after, and carried out once however often they are sent. */
export class Starting {
  readonly channelStarts: ChannelStarts;
  readonly #parts: ChannelStartsParts;

  constructor(parts: ChannelStartsParts) {
    this.#parts = parts;
    this.channelStarts = new ChannelStarts(parts);
  }

  /** A question of its own. Direct conversations cannot be chosen in the form, so they are fixed. Throws a SlackError. */
  async ask(request: FormRequest, channel: string | undefined): Promise<Opened> {
    const views = this.#parts.workspace(request.workspace)?.views;
    if (views === undefined) return 'unknown';
    const isFixed = channel?.startsWith('D') === true;
    const view = startView({
      ...this.#blank(randomUUID(), isFixed ? channel : undefined),
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
        ...this.#blank(id, channel),
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
    asked: { turnId: string; ts: string; where: 'thread' | 'channel' },
  ): Promise<Opened> {
    const { store, settings } = this.#parts;
    return this.#open(request, async (workspace) => {
      const turn = await store.turns.get(workspace.id, asked.turnId);
      if (turn === undefined) return startNotice(words.form.gone);
      const inThread = asked.where === 'thread';
      if (inThread && turn.followed_at !== null) return startNotice(words.form.over);
      const { channel, root, message_ts } = turn;
      const source = (await store.messages.get({ workspace: workspace.id, channel, ts: message_ts }))?.words;
      if (source == null) return startNotice(words.form.gone);
      const id = randomUUID();
      const place = { channel, root: inThread ? root : null, ts: asked.ts, turn: inThread ? turn.id : null };
      await this.#draft(request, id, { ...place, source });
      const thread = await store.threads.expect(turn);
      const { text, files } = await read(workspace, { ...source });
      const question = readFlags(text, settings.offers).text;
      const quoted = source.about === undefined ? undefined : await read(workspace, source.about);
      return startView({
        ...this.#blank(id, channel),
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

  /** Carries a sent form out. The answer comes in time for Slack, whatever is slow. */
  async submit(sent: SentForm): Promise<FormAnswer> {
    const { store, settings } = this.#parts;
    const workspace = this.#parts.workspace(sent.workspace);
    const start = await store.starts.get(sent);
    const channel = sent.values.channel ?? start?.channel ?? sent.channel;
    if (workspace === undefined || channel === undefined)
      return { do: 'show', view: startNotice(words.form.gone) };
    // The form's draft was dropped: it was open for hours.
    if (start === undefined && sent.values.channel === undefined && !channel.startsWith('D'))
      return { do: 'show', view: startNotice(words.form.expired) };
    const said = wordsOf(sent.values, start?.source ?? null, settings.offers);
    if (start?.root != null) return this.#intoThread(workspace, start, said);
    return this.#intoChannel(workspace, sent, channel, said);
  }

  async #intoChannel(
    workspace: Workspace,
    sent: SentForm,
    channel: string,
    said: Words,
  ): Promise<FormAnswer> {
    const { id, person } = sent;
    const start = await this.#parts.store.starts.toPost({
      workspace: workspace.id,
      id,
      person,
      channel,
      words: said,
    });
    // The same form was sent before.
    if (start === undefined) return { do: 'close' };
    const posting: Promise<Posted | 'later'> = this.channelStarts.post(start).catch((error: unknown) => {
      this.#parts.log.warn({ err: error, start: id }, 'a question from a form is posted later');
      return 'later';
    });
    const posted = await Promise.race([posting, sleep(answerWithinMs, 'slow' as const, { ref: false })]);
    if (posted === 'posted') return { do: 'close' };
    if (posted !== 'slow' && posted !== 'later')
      return { do: 'complain', sentence: await complaint(workspace, posted) };
    if (posted === 'slow') this.#tellLater(workspace, sent, posting);
    return { do: 'show', view: startNotice(words.form.slow) };
  }

  /** The form's window says what became of a slow post; what was typed comes back where it found no place. */
  #tellLater(workspace: Workspace, sent: SentForm, posting: Promise<Posted | 'later'>): void {
    const tell = async () => {
      const posted = await posting;
      if (posted === 'later') return;
      const view =
        posted === 'posted'
          ? startNotice(words.form.posted)
          : this.#refilled(sent, await complaint(workspace, posted));
      await workspace.views.update(sent.viewId, view);
    };
    tell().catch((error: unknown) =>
      this.#parts.log.debug({ err: error }, 'a form could not be brought up to date'),
    );
  }

  #refilled({ id, channel, values }: SentForm, note: string): FormView {
    const { title, model, skill, noFallback, mode, question } = values;
    return startView({
      ...this.#blank(id, channel),
      ...(values.channel === undefined ? {} : { channel: { chosen: values.channel } }),
      note,
      question: question === undefined ? 'long' : { text: question, optional: false },
      chosen: {
        ...(title === undefined ? {} : { title }),
        ...(model === undefined ? {} : { model }),
        ...(skill === undefined ? {} : { skill }),
        ...(mode === undefined ? {} : { mode }),
        noFallback,
      },
    });
  }

  async #intoThread(workspace: Workspace, start: Start, said: Words): Promise<FormAnswer> {
    const { channel, root, ts, person, turn, id } = start;
    if (start.state === 'done') return { do: 'close' };
    if (root === null || ts === null) return { do: 'show', view: startNotice(words.form.gone) };
    if (turn === null && !(await isIn(workspace, channel)))
      return { do: 'complain', sentence: await complaint(workspace, 'invite') };
    const thread = { workspace: workspace.id, channel, root };
    return this.#parts.store.transaction(async (store, trx): Promise<FormAnswer> => {
      await store.threads.lock(thread);
      if (!(await store.starts.finish({ workspace: workspace.id, id }))) return { do: 'close' };
      if (turn !== null && (await store.turns.claimFollowUp(workspace.id, turn)) === undefined)
        return { do: 'show', view: startNotice(words.form.over) };
      const account = this.#parts.accountOf(workspace.id);
      await store.threads.adopt(thread, { account, person, ts });
      const row = { root, person, state: 'waiting', words: said, editedTs: null } as const;
      await store.messages.add({ workspace: workspace.id, channel, ts }, row);
      await this.#parts.enqueue(trx, thread);
      return { do: 'close' };
    });
  }

  /** Opens the window at once, because a trigger lives 3 s, and fills it. */
  async #open(request: FormRequest, fill: (workspace: Workspace) => Promise<FormView>): Promise<Opened> {
    const workspace = this.#parts.workspace(request.workspace);
    if (workspace === undefined) return 'unknown';
    const viewId = await workspace.views.open(request.triggerId, startNotice(words.form.loading));
    if (viewId === undefined) return 'late';
    try {
      await workspace.views.update(viewId, await fill(workspace));
    } catch (error) {
      if (!(error instanceof SlackError))
        await workspace.views.update(viewId, startNotice(words.command.away));
      throw error;
    }
    return 'done';
  }

  async #draft(
    { workspace, person }: FormRequest,
    id: string,
    about: Pick<Start, 'channel' | 'root' | 'ts' | 'turn' | 'source'>,
  ): Promise<void> {
    await this.#parts.store.starts.draft({ workspace, id, person, ...about });
  }

  #blank(id: string, channel: string | undefined): StartForm {
    return {
      metadata: JSON.stringify({ id, ...(channel === undefined ? {} : { channel }) }),
      question: { text: '', optional: false },
      fixed: false,
      chosen: {},
      files: [],
      offers: this.#parts.settings.offers,
    };
  }
}

async function complaint(workspace: Workspace, why: Exclude<Posted, 'posted'>): Promise<string> {
  if (why === 'no_place') return words.form.noPlace;
  if (why === 'refused') return words.form.refused;
  const { people, bot } = workspace;
  const name = people.personName(bot.userId).catch(() => undefined);
  return words.inviteMe(await Promise.race([name, sleep(namedWithinMs, undefined, { ref: false })]));
}

/** Where Slack takes too long to say it, the bot takes itself to be there: the thread's own turn will see. */
async function isIn({ people }: Workspace, channel: string): Promise<boolean> {
  return Promise.race([people.isIn(channel), sleep(answerWithinMs, true, { ref: false })]);
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
