import type { ViewResponseAction } from '@slack/bolt';
import { z } from 'zod';
import type { StartFormValues } from '../features/start/start-form-message.ts';
import type { StartFormOpener } from '../features/start/start-form-opener.ts';
import type { StartFormAnswer, StartFormSubmissions } from '../features/start/start-form-submission.ts';
import { parseStartFormMetadata, START_CALLBACK } from '../features/start/start-form-view.ts';
import { type FormSubmission, formErrors, type ListenerContext, onPress, parseForm } from './press.ts';

const blocksSchema = z.looseObject({
  view: z.looseObject({
    blocks: z.array(z.looseObject({ type: z.string(), block_id: z.string().optional() })),
  }),
});

/** Handles the form that starts tasks, and the buttons that open it again for an earlier question. */
export function registerStartFormListeners(
  context: ListenerContext,
  formHandler: StartFormSubmissions,
  startModal: StartFormOpener,
): void {
  context.app.view(START_CALLBACK, async ({ ack, body }) => {
    const form = parseForm(body);
    const metadata = form && parseStartFormMetadata(form.metadata);
    if (form === undefined || metadata === undefined) {
      context.log.warn('ignored a start form that cannot be read');
      return ack();
    }
    const { actor, viewId } = form;
    const submission = { ...metadata, ...actor, viewId, values: startFormValues(form) };
    const response = viewResponse(await formHandler.submit(submission), firstInputId(body));
    await (response === undefined ? ack() : ack(response));
  });
  for (const [id, where] of [
    ['choose_again', 'thread'],
    ['new_thread', 'channel'],
  ] as const) {
    onPress(context, id, async ({ actor, location, turnId, triggerId, ts }) => {
      if (location === undefined || turnId === undefined) return undefined;
      const question = { turnId, channel: location.channel, ts, where };
      return startModal.openAgain({ ...actor, triggerId }, question);
    });
  }
}

function viewResponse(answer: StartFormAnswer, errorBlockId: string): ViewResponseAction | undefined {
  if (typeof answer === 'string') return formErrors({ [errorBlockId]: answer });
  return answer && { response_action: 'update', view: answer };
}

/** Slack shows errors at an input: the first one is the channel's, or else the question's. */
function firstInputId(body: unknown): string {
  const blocks = blocksSchema.safeParse(body).data?.view.blocks ?? [];
  return blocks.find(({ type }) => type === 'input')?.block_id ?? 'skill';
}

function startFormValues({ input }: FormSubmission): StartFormValues {
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
