import { z } from 'zod';
import type { Visitor } from '../relay/admins.ts';

const who = {
  team: z.looseObject({ id: z.string() }).nullish(),
  user: z.looseObject({ id: z.string(), team_id: z.string().optional() }),
};

const pressShape = z.looseObject({ ...who, trigger_id: z.string() });

const formShape = z.looseObject({
  ...who,
  view: z.looseObject({ id: z.string(), app_installed_team_id: z.string().nullish(), state: z.unknown() }),
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
  const visitor = press && visitorOf(press);
  return press && visitor && { visitor, triggerId: press.trigger_id };
}

/** A form that was opened from the Home tab; undefined where it is not for us. */
export function readVisitorForm(body: unknown): VisitorForm | undefined {
  const form = formShape.safeParse(body).data;
  const visitor = form && visitorOf({ ...form, installed: form.view.app_installed_team_id });
  return form && visitor && { visitor, viewId: form.view.id, state: form.view.state };
}

function visitorOf(press: {
  team?: { id: string } | null | undefined;
  user: { id: string; team_id?: string | undefined };
  installed?: string | null | undefined;
}): Visitor | undefined {
  const workspace = press.installed ?? press.team?.id ?? press.user.team_id;
  return workspace === undefined ? undefined : { workspace, person: press.user.id };
}
