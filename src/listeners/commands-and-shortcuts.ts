import type { RespondFn } from '@slack/bolt';
import { z } from 'zod';
import type { ModalOutcome } from '../features/modals.ts';
import type { StartForm, StartFormRequest } from '../features/start/start-form.ts';
import type { ChannelActor, WorkspaceActor } from '../relay/runtime/control-request.ts';
import type { RenderedMessage } from '../render/blocks/slack-blocks.ts';
import { escapeMrkdwn } from '../render/markdown/pings.ts';
import * as strings from '../render/strings/index.ts';
import { shorten } from '../render/text/shorten.ts';
import { optional } from '../slack/field-schemas.ts';
import { type ListenerContext, parseActor, runAfterAck } from './press.ts';

export interface SlashCommand extends ChannelActor {
  /** Opens a modal; expires after 3 s. */
  triggerId: string;
  /** What stands after the subcommand. */
  words: string;
}

/** Handles one subcommand: with an ephemeral message, or a modal that it opened. */
type SlashCommandHandler = (command: SlashCommand) => Promise<RenderedMessage | ModalOutcome>;

const commandSchema = z.looseObject({
  team_id: z.string(),
  channel_id: z.string(),
  user_id: z.string(),
  trigger_id: z.string(),
  text: z.string().catch(''),
});

/** Handles `/agent`. Without a subcommand, and after an unknown one, it shows the help; several words are a question. */
export function registerSlashCommandListener(
  { app, log }: ListenerContext,
  handlers: Readonly<Record<string, SlashCommandHandler>>,
  ask: (command: SlashCommand, question: string) => Promise<RenderedMessage>,
): void {
  app.command('/agent', async ({ ack, body, respond }) => {
    const parsed = commandSchema.safeParse(body);
    const subcommand = parsed.success ? subcommandOf(parsed.data.text) : '';
    const question = parsed.success ? parsed.data.text.trim() : '';
    const handle = Object.hasOwn(handlers, subcommand)
      ? handlers[subcommand]
      : /\s/.test(question) && subcommand !== 'help'
        ? (command: SlashCommand) => ask(command, question)
        : undefined;
    if (!parsed.success || handle === undefined) {
      const isHelp = subcommand === '' || subcommand === 'help';
      const text = isHelp
        ? strings.commandHelp
        : strings.unknownCommand(escapeMrkdwn(shorten(subcommand, 40)));
      await ack({ response_type: 'ephemeral', text });
      return;
    }
    await ack();
    const { team_id: workspace, channel_id: channel, user_id, trigger_id: triggerId } = parsed.data;
    const words = question.slice(subcommand.length).trim();
    const work = respondTo(respond, handle({ workspace, channel, person: user_id, triggerId, words }));
    runAfterAck(work, log.child({ subcommand }), 'could not answer a command');
  });
}

/** By response_url: works without the bot in the channel, and outside the rate limits of its calls. */
async function respondTo(respond: RespondFn, handled: ReturnType<SlashCommandHandler>): Promise<void> {
  const send = async (text: string, blocks: RenderedMessage['blocks'] = []) => {
    const shown = blocks.length === 0 ? {} : { blocks };
    await respond({ response_type: 'ephemeral', text, ...shown });
  };
  const result = await handled.catch(async (error: unknown) => {
    await send(strings.command.unavailable);
    throw error;
  });
  if (result === 'done') return;
  if (typeof result === 'string') await send(strings.command.tooLate);
  else await send(result.text, result.blocks);
}

function subcommandOf(text: string): string {
  return text.trim().toLowerCase().split(/\s+/, 1)[0] ?? '';
}

const globalShortcutSchema = z.looseObject({ trigger_id: z.string() });
const messageShortcutSchema = globalShortcutSchema.extend({
  action_ts: z.string(),
  channel: z.looseObject({ id: z.string() }),
  message: z.looseObject({ ts: z.string(), thread_ts: optional(z.string()) }),
});

/** Handles the shortcuts of the manifest: a new task, and a question about a message. */
export function registerShortcutListeners(
  { app, log, sendEphemeral }: ListenerContext,
  startModal: StartForm,
  sendDirectMessage: (actor: WorkspaceActor, text: string) => Promise<void>,
): void {
  const background = (work: Promise<void>) => runAfterAck(work, log, 'could not show the start form');

  app.shortcut({ type: 'shortcut', callback_id: 'new_task' }, async ({ ack, body }) => {
    await ack();
    const request = parseRequest(body);
    if (request === undefined) return;
    background(
      startModal.openNew(request, undefined, '').then(async (opened) => {
        if (opened === 'late') await sendDirectMessage(request, strings.command.tooLate);
      }),
    );
  });

  app.shortcut({ type: 'message_action', callback_id: 'ask_about' }, async ({ ack, body }) => {
    const parsed = messageShortcutSchema.safeParse(body);
    await ack();
    const request = parseRequest(body);
    if (!parsed.success || request === undefined) return;
    const { action_ts: ts, message } = parsed.data;
    const { id: channel } = parsed.data.channel;
    const threadTs = message.thread_ts ?? message.ts;
    const { workspace, person } = request;
    background(
      startModal
        .openAboutMessage(request, { channel, thread_ts: threadTs, ts, message })
        .then(async (opened) => {
          if (opened === 'done') return;
          const why = opened === 'late' ? strings.command.tooLate : strings.controlFailed.unknown;
          await sendEphemeral({ workspace, person, channel, threadTs }, why);
        }),
    );
  });
}

function parseRequest(body: unknown): StartFormRequest | undefined {
  const actor = parseActor(body);
  const parsed = globalShortcutSchema.safeParse(body);
  return actor && parsed.success ? { ...actor, triggerId: parsed.data.trigger_id } : undefined;
}
