import type { App, RespondFn, SlackActionMiddlewareArgs, ViewResponseAction } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import type {
  ButtonHandler,
  ButtonHandlers,
  ButtonPress,
  FormAnswer,
  FormHandlers,
  PressAnswer,
  PressedId,
} from '../relay/runtime/control-request.ts';
import type { RelayDeps } from '../relay/runtime/deps.ts';
import { inBackground } from '../relay/runtime/poller.ts';
import { sendDirectMessage, sendEphemeral } from '../relay/runtime/private-notices.ts';
import { noticeModal } from '../render/blocks/modal.ts';
import { MENU_ACTION, plainMessage, type RenderedMessage } from '../render/blocks/slack-blocks.ts';
import * as strings from '../render/strings/index.ts';
import { SlackAuthError } from '../slack/errors.ts';
import { optional } from '../slack/field-schemas.ts';
import { parseForm, parsePress } from './envelope.ts';

/** What every listener works with. */
export interface ListenerContext {
  app: App;
  log: Logger;
  deps: Pick<RelayDeps, 'workspace'>;
}

/**
 * Handles presses of all buttons. The person is told of an outcome that they do not see; after an error, to press again: by
 * response_url, which needs no database. Where Slack names no channel, in Home and in windows, both are direct messages.
 */
export function registerButtons(context: ListenerContext, handlers: Partial<ButtonHandlers>): void {
  context.app.action(/^/, async (args) => {
    const named = 'action_id' in args.action ? args.action.action_id : '';
    const [id = ''] = named === MENU_ACTION ? (parsePress(args.body)?.value.split('/') ?? []) : [named];
    if (isPressed(id)) return answerPress(context, args, id, strings.buttons[id].about, handlers[id]);
    if (Object.hasOwn(strings.buttons, id)) return args.ack();
    // Of another release, which ran here before or runs beside this one. A private note stays: its other buttons may work.
    const told = strings.controlFailed.unknown;
    await answerPress(context, args, id, 'form', async () => ({ outcome: 'late', told }));
  });
}

/** A direct message about a press or shortcut that failed is sent within this time (ms), or not at all. */
export const SAY_FAILURE_MS = 10_000;

function isPressed(id: string): id is PressedId {
  return Object.entries(strings.buttons).some(([one, { about }]) => one === id && about !== 'link');
}

async function answerPress(
  { log, deps }: ListenerContext,
  { ack, body, respond }: SlackActionMiddlewareArgs,
  id: string,
  about: Parameters<typeof isAbout>[0],
  handle: ButtonHandler | undefined,
): Promise<void> {
  const actionLog = log.child({ action: id });
  const press = parsePress(body);
  if (handle === undefined || press === undefined || !isAbout(about, press)) {
    actionLog.debug('ignored a press that is not for this app');
    return ack();
  }
  const { channel, messageTs } = press;
  // Slack does not show what stands in a thread without replies.
  const threadTs = press.threadTs === messageTs ? undefined : press.threadTs;
  const location = channel === undefined ? undefined : { ...press, channel, threadTs };
  // Works also where the bot is no longer in the channel, and without the database.
  const respondPrivately = (text: string) =>
    respond({ response_type: 'ephemeral', replace_original: false, ...plainMessage(text) });
  const tell = (text: string) =>
    location === undefined
      ? sendDirectMessage(deps, press, text)
      : sendEphemeral(deps, location, text).catch(() => respondPrivately(text));
  const handled = handle(about === 'message' ? { ...press, messageTs: press.value } : press);
  const answered = handled
    .then(async (result) => {
      const answer: PressAnswer = typeof result === 'object' ? result : { outcome: result ?? 'done' };
      const { outcome, later } = answer;
      const replacement = await answer.replacement;
      const told = outcomeText(answer);
      // The buttons of a note that one person sees go with their use, and the note says what happened; not those of windows.
      const isUsedNote = press.isPrivate && about !== 'turn' && outcome !== 'refused' && outcome !== 'late';
      const note = told === undefined ? undefined : { text: told, blocks: [] };
      if (replacement !== undefined || isUsedNote)
        await replaceOriginal(respond, replacement ?? note, actionLog);
      if (!isUsedNote && told !== undefined) await tell(told);
      const end = isUsedNote ? await later?.() : undefined;
      if (end !== undefined && end.text !== told) await replaceOriginal(respond, end, actionLog);
    })
    .catch(async (error: unknown) => {
      const text = failureText(error);
      // A permit for it needs the database: later, nobody knows what it is about.
      const soon = AbortSignal.timeout(SAY_FAILURE_MS);
      if (location === undefined) await sendDirectMessage(deps, press, text, soon);
      else await respondPrivately(text);
      throw error;
    });
  inBackground(answered, actionLog, 'could not answer a press', 'warn');
  if (about === 'control' || about === 'message') await handled.catch(() => undefined);
  await ack();
}

