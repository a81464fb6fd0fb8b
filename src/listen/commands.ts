import type { App, RespondFn } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { ChannelQuestion } from '../relay/starting/channel-overview.ts';
import type { StartForms } from '../relay/starting/start-forms.ts';
import type { Opened } from '../relay/windows.ts';
import type { RenderedMessage } from '../reply/slack-blocks.ts';
import * as words from '../reply/words.ts';
import { behindAnswer } from './press.ts';

/** Where the command was typed. */
export interface Typed extends ChannelQuestion {
  /** Lives 3 s. */
  triggerId: string;
}

/** What answers to a word behind the command: a message for that person alone, or a window that it opened. */
export type CommandHandler = (typed: Typed) => Promise<RenderedMessage | Opened>;

/** The words behind `/agent`. */
export type CommandHandlers = Readonly<
  Record<'new' | 'status' | 'stop' | 'tasks' | 'settings', CommandHandler>
>;

const commandShape = z.looseObject({
  team_id: z.string(),
  channel_id: z.string(),
  user_id: z.string(),
  trigger_id: z.string(),
  text: z.string().default(''),
});

/** The handlers of the command that belong to starting; the others come from their own rooms. */
export function startingHandlers(forms: Pick<StartForms, 'ask'>): Pick<CommandHandlers, 'new'> {
  return {
    new: ({ workspace, person, triggerId, channel }) => forms.ask({ workspace, person, triggerId }, channel),
  };
}

/** Takes `/agent`. It carries no thread; whatever else is typed than one of its words gets the help. */
export function listenToCommands(app: App, handlers: CommandHandlers, log: Logger): void {
  app.command('/agent', async ({ ack, body, respond }) => {
    const parsed = commandShape.safeParse(body);
    const word = parsed.success ? wordOf(parsed.data.text) : '';
    if (!parsed.success || !isWord(word, handlers)) {
      await ack({ response_type: 'ephemeral', text: words.commandHelp });
      return;
    }
    await ack();
    const { team_id: workspace, channel_id: channel, user_id: person, trigger_id: triggerId } = parsed.data;
    const work = answer(respond, () => handlers[word]({ workspace, channel, person, triggerId }));
    behindAnswer(work, log.child({ word }), 'a command could not be answered');
  });

  async function answer(respond: RespondFn, handle: () => Promise<RenderedMessage | Opened>): Promise<void> {
    let answered: RenderedMessage | Opened;
    try {
      answered = await handle();
    } catch (error) {
      await say(respond, { text: words.command.away, blocks: [] });
      throw error;
    }
    if (answered === 'done') return;
    if (typeof answered === 'string') await say(respond, { text: words.command.late, blocks: [] });
    else await say(respond, answered);
  }
}

/** By response_url: the bot need not be in the channel, and its lanes are not used. */
async function say(respond: RespondFn, { text, blocks }: RenderedMessage): Promise<void> {
  const shown = blocks.length === 0 ? {} : { blocks: [...blocks] };
  await respond({ response_type: 'ephemeral', text, ...shown });
}

function wordOf(text: string): string {
  return text.trim().toLowerCase().split(/\s+/, 1)[0] ?? '';
}

function isWord(word: string, handlers: CommandHandlers): word is keyof CommandHandlers {
  return Object.hasOwn(handlers, word);
}
