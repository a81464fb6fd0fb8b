import type { App } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { FormValues } from '../relay/starting/sent-form.ts';
import type { StartForms } from '../relay/starting/start-forms.ts';
import type { FormAnswer, SentForm, Starting } from '../relay/starting/starting.ts';
import type { Opened } from '../relay/windows.ts';
import { START_CALLBACK } from '../reply/views/start-view.ts';
import * as words from '../reply/words.ts';
import { jsonOf } from './json.ts';
import { behindAnswer, type PressPlace, readActor, readPlace, type Telling } from './press.ts';

/** Who shows the form, and carries it out. */
export interface StartListener extends Pick<Starting, 'submit'> {
  readonly forms: Pick<StartForms, 'again'>;
}

const chosen = z.looseObject({ value: z.string() }).nullish();
const state = z.looseObject({
  value: z.string().nullish(),
  selected_option: chosen,
  selected_options: z.array(z.looseObject({ value: z.string() })).nullish(),
  selected_conversation: z.string().nullish(),
  files: z.array(z.unknown()).nullish(),
});
type State = z.output<typeof state>;

const sentShape = z.looseObject({
  view: z.looseObject({
    id: z.string(),
    private_metadata: z.string(),
    blocks: z.array(z.looseObject({ type: z.string(), block_id: z.string().optional() })),
    state: z.looseObject({ values: z.record(z.string(), z.record(z.string(), state)) }),
  }),
});

const metadataShape = z.looseObject({
  id: z.uuid(),
  channel: z.string().optional(),
  from: z.string().optional(),
  drafted: z.boolean().optional(),
});

const pressShape = z.looseObject({
  trigger_id: z.string(),
  actions: z.array(z.looseObject({ value: z.uuid(), action_ts: z.string() })).min(1),
});

/** Takes the form by which tasks are begun, and the buttons that open it for a question that was asked before. */
export function listenToStartForm(app: App, starting: StartListener, tell: Telling, log: Logger): void {
  app.view(START_CALLBACK, async ({ ack, body }) => {
    const sent = readSent(body);
    if (sent === undefined) {
      log.warn('a form that cannot be read is passed over');
      await ack();
      return;
    }
    const answer = await starting.submit(sent.form);
    await ack(responseOf(answer, sent.complainAt));
  });
  for (const [id, where] of [
    ['choose_again', 'thread'],
    ['new_thread', 'channel'],
  ] as const) {
    app.action(id, async ({ ack, body }) => {
      const press = readPress(body);
      await ack();
      if (press === undefined) return;
      const { request, place, turnId, ts } = press;
      const work = starting.forms
        .again(request, { turnId, channel: place.channel, ts, where })
        .then((opened) => tellUnlessDone(tell, place, opened));
      behindAnswer(work, log, 'a form could not be shown');
    });
  }
}

/** Tells a person why no window opened. */
export async function tellUnlessDone(tell: Telling, place: PressPlace, opened: Opened): Promise<void> {
  if (opened === 'done') return;
  await tell(place, opened === 'late' ? words.command.late : words.controlOver.unknown);
}

function responseOf(answer: FormAnswer, complainAt: string) {
  switch (answer.do) {
    case 'close':
      return undefined;
    case 'complain':
      return { response_action: 'errors' as const, errors: { [complainAt]: answer.sentence } };
    case 'show':
      return { response_action: 'update' as const, view: answer.view };
  }
}

function readSent(body: unknown): { form: SentForm; complainAt: string } | undefined {
  const actor = readActor(body);
  const parsed = sentShape.safeParse(body);
  if (!parsed.success) return undefined;
  const { view } = parsed.data;
  const metadata = metadataShape.safeParse(jsonOf(view.private_metadata));
  if (actor === undefined || !metadata.success) return undefined;
  const inputs = view.blocks.filter(({ type }) => type === 'input').map((block) => block.block_id ?? '');
  const { id, channel, from, drafted = false } = metadata.data;
  const form = { ...actor, viewId: view.id, id, channel, from, drafted };
  // Slack shows a complaint at an input: the first is the channel's, or else the question's.
  return { form: { ...form, values: valuesOf(view.state.values) }, complainAt: inputs[0] ?? 'skill' };
}

function valuesOf(values: Record<string, Record<string, State>>): FormValues {
  const input = (id: string): State | undefined => values[id]?.[id];
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

function readPress(body: unknown) {
  const place = readPlace(body);
  const parsed = pressShape.safeParse(body);
  const action = parsed.data?.actions[0];
  if (place === undefined || !parsed.success || action === undefined) return undefined;
  const { workspace, person } = place;
  const request = { workspace, person, triggerId: parsed.data.trigger_id };
  return { request, place, turnId: action.value, ts: action.action_ts };
}
