import type { App } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { ModalOutcome } from '../features/open-modal.ts';
import type { StartFormValues } from '../features/start/start-form-content.ts';
import type {
  StartFormAnswer,
  StartFormHandler,
  StartFormSubmission,
} from '../features/start/start-form-handler.ts';
import type { StartModal } from '../features/start/start-modal.ts';
import { START_CALLBACK } from '../features/start/start-view.ts';
import * as strings from '../render/strings/index.ts';
import {
  type PressLocation,
  parseActor,
  parsePressLocation,
  runAfterAck,
  type SendEphemeral,
} from './press.ts';
import { tryParseJson } from './safe-json.ts';

/** Who shows the form, and carries it out. */
export interface StartFormActions extends Pick<StartFormHandler, 'submit'> {
  readonly forms: Pick<StartModal, 'openAgain'>;
}

const optionSchema = z.looseObject({ value: z.string() }).nullish();
const inputStateSchema = z.looseObject({
  value: z.string().nullish(),
  selected_option: optionSchema,
  selected_options: z.array(z.looseObject({ value: z.string() })).nullish(),
  selected_conversation: z.string().nullish(),
  files: z.array(z.unknown()).nullish(),
});
type InputState = z.output<typeof inputStateSchema>;

const submissionSchema = z.looseObject({
  view: z.looseObject({
    id: z.string(),
    private_metadata: z.string(),
    blocks: z.array(z.looseObject({ type: z.string(), block_id: z.string().optional() })),
    state: z.looseObject({ values: z.record(z.string(), z.record(z.string(), inputStateSchema)) }),
  }),
});

const metadataSchema = z.looseObject({
  id: z.uuid(),
  channel: z.string().optional(),
  from: z.string().optional(),
  drafted: z.boolean().optional(),
});

const pressSchema = z.looseObject({
  trigger_id: z.string(),
  actions: z.array(z.looseObject({ value: z.uuid(), action_ts: z.string() })).min(1),
});

/** Takes the form by which tasks are begun, and the buttons that open it for a question that was asked before. */
export function registerStartFormListeners(
  app: App,
  starting: StartFormActions,
  sendEphemeral: SendEphemeral,
  log: Logger,
): void {
  app.view(START_CALLBACK, async ({ ack, body }) => {
    const submission = parseSubmission(body);
    if (submission === undefined) {
      log.warn('a form that cannot be read is passed over');
      await ack();
      return;
    }
    const answer = await starting.submit(submission.form);
    await ack(viewResponse(answer, submission.complainAt));
  });
  for (const [id, where] of [
    ['choose_again', 'thread'],
    ['new_thread', 'channel'],
  ] as const) {
    app.action(id, async ({ ack, body }) => {
      const press = parsePress(body);
      await ack();
      if (press === undefined) return;
      const { request, place: location, turnId, ts } = press;
      const work = starting.forms
        .openAgain(request, { turnId, channel: location.channel, ts, where })
        .then((opened) => explainUnopened(sendEphemeral, location, opened));
      runAfterAck(work, log, 'a form could not be shown');
    });
  }
}

/** Tells a person why no window opened. */
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
    case 'complain':
      return { response_action: 'errors' as const, errors: { [errorBlockId]: answer.sentence } };
    case 'show':
      return { response_action: 'update' as const, view: answer.view };
  }
}

function parseSubmission(body: unknown): { form: StartFormSubmission; complainAt: string } | undefined {
  const actor = parseActor(body);
  const parsed = submissionSchema.safeParse(body);
  if (!parsed.success) return undefined;
  const { view } = parsed.data;
  const metadata = metadataSchema.safeParse(tryParseJson(view.private_metadata));
  if (actor === undefined || !metadata.success) return undefined;
  const inputs = view.blocks.filter(({ type }) => type === 'input').map((block) => block.block_id ?? '');
  const { id, channel, from, drafted = false } = metadata.data;
  const form = { ...actor, viewId: view.id, id, channel, from, drafted };
  // Slack shows a complaint at an input: the first is the channel's, or else the question's.
  return { form: { ...form, values: formValues(view.state.values) }, complainAt: inputs[0] ?? 'skill' };
}

function formValues(values: Record<string, Record<string, InputState>>): StartFormValues {
  const input = (id: string): InputState | undefined => values[id]?.[id];
  const question = input('question');
  const model = input('model')?.selected_option?.value;
  const mode = input('mode')?.selected_option?.value;
  return {
    channel: input('channel')?.selected_conversation ?? undefined,
    question: question === undefined ? undefined : (question.value ?? ''),
    title: input('title')?.value ?? undefined,
    model: model === 'usual' ? undefined : model,
    skill: input('skill')?.value ?? undefined,
    noFallback: (input('fallback')?.selected_options ?? []).length > 0,
    mode: mode === 'auto' || mode === 'plan' ? mode : undefined,
    files: input('files')?.files ?? [],
  };
}

function parsePress(body: unknown) {
  const location = parsePressLocation(body);
  const parsed = pressSchema.safeParse(body);
  const action = parsed.data?.actions[0];
  if (location === undefined || !parsed.success || action === undefined) return undefined;
  const { workspace, person } = location;
  const request = { workspace, person, triggerId: parsed.data.trigger_id };
  return { request, place: location, turnId: action.value, ts: action.action_ts };
}
