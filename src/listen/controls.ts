import type { App } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { ControlOutcome, Controls, Press } from '../relay/controls/controls.ts';
import * as words from '../reply/words.ts';

/** A press, and where it was made. */
export interface PlacedPress extends Press {
  channel: string;
  /** The thread that the message stands in. */
  threadTs: string | undefined;
}

/** Who carries the controls out. */
export type ControlListeners = Pick<
  Controls,
  'stop' | 'continue' | 'retry' | 'freshLinks' | 'correct' | 'go' | 'takeBack'
>;

/** Tells a person something that only they need to know. */
export type Telling = (
  place: Pick<PlacedPress, 'workspace' | 'channel' | 'person' | 'threadTs'>,
  sentence: string,
) => Promise<void>;

/** Our buttons, by their action id. */
const buttons = {
  stop: 'stop',
  continue: 'continue',
  retry: 'retry',
  fresh_links: 'freshLinks',
  correct: 'correct',
  go: 'go',
  take_back: 'takeBack',
} as const;

const buttonIds = new RegExp(`^(?:${Object.keys(buttons).join('|')})$`);

/** The message that a button stands in. */
export const containerShape = z
  .looseObject({
    thread_ts: z.string().optional(),
    message_ts: z.string().optional(),
    is_ephemeral: z.boolean().optional(),
  })
  .optional();

/** The thread of that message; one that only a person sees is no root of a thread. */
export function threadOf(container: z.output<typeof containerShape>): string | undefined {
  return container?.thread_ts ?? (container?.is_ephemeral ? undefined : container?.message_ts);
}

const pressShape = z.looseObject({
  team: z.looseObject({ id: z.string() }).nullish(),
  user: z.looseObject({ id: z.string(), team_id: z.string().optional() }),
  channel: z.looseObject({ id: z.string() }),
  container: containerShape,
  actions: z.array(z.looseObject({ value: z.uuid(), action_ts: z.string() })).min(1),
});

/**
 * Takes the presses of our buttons; each is carried out before it is acknowledged, but for fresh links: nothing of them
 * is kept, and the service may take longer than Slack waits.
 */
export function listenToControls(app: App, listeners: ControlListeners, tell: Telling, log: Logger): void {
  app.action(buttonIds, async ({ ack, body, action }) => {
    const id = 'action_id' in action ? action.action_id : '';
    const press = readPress(body);
    if (!isButton(id) || press === undefined) {
      log.debug({ action: id }, 'a press that is not for us is passed over');
      await ack();
      return;
    }
    if (id === 'fresh_links') {
      // Not awaited: over HTTP the answer to Slack goes out when the listener is done.
      listeners.freshLinks(press).then((outcome) => answer(press, outcome), failed);
      await ack();
      return;
    }
    const outcome = await listeners[buttons[id]](press);
    await ack();
    answer(press, outcome);
  });

  function answer(press: PlacedPress, outcome: ControlOutcome): void {
    if (outcome === 'done' || outcome === 'refused') return;
    tell(press, words.controlOver[outcome]).catch(failed);
  }

  function failed(error: unknown): void {
    log.warn({ err: error }, 'a press could not be answered');
  }
}

function isButton(id: string): id is keyof typeof buttons {
  return Object.hasOwn(buttons, id);
}

function readPress(body: unknown): PlacedPress | undefined {
  const parsed = pressShape.safeParse(body);
  if (!parsed.success) return undefined;
  const { team, user, channel, container, actions } = parsed.data;
  const workspace = team?.id ?? user.team_id;
  const action = actions[0];
  if (workspace === undefined || action === undefined) return undefined;
  return {
    workspace,
    turnId: action.value,
    person: user.id,
    channel: channel.id,
    threadTs: threadOf(container),
    ts: action.action_ts,
  };
}
