import { z } from 'zod';
import type { Visitor } from '../relay/admins.ts';
import { readActor } from './press.ts';

const pressShape = z.looseObject({ trigger_id: z.string() });

const formShape = z.looseObject({
  view: z.looseObject({ id: z.string(), state: z.unknown() }),
});

/** Somebody pressed a button of the Home tab. */
export interface VisitorPress {
  visitor: Visitor;
  triggerId: string;
}

/** Somebody sent a form that was opened from the Home tab. */
export interface VisitorForm {
  visitor: Visitor;
  viewId: string;
  /** Of the view, as Slack sends it. */
  state: unknown;
}

/** A press in the Home tab; undefined where it is not for us. */
export function readVisitorPress(body: unknown): VisitorPress | undefined {
  const press = pressShape.safeParse(body).data;
  const visitor = readActor(body);
  return press && visitor && { visitor, triggerId: press.trigger_id };
}

/** A form that was opened from the Home tab; undefined where it is not for us. */
export function readVisitorForm(body: unknown): VisitorForm | undefined {
  const view = formShape.safeParse(body).data?.view;
  const visitor = readActor(body);
  return view && visitor && { visitor, viewId: view.id, state: view.state };
}
