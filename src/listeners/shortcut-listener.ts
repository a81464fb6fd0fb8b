import { z } from 'zod';
import type { StartForm, StartFormRequest } from '../features/start/start-form.ts';
import type { WorkspaceActor } from '../relay/runtime/control-request.ts';
import * as strings from '../render/strings/index.ts';
import { optional } from '../slack/field-schemas.ts';
import { type ListenerContext, parseActor, runAfterAck } from './press.ts';

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
