import type { App } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { StartModal } from '../features/start/start-modal.ts';
import * as strings from '../render/strings/index.ts';
import { parseActor, runAfterAck, type SendEphemeral } from './press.ts';
import { explainUnopened } from './start-form-listener.ts';

/** Who shows the form. */
export type ShortcutHandlers = Pick<StartModal, 'openBlank' | 'openAboutMessage'>;

/** Tells a person something where no channel is known. */
export type SendDirectly = (workspace: string, person: string, sentence: string) => Promise<void>;

const globalShortcutSchema = z.looseObject({ trigger_id: z.string() });
const messageShortcutSchema = globalShortcutSchema.extend({
  action_ts: z.string(),
  channel: z.looseObject({ id: z.string() }),
  message: z.looseObject({ ts: z.string(), thread_ts: z.string().optional() }),
});

/** Takes the shortcuts of the manifest: a new task, and a question about a message. */
export function registerShortcutListeners(
  app: App,
  forms: ShortcutHandlers,
  tell: { inChannel: SendEphemeral; directly: SendDirectly },
  log: Logger,
): void {
  const background = (work: Promise<void>) => runAfterAck(work, log, 'a form could not be shown');

  app.shortcut({ type: 'shortcut', callback_id: 'new_task' }, async ({ ack, body }) => {
    await ack();
    const request = parseRequest(body);
    if (request === undefined) return;
    background(
      forms.openBlank(request, undefined).then(async (opened) => {
        if (opened === 'late')
          await tell.directly(request.workspace, request.person, strings.command.tooLate);
      }),
    );
  });

  app.shortcut({ type: 'message_action', callback_id: 'ask_about' }, async ({ ack, body }) => {
    const parsed = messageShortcutSchema.safeParse(body);
    await ack();
    const request = parseRequest(body);
    if (!parsed.success || request === undefined) return;
    const { action_ts, channel, message } = parsed.data;
    const root = message.thread_ts ?? message.ts;
    const { workspace, person } = request;
    const location = { workspace, person, channel: channel.id, threadTs: root };
    background(
      forms
        .openAboutMessage(request, { channel: channel.id, root, ts: action_ts, message })
        .then((opened) => explainUnopened(tell.inChannel, location, opened)),
    );
  });
}

function parseRequest(body: unknown) {
  const actor = parseActor(body);
  const parsed = globalShortcutSchema.safeParse(body);
  return actor && parsed.success ? { ...actor, triggerId: parsed.data.trigger_id } : undefined;
}
