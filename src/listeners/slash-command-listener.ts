import type { App, RespondFn } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { ChannelActor } from '../features/commands/running-tasks.ts';
import type { ModalOutcome } from '../features/open-modal.ts';
import type { StartModal } from '../features/start/start-modal.ts';
import type { RenderedMessage } from '../render/blocks/slack-blocks.ts';
import * as strings from '../render/strings/index.ts';
import { runAfterAck } from './press.ts';

/** Where the command was typed. */
export interface SlashCommand extends ChannelActor {
  /** Lives 3 s. */
  triggerId: string;
}

/** What answers to a word behind the command: a message for that person alone, or a window that it opened. */
export type SlashCommandHandler = (typed: SlashCommand) => Promise<RenderedMessage | ModalOutcome>;

/** The words behind `/agent`. */
export type SlashCommandHandlers = Readonly<
  Record<'new' | 'status' | 'stop' | 'tasks' | 'settings', SlashCommandHandler>
>;

const commandSchema = z.looseObject({
  team_id: z.string(),
  channel_id: z.string(),
  user_id: z.string(),
  trigger_id: z.string(),
  text: z.string().default(''),
});

/** The handlers of the command that belong to starting; the others come from their own rooms. */
export function newTaskHandler(forms: Pick<StartModal, 'openBlank'>): Pick<SlashCommandHandlers, 'new'> {
  return {
    new: ({ workspace, person, triggerId, channel }) =>
      forms.openBlank({ workspace, person, triggerId }, channel),
  };
}

/** Takes `/agent`. It carries no thread; whatever else is typed than one of its words gets the help. */
export function registerSlashCommandListener(app: App, handlers: SlashCommandHandlers, log: Logger): void {
  app.command('/agent', async ({ ack, body, respond }) => {
    const parsed = commandSchema.safeParse(body);
    const subcommand = parsed.success ? subcommandOf(parsed.data.text) : '';
    if (!parsed.success || !isSubcommand(subcommand, handlers)) {
      await ack({ response_type: 'ephemeral', text: strings.commandHelp });
      return;
    }
    await ack();
    const { team_id: workspace, channel_id: channel, user_id: person, trigger_id: triggerId } = parsed.data;
    const work = respondTo(respond, () => handlers[subcommand]({ workspace, channel, person, triggerId }));
    runAfterAck(work, log.child({ word: subcommand }), 'a command could not be answered');
  });

  async function respondTo(
    respond: RespondFn,
    handle: () => Promise<RenderedMessage | ModalOutcome>,
  ): Promise<void> {
    let result: RenderedMessage | ModalOutcome;
    try {
      result = await handle();
    } catch (error) {
      await sendResponse(respond, { text: strings.command.unavailable, blocks: [] });
      throw error;
    }
    if (result === 'done') return;
    if (typeof result === 'string')
      await sendResponse(respond, { text: strings.command.tooLate, blocks: [] });
    else await sendResponse(respond, result);
  }
}

/** By response_url: the bot need not be in the channel, and its lanes are not used. */
async function sendResponse(respond: RespondFn, { text, blocks }: RenderedMessage): Promise<void> {
  const shown = blocks.length === 0 ? {} : { blocks: [...blocks] };
  await respond({ response_type: 'ephemeral', text, ...shown });
}

function subcommandOf(text: string): string {
  return text.trim().toLowerCase().split(/\s+/, 1)[0] ?? '';
}

function isSubcommand(
  subcommand: string,
  handlers: SlashCommandHandlers,
): subcommand is keyof SlashCommandHandlers {
  return Object.hasOwn(handlers, subcommand);
}
