import { z } from 'zod';
import type { Fields, Team } from '../model.ts';
import { SlackRefusal } from '../slack-refusal.ts';
import { type View, viewJson } from '../views.ts';
import { json, type Method, maybe, method, text, type WorkspaceDeps } from '../web-api-method.ts';

/** The methods for modals and the Home tab. */
export function viewMethods(deps: WorkspaceDeps): Record<string, Method> {
  const { views, interactions } = deps;
  const answer = (team: Team, view: View): Fields => {
    const stack = views.stack(view.user);
    return { view: viewJson(team, view, stack[0], stack[stack.indexOf(view) - 1]) };
  };
  const opened = z.looseObject({ trigger_id: maybe, view: json });

  return {
    'views.open': method({ tier: 'tier4' }, opened, (args, team) => {
      const user = interactions.useTrigger(team, args.trigger_id);
      return answer(team, views.open(team, user, args.view));
    }),

    'views.push': method({ tier: 'tier4' }, opened, (args, team) => {
      const user = interactions.useTrigger(team, args.trigger_id);
      return answer(team, views.push(team, user, args.view));
    }),

    'views.update': method(
      { tier: 'tier4' },
      z.looseObject({ view_id: maybe, external_id: maybe, hash: maybe, view: json }),
      (args, team) => {
        if (args.view_id === undefined && args.external_id === undefined) throw new SlackRefusal('not_found');
        const named = { id: args.view_id, externalId: args.external_id };
        return answer(team, views.update(team, named, args.hash, args.view));
      },
    ),

    'views.publish': method(
      { tier: 'tier4' },
      z.looseObject({ user_id: text, hash: maybe, view: json }),
      (args, team) => {
        if (!team.people.has(args.user_id)) throw new SlackRefusal('invalid_arguments');
        return answer(team, views.publish(team, args.user_id, args.hash, args.view));
      },
    ),
  };
}
