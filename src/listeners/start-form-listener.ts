import type { App } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { ModalOutcome } from '../features/open-modal.ts';
import type { StartFormValues } from '../features/start/start-form-content.ts';
import type { StartFormAnswer, StartFormHandler } from '../features/start/start-form-handler.ts';
import type { StartModal } from '../features/start/start-modal.ts';
import { parseStartFormMetadata, START_CALLBACK } from '../features/start/start-view.ts';
import * as strings from '../render/strings/index.ts';
import { onPress, type PressLocation, parseForm, type SendEphemeral } from './press.ts';

const inputStateSchema = z.looseObject({
  value: z.string().nullish(),
  selected_option: z.looseObject({ value: z.string() }).nullish(),
  selected_options: z.array(z.looseObject({ value: z.string() })).nullish(),
  selected_conversation: z.string().nullish(),
  files: z.array(z.unknown()).nullish(),
});
type InputState = z.output<typeof inputStateSchema>;

const formValues = z.record(z.string(), z.record(z.string(), inputStateSchema));

const blocksSchema = z.looseObject({
  view: z.looseObject({
    blocks: z.array(z.looseObject({ type: z.string(), block_id: z.string().optional() })),
  }),
});

/** Handles the form that starts tasks, and the buttons that open it again for an earlier question. */
export function registerStartFormListeners(
  app: App,
  formHandler: Pick<StartFormHandler, 'submit'>,
  startModal: Pick<StartModal, 'openAgain'>,
  sendEphemeral: SendEphemeral,
  log: Logger,
): void {
  app.view(START_CALLBACK, async ({ ack, body }) => {
    const form = parseForm(body, formValues);
    const metadata = form && parseStartFormMetadata(form.metadata);
    if (form === undefined || metadata === undefined) {
      log.warn('ignored a start form that cannot be read');
      await ack();
      return;
    }
    const { actor, viewId, values } = form;
    const submission = { ...metadata, ...actor, viewId, values: toStartFormValues(values) };
    await ack(viewResponse(await formHandler.submit(submission), firstInputId(body)));
  });
  for (const [id, where] of [
    ['choose_again', 'thread'],
    ['new_thread', 'channel'],
  ] as const) {
    onPress(app, id, log, async ({ actor, location, turnId, triggerId, ts }) => {
      if (location === undefined || turnId === undefined) return;
      const question = { turnId, channel: location.channel, ts, where };
      const opened = await startModal.openAgain({ ...actor, triggerId }, question);
      await explainUnopened(sendEphemeral, location, opened);
    });
  }
}

/** Tells a person why no modal opened. */
export async function explainUnopened(
  sendEphemeral: SendEphemeral,
  location: PressLocation,
  opened: ModalOutcome,
): Promise<void> {
  if (opened === 'done') return;
  await sendEphemeral(location, opened === 'late' ? strings.command.tooLate : strings.controlFailed.unknown);
}

function viewResponse(answer: StartFormAnswer, errorBlockId: string) {
  switch (answer.do) {
    case 'close':
      return undefined;
    case 'show_error':
      return { response_action: 'errors' as const, errors: { [errorBlockId]: answer.sentence } };
    case 'show_view':
      return { response_action: 'update' as const, view: answer.view };
  }
}

/** Slack shows errors at an input: the first one is the channel's, or else the question's. */
function firstInputId(body: unknown): string {
  const blocks = blocksSchema.safeParse(body).data?.view.blocks ?? [];
  return blocks.find(({ type }) => type === 'input')?.block_id ?? 'skill';
}

function toStartFormValues(values: z.output<typeof formValues>): StartFormValues {
  const input = (id: string): InputState | undefined => values[id]?.[id];
  const question = input('question');
  const model = input('model')?.selected_option?.value;
  const mode = input('mode')?.selected_option?.value;
  return {
    channel: input('channel')?.selected_conversation ?? undefined,
    question: question === undefined ? undefined : (question.value ?? ''),
    title: input('title')?.value ?? undefined,
    model: model === 'usual' ? undefined : model,
    skill: input('used_skill')?.selected_option?.value ?? input('skill')?.value ?? undefined,
    noFallback: (input('fallback')?.selected_options ?? []).length > 0,
    mode: mode === 'auto' || mode === 'plan' ? mode : undefined,
    files: input('files')?.files ?? [],
  };
}
