import { setTimeout as sleep } from 'node:timers/promises';
import type { FormView } from '../../reply/views/inputs.ts';
import { startNotice, startView } from '../../reply/views/start-view.ts';
import * as words from '../../reply/words.ts';
import type { MessageKey } from '../../store/keys.ts';
import type { Start, Words } from '../../store/tables.ts';
import { startRefused } from '../admitting/starts.ts';
import { isDirect } from '../arriving/arrivals.ts';
import type { Workspace } from '../context.ts';
import { fileNames, readMessage } from '../reading/message.ts';
import { ChannelStarts, type ChannelStartsParts, type Posted } from './channel-starts.ts';
import { type PlaceRefusal, placeRefusal } from './place.ts';
import { type FormValues, wordsOf } from './sent-form.ts';
import { blankForm, StartForms } from './start-forms.ts';

/** A form must be answered within 3 s; what takes longer (ms) goes on behind it. */
const answerWithinMs = 1_800;
/** How much of that (ms) may pass until it is known who sends the form, and once more until they are known to be there. */
const knownWithinMs = 900;
/** How long the bot's own name is waited for (ms). */
const namedWithinMs = 500;

/** A form that was sent. */
export interface SentForm {
  workspace: string;
  person: string;
  viewId: string;
  id: string;
  /** The channel, where the form did not ask for it. */
  channel: string | undefined;
  /** The channel that the form was opened in, where it may ask for another. */
  from: string | undefined;
  /** Whether more than the form itself is kept of what it is about. */
  drafted: boolean;
  values: FormValues;
}

/** What the form does next. */
export type FormAnswer =
  | { do: 'close' }
  /** Stays open with what was typed, and says what is wrong. */
  | { do: 'complain'; sentence: string }
  | { do: 'show'; view: FormView };

/** Carries out the forms by which tasks are begun: each once, however often it is sent. */
export class Starting {
  readonly forms: StartForms;
  readonly channelStarts: ChannelStarts;
  readonly #parts: ChannelStartsParts;
  readonly #onAdded: (message: MessageKey) => void;

  /** `onAdded` hears of every message that a form puts into a thread that is there already. */
  constructor(parts: ChannelStartsParts, onAdded: (message: MessageKey) => void) {
    this.#parts = parts;
    this.#onAdded = onAdded;
    this.forms = new StartForms(parts);
    this.channelStarts = new ChannelStarts(parts);
  }