/** What a person reads by response_url, which needs no token, after an error. */
export function failureText(error: unknown): string {
  return error instanceof SlackAuthError ? strings.command.installAgain : strings.command.unavailable;
}

/** Whether a press has what its handler needs; others are not of a message or view of ours. */
function isAbout(about: 'control' | 'turn' | 'message' | 'view' | 'form', press: ButtonPress): boolean {
  if (about === 'form') return true;
  if (about === 'view') return press.view !== undefined;
  return press.channel !== undefined && (about === 'message' || press.turnId !== undefined);
}

/** What a person reads about their press; undefined if they see what it did. */
function outcomeText({ outcome, told }: PressAnswer): string | undefined {
  if (outcome === 'refused') return undefined;
  return told ?? (outcome === 'done' ? undefined : strings.controlFailed[outcome]);
}

/** Replaces the message that has the button, or deletes it; it stays as it is if Slack does not take that. */
async function replaceOriginal(
  respond: RespondFn,
  message: RenderedMessage | undefined,
  log: Logger,
): Promise<void> {
  const shown = message?.blocks.length === 0 ? plainMessage(message.text) : message;
  const change = shown === undefined ? { delete_original: true } : { replace_original: true, ...shown };
  await respond(change).catch((error: unknown) =>
    log.warn({ err: error }, 'could not replace a message with a button'),
  );
}

/** Handles forms; each is acknowledged with what Slack shows then. One that is not stays open: see `keepFormOpen`. */
export function registerForms({ app, log }: ListenerContext, handlers: FormHandlers): void {
  for (const [callbackId, handle] of Object.entries(handlers)) {
    const formLog = log.child({ form: callbackId });
    app.view(callbackId, async ({ ack, body }) => {
      const form = parseForm(body);
      if (form === undefined) throw new Error(`The form ${callbackId} cannot be read.`);
      const answer = await handle(form);
      await ack(toResponse(answer));
      if (answer !== undefined && 'view' in answer && answer.afterwards !== undefined)
        inBackground(answer.afterwards(), formLog, 'could not finish the work after a form', 'warn');
    });
  }
}

/** Closes a form: this very object stands for Slack's empty answer, which Bolt gives by itself where something failed. */
export const CLOSE_FORM: ViewResponseAction = { response_action: 'clear' };

const openFormSchema = z.looseObject({
  type: z.literal('view_submission'),
  view: z.looseObject({
    title: z.looseObject({ text: z.string() }),
    blocks: z.array(z.looseObject({ type: z.string(), block_id: optional(z.string()) })),
  }),
});

/**
 * What keeps a submitted form open, with what was typed and a sentence; undefined for any other request. Slack closes a
 * form as accepted if the answer is empty.
 */
export function keepFormOpen(body: unknown): ViewResponseAction | undefined {
  const { data } = openFormSchema.safeParse(body);
  if (data === undefined) return undefined;
  const { title, blocks } = data.view;
  const input = blocks.find(({ type }) => type === 'input')?.block_id;
  if (input !== undefined)
    return { response_action: 'errors', errors: { [input]: strings.command.unavailable } };
  return { response_action: 'push', view: noticeModal(title.text, strings.command.unavailable) };
}

function toResponse(answer: FormAnswer): ViewResponseAction {
  if (answer === undefined) return CLOSE_FORM;
  if ('view' in answer) return { response_action: 'update', view: answer.view };
  return { response_action: 'errors', errors: { ...answer.errors } };
}
