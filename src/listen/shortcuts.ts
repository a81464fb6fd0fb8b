import type { App } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { StartForms } from '../relay/starting/start-forms.ts';
import * as words from '../reply/words.ts';
import { behindAnswer, readActor, type Telling } from './press.ts';
import { tellUnlessDone } from './start-modal.ts';

/** Who shows the form. */
export type ShortcutForms = Pick<StartForms, 'ask' | 'about'>;

/** Tells a person something where no channel is known. */
export type TellingDirectly = (workspace: string, person: string, sentence: string) => Promise<void>;

const globalShape = z.looseObject({ trigger_id: z.string() });
const messageShape = globalShape.extend({
  action_ts: z.string(),
  channel: z.looseObject({ id: z.string() }),
  message: z.looseObject({ ts: z.string(), thread_ts: z.string().optional() }),
});

/** Takes the shortcuts of the manifest: a new task, and a question about a message. */
export function listenToShortcuts(
  app: App,
  forms: ShortcutForms,
  tell: { inChannel: Telling; directly: TellingDirectly },
  log: Logger,
): void {
  const go = (work: Promise<void>) => behindAnswer(work, log, 'a form could not be shown');

  app.shortcut({ type: 'shortcut', callback_id: 'new_task' }, async ({ ack, body }) => {
    await ack();
    const request = requestOf(body);
    if (request === undefined) return;
    go(
      forms.ask(request, undefined).then(async (opened) => {
        if (opened === 'late') await tell.directly(request.workspace, request.person, words.command.late);
      }),
    );
  });

  app.shortcut({ type: 'message_action', callback_id: 'ask_about' }, async ({ ack, body }) => {
    const parsed = messageShape.safeParse(body);
    await ack();
    const request = requestOf(body);
    if (!parsed.success || request === undefined) return;
    const { action_ts, channel, message } = parsed.data;
    const root = message.thread_ts ?? message.ts;
    const { workspace, person } = request;
    const place = { workspace, person, channel: channel.id, threadTs: root };
    go(
      forms
        .about(request, { channel: channel.id, root, ts: action_ts, message })
        .then((opened) => tellUnlessDone(tell.inChannel, place, opened)),
    );
  });
}

function requestOf(body: unknown) {
  const actor = readActor(body);
  const parsed = globalShape.safeParse(body);
  return actor && parsed.success ? { ...actor, triggerId: parsed.data.trigger_id } : undefined;
}