  /** Carries a sent form out. The answer comes in time for Slack, whatever is slow. */
  async submit(sent: SentForm): Promise<FormAnswer> {
    const { store, settings } = this.#parts;
    const workspace = this.#parts.workspace(sent.workspace);
    const start = await store.starts.get(sent);
    const channel = sent.values.channel ?? start?.channel ?? sent.channel;
    if (workspace === undefined || channel === undefined)
      return { do: 'show', view: startNotice(words.form.gone) };
    if (start === undefined && sent.drafted) return this.#renewed(workspace, sent, channel);
    const since = performance.now();
    const writer = { workspace: workspace.id, channel, person: sent.person };
    const refusal = await startRefused(this.#parts, workspace, writer, knownWithinMs);
    if (refusal !== undefined) return { do: 'complain', sentence: refusal };
    const said = wordsOf(sent.values, start?.source ?? null, settings.offers);
    const openedThere = channel === sent.channel || channel === sent.from;
    const place = { channel, person: sent.person, openedThere };
    const why = await placeRefusal(this.#parts, workspace, place, knownWithinMs);
    if (why !== undefined) return this.#noSuchPlace(workspace, sent, start, why, said);
    const leftMs = answerWithinMs - (performance.now() - since);
    if (start?.root != null) return this.#intoThread(workspace, sent, start, said, leftMs);
    return this.#intoChannel(workspace, sent, channel, said, leftMs);
  }

  /** The form says it at its channel; where it asks for none, it comes back so that one can be chosen. */
  async #noSuchPlace(
    workspace: Workspace,
    sent: SentForm,
    start: Start | undefined,
    why: PlaceRefusal,
    said: Words,
  ): Promise<FormAnswer> {
    const sentence = words.form[why];
    const { starts } = this.#parts.store;
    const { id, person, channel, values } = sent;
    if (why !== 'foreign' || channel === undefined || values.channel !== undefined)
      return { do: 'complain', sentence };
    if (start !== undefined) await starts.leaveThread(start);
    else {
      const source = { text: '', ...(said.files === undefined ? {} : { files: said.files }) };
      const place = { channel, root: null, ts: null, turn: null };
      await starts.draft({ workspace: workspace.id, id, person, ...place, source });
    }
    return { do: 'show', view: this.#refilled(sent, sentence, said) };
  }

  async #intoChannel(
    workspace: Workspace,
    sent: SentForm,
    channel: string,
    said: Words,
    leftMs: number,
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
    const posted = await Promise.race([posting, sleep(leftMs, 'slow' as const, { ref: false })]);
    if (posted === 'posted') return { do: 'close' };
    if (posted === 'slow') this.#tellLater(workspace, sent, start, posting, said);
    if (posted === 'slow' || posted === 'later') return { do: 'show', view: startNotice(words.form.slow) };
    const sentence = await complaint(workspace, channel, posted);
    const isElsewhere = sentence === words.form.elsewhere;
    await this.#parts.store.starts.backToDraft(start, isElsewhere ? 'anew' : 'open');
    return isElsewhere
      ? { do: 'show', view: this.#refilled(sent, sentence, said) }
      : { do: 'complain', sentence };
  }

  /**
   * The form's window says what became of a slow post. What was typed comes back where it found no place; where the
   * window does not surely show it, another look posts it after all, or gives it back directly.
   */
  #tellLater(
    workspace: Workspace,
    sent: SentForm,
    start: Start,
    posting: Promise<Posted | 'later'>,
    said: Words,
  ): void {
    const tell = async () => {
      const posted = await posting;
      if (posted === 'later') return;
      if (posted === 'posted') {
        await workspace.views.update(sent.viewId, startNotice(words.form.posted));
        return;
      }
      await this.#parts.store.starts.backToDraft(start, 'later');
      const view = this.#refilled(sent, await complaint(workspace, start.channel, posted), said);
      if (await workspace.views.update(sent.viewId, view)) await this.#parts.store.starts.shown(start);
    };
    tell().catch((error: unknown) =>
      this.#parts.log.debug({ err: error }, 'a form could not be brought up to date'),
    );
  }

  /** What the form was about is forgotten, because it was open for hours: it becomes one with a question of its own. */
  async #renewed({ id: workspace }: Workspace, sent: SentForm, channel: string): Promise<FormAnswer> {
    const { id, person, values } = sent;
    const said = wordsOf(values, null, this.#parts.settings.offers);
    const source = { text: '', ...(said.files === undefined ? {} : { files: said.files }) };
    const place = { channel, root: null, ts: null, turn: null };
    await this.#parts.store.starts.draft({ workspace, id, person, ...place, source });
    const asked = { ...sent, values: { ...values, channel, question: values.question ?? '' } };
    // Direct conversations cannot be chosen: this one stays.
    const fixed = isDirect(channel) ? channel : undefined;
    return { do: 'show', view: this.#refilled(asked, words.form.expired, said, fixed) };
  }

  /** The form again, with what was filled in, for any channel or the `fixed` one. */
  #refilled({ id, values }: SentForm, note: string, said: Words, fixed?: string): FormView {
    const { title, model, skill, noFallback, mode, question } = values;
    return startView({
      ...blankForm(id, fixed, this.#parts.settings.offers, { drafted: true }),
      ...(fixed === undefined ? { channel: { chosen: values.channel } } : {}),
      note,
      question: question === undefined ? 'long' : { text: question, optional: said.about !== undefined },
      files: fileNames(readMessage(said)),
      chosen: {
        ...(title === undefined ? {} : { title }),
        ...(model === undefined ? {} : { model }),
        ...(skill === undefined ? {} : { skill }),
        ...(mode === undefined ? {} : { mode }),
        noFallback,
      },
    });
  }

  async #intoThread(
    workspace: Workspace,
    sent: SentForm,
    start: Start,
    said: Words,
    leftMs: number,
  ): Promise<FormAnswer> {
    const { channel, root, ts, person, turn, id } = start;
    if (start.state === 'done') return { do: 'close' };
    if (root === null || ts === null) return { do: 'show', view: startNotice(words.form.gone) };
    const isThere = turn !== null || (await isIn(workspace, channel, leftMs));
    if (isThere === undefined) return { do: 'complain', sentence: words.form.unsure };
    if (!isThere) {
      const sentence = await complaint(workspace, channel, 'invite');
      if (sentence !== words.form.elsewhere) return { do: 'complain', sentence };
      await this.#parts.store.starts.leaveThread(start);
      return { do: 'show', view: this.#refilled(sent, sentence, said) };
    }
    const thread = { workspace: workspace.id, channel, root };
    const answer = await this.#parts.store.transaction(async (store, trx): Promise<FormAnswer> => {
      await store.threads.lock(thread);
      if (!(await store.starts.finish({ workspace: workspace.id, id }))) return { do: 'close' };
      if (turn !== null && (await store.turns.claimFollowUp(workspace.id, turn, ts)) === undefined)
        return { do: 'show', view: startNotice(words.form.over) };
      const account = this.#parts.accountOf(workspace.id);
      await store.threads.adopt(thread, { account, person, ts });
      const again = turn === null ? {} : { asksAgain: turn };
      const row = { root, person, state: 'waiting', words: said, editedTs: null, ...again } as const;
      await store.messages.add({ workspace: workspace.id, channel, ts }, row);
      await this.#parts.enqueue(trx, thread);
      return { do: 'close' };
    });
    this.#onAdded({ workspace: workspace.id, channel, ts });
    return answer;
  }
}

async function complaint(
  workspace: Workspace,
  channel: string,
  why: Exclude<Posted, 'posted'>,
): Promise<string> {
  // Nobody can be invited into a direct conversation of others: the question needs another place.
  if (why === 'invite' && isDirect(channel)) return words.form.elsewhere;
  if (why === 'no_place') return words.form.noPlace;
  if (why === 'refused') return words.form.refused;
  const { people, bot } = workspace;
  const name = people.personName(bot.userId).catch(() => undefined);
  return words.inviteMe(await Promise.race([name, sleep(namedWithinMs, undefined, { ref: false })]));
}

/**
 * Where Slack takes too long to say it, the bot takes itself to be in a channel: the thread's own turn will see. Of a
 * direct conversation, which may be one of others, it is not known then: nobody would hear what that turn has to say.
 */
async function isIn({ people }: Workspace, channel: string, withinMs: number): Promise<boolean | undefined> {
  const unknown = isDirect(channel) ? undefined : true;
  const known = people.isIn(channel).catch(() => unknown);
  return Promise.race([known, sleep(withinMs, unknown, { ref: false })]);
}
