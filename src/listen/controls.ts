import type { App } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { ControlRequest, Controls } from '../relay/controls.ts';
import * as words from '../reply/words.ts';

/** A press on one of our buttons. */
export interface Press extends ControlRequest {
  channel: string;
  /** The thread that the message stands in. */
  threadTs: string | undefined;
  /** When the button was pressed, as Slack's action_ts. */
  ts: string;
}

/** Who carries the controls out. */
export type ControlListeners = Pick<Controls, 'stop' | 'continue'>;

const pressShape = z.looseObject({
  team: z.looseObject({ id: z.string() }).nullish(),
  user: z.looseObject({ id: z.string(), team_id: z.string().optional() }),
  channel: z.looseObject({ id: z.string() }),
  container: z
    .looseObject({ thread_ts: z.string().optional(), message_ts: z.string().optional() })
    .optional(),
  actions: z.array(z.looseObject({ value: z.uuid(), action_ts: z.string() })).min(1),
});

/** Takes the presses of our buttons; each is carried out before it is acknowledged. */
export function listenToControls(
  app: App,
  listeners: ControlListeners,
  tell: (press: Press, sentence: string) => Promise<void>,
  log: Logger,
): void {
  for (const control of ['stop', 'continue'] as const) {
    app.action(control, async ({ ack, body }) => {
      const press = readPress(body);
      if (press === undefined) {
        log.warn({ control }, 'a press that cannot be read is passed over');
        await ack();
        return;
      }
      const outcome = await listeners[control]({ ...press, text: words.continueMessage });
      await ack();
      if (outcome !== 'done') await tell(press, words.controlOver[outcome]);
    });
  }
  // Links are followed by Slack itself; the press is only told to us.
  app.action('open_result', async ({ ack }) => ack());
}

function readPress(body: unknown): Press | undefined {
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
    threadTs: container?.thread_ts ?? container?.message_ts,
    ts: action.action_ts,
  };
}
