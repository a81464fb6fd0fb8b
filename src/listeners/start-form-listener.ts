import type { StartForm } from '../features/start/start-form.ts';
import type { StartFormSubmissions, StartFormValues } from '../features/start/start-form-submission.ts';
import { parseStartFormMetadata, START_CALLBACK } from '../features/start/start-form-view.ts';
import { type FormSubmission, formErrors, type ListenerContext, onForm, onPress } from './press.ts';

/** Handles the form that starts tasks, and the buttons that open it again for an earlier question. */
export function registerStartFormListeners(
  context: ListenerContext,
  formHandler: StartFormSubmissions,
  startModal: StartForm,
): void {
  onForm(context, START_CALLBACK, async (form) => {
    const metadata = parseStartFormMetadata(form.metadata);
    if (metadata === undefined) return undefined;
    const { actor, viewId, firstInput } = form;
    const submission = { ...metadata, ...actor, viewId, values: startFormValues(form) };
    const answer = await formHandler.submit(submission);
    if (typeof answer === 'string') return formErrors({ [firstInput]: answer });
    return answer && { response_action: 'update', view: answer };
  });
  for (const [id, where] of [
    ['choose_again', 'thread'],
    ['new_thread', 'channel'],
  ] as const) {
    onPress(context, id, async ({ actor, location, turnId, triggerId, ts, messageTs: reply }) => {
      if (location === undefined || turnId === undefined) return undefined;
      const question = { turnId, channel: location.channel, ts, where, reply };
      return startModal.openAgain({ ...actor, triggerId }, question);
    });
  }
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
