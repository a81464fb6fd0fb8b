import { z } from 'zod';
import type { HomeActor } from '../relay/access/admins.ts';
import { parseActor } from './press.ts';

const pressSchema = z.looseObject({ trigger_id: z.string() });

const formSchema = z.looseObject({
  view: z.looseObject({ id: z.string(), state: z.unknown() }),
});

/** Somebody pressed a button of the Home tab. */
export interface HomeActorPress {
  actor: HomeActor;
  triggerId: string;
}

/** Somebody sent a form that was opened from the Home tab. */
export interface HomeActorForm {
  actor: HomeActor;
  viewId: string;
  /** Of the view, as Slack sends it. */
  state: unknown;
}

/** A press in the Home tab; undefined where it is not for us. */
export function parseHomeActorPress(body: unknown): HomeActorPress | undefined {
  const press = pressSchema.safeParse(body).data;
  const actor = parseActor(body);
  return press && actor && { actor, triggerId: press.trigger_id };
}

/** A form that was opened from the Home tab; undefined where it is not for us. */
export function parseHomeActorForm(body: unknown): HomeActorForm | undefined {
  const view = formSchema.safeParse(body).data?.view;
  const actor = parseActor(body);
  return view && actor && { actor, viewId: view.id, state: view.state };
}
