import type { RespondFn } from '@slack/bolt';
import { z } from 'zod';
import { listChannelTasks, listRunningTasks, stopOnlyRun } from '../features/agent-command-answers.ts';
import type { ModalOutcome, ModalTrigger } from '../features/modals.ts';
import type { SettingsModal } from '../features/settings/settings-modal.ts';
import type { StartForm, StartFormRequest } from '../features/start/start-form.ts';
import type { StartSubmissions } from '../features/start/start-form-submission.ts';
import type { StopControl } from '../relay/controls/stop-control.ts';
import type { ChannelActor } from '../relay/runtime/control-request.ts';
import type { RelayDeps } from '../relay/runtime/deps.ts';
import { inBackground } from '../relay/runtime/poller.ts';
import { sendDirectMessage } from '../relay/runtime/private-notices.ts';
import type { RenderedMessage } from '../render/blocks/slack-blocks.ts';
import { escapeMrkdwn } from '../render/markdown/pings.ts';
import * as strings from '../render/strings/index.ts';
import { shorten, unescapeHtml } from '../render/text-format.ts';
import { optional } from '../slack/field-schemas.ts';
import { parseActor } from './envelope.ts';
import { failureText, type ListenerContext, SAY_FAILURE_MS } from './interactions.ts';

/** A subcommand, with the words after it. */
type SlashCommand = ChannelActor & ModalTrigger & { words: string };

/** Handles one subcommand: with an ephemeral message, or a modal that it opened. */
type SlashCommandHandler = (command: SlashCommand) => Promise<RenderedMessage | ModalOutcome>;

const commandSchema = z.looseObject({
  team_id: z.string(),
  channel_id: z.string(),
  user_id: z.string(),
  trigger_id: z.string(),
  /** Slack may escape `&`, `<` and `>` in it, as in messages; nobody types such escapes. */
  text: z.string().transform(unescapeHtml).catch(''),
});

type AgentWordHandlers = Readonly<Record<keyof typeof strings.agentWords, SlashCommandHandler>>;

/** Answers each word after `/agent`. */
export function agentWordHandlers(
  deps: RelayDeps,
  startForm: Pick<StartForm, 'openNew'>,
  settings: Pick<SettingsModal, 'open'>,
  stopControl: Pick<StopControl, 'requestStop'>,
): AgentWordHandlers {
  return {
    new: ({ channel, words, ...request }) => startForm.openNew(request, channel, words),
    status: (command) => listRunningTasks(deps, command, true),
    stop: (command) => stopOnlyRun(deps, stopControl, command),
    tasks: (command) => listChannelTasks(deps, command),
    settings: settings.open,
  };
}

/** Handles `/agent`. Without a word, and after an unknown one, it shows the help; several words are a question, except after `new`. */
export function registerSlashCommand(
  { app, log }: ListenerContext,
  handlers: AgentWordHandlers,
  askQuestion: StartSubmissions['ask'],
): void {
  const byWord = new Map<string, SlashCommandHandler>(Object.entries(handlers));
  app.command('/agent', async ({ ack, body, respond }) => {
    const { data } = commandSchema.safeParse(body);
    const question = data?.text.trim() ?? '';
    const [word = '', ...rest] = question
      .toLowerCase()
      .replace(/[.!?]$/, '')
      .split(/\s+/);
    const isQuestion = rest.length > 0 && word !== 'new';
    const ask = (command: SlashCommand) => askQuestion(command, question);
    const handle = isQuestion ? ask : byWord.get(word);
    if (data === undefined || handle === undefined) {
      const text = ['', 'help'].includes(word)
        ? strings.commandHelp
        : strings.unknownCommand(escapeMrkdwn(shorten(word, 40)));
      await ack({ response_type: 'ephemeral', text });
      return;
    }
    await ack();
    const { team_id: workspace, channel_id: channel, user_id: person, trigger_id: triggerId } = data;
    const words = question.slice(word.length).trim();
    const handled = handle({ workspace, channel, person, triggerId, words });
    const work = tellOutcome(byResponseUrl(respond), handled);
    const subcommand = isQuestion ? 'question' : word;
    inBackground(work, log.child({ subcommand }), 'could not answer a command', 'warn');
  });
}

/** Tells a person what came of their command or shortcut, unless a modal shows it. Throws what `handled` throws, once that is told. */
async function tellOutcome(
  tell: (text: string, blocks?: RenderedMessage['blocks']) => Promise<unknown>,
  handled: ReturnType<SlashCommandHandler>,
): Promise<void> {
  const result = await handled.catch(async (error: unknown) => {
    await tell(failureText(error));
    throw error;
  });
  if (result === 'done') return;
  if (typeof result === 'string') await tell(strings.controlFailed.late);
  else await tell(result.text, result.blocks);
}

/** Works without the bot in the channel, for messages without replies, and outside the rate limits of its calls. */
function byResponseUrl(respond: RespondFn): Parameters<typeof tellOutcome>[0] {
  return (text, blocks = []) =>
    respond({ response_type: 'ephemeral', text, ...(blocks.length > 0 && { blocks }) });
}

const shortcutSchema = z.looseObject({ trigger_id: z.string() });
const messageShortcutSchema = z.looseObject({
  action_ts: z.string(),
  channel: z.looseObject({ id: z.string() }),
  message: z.looseObject({ ts: z.string(), thread_ts: optional(z.string()) }),
});

/** Handles the shortcuts of the manifest: a new task, and a question about a message. */
export function registerShortcuts({ app, log, deps }: ListenerContext, startModal: StartForm): void {
  const background = (work: Promise<void>) =>
    inBackground(work, log, 'could not show the start form', 'warn');

  app.shortcut({ type: 'shortcut', callback_id: 'new_task' }, async ({ ack, body }) => {
    await ack();
    const request = parseRequest(body);
    if (request === undefined) return;
    const tell = (text: string) =>
      sendDirectMessage(deps, request, text, AbortSignal.timeout(SAY_FAILURE_MS));
    background(tellOutcome(tell, startModal.openNew(request, undefined, '')));
  });

  app.shortcut({ type: 'message_action', callback_id: 'ask_about' }, async ({ ack, body, respond }) => {
    await ack();
    const request = parseRequest(body);
    const { data } = messageShortcutSchema.safeParse(body);
    if (data === undefined || request === undefined) return;
    const { action_ts: ts, message } = data;
    const { id: channel } = data.channel;
    const thread_ts = message.thread_ts ?? message.ts;
    const opening = startModal.openAboutMessage(request, { channel, thread_ts, ts, message });
    background(tellOutcome(byResponseUrl(respond), opening));
  });
}

function parseRequest(body: unknown): StartFormRequest | undefined {
  const actor = parseActor(body);
  const { data } = shortcutSchema.safeParse(body);
  return actor && data && { ...actor, triggerId: data.trigger_id };
}
