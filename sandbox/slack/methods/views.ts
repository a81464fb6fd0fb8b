import { z } from 'zod';
import { SlackRefusal } from '../slack-refusal.ts';
import { viewJson } from '../views.ts';
import { json, type Method, maybe, method, text, type WorkspaceDeps } from '../web-api-method.ts';

/** The methods for modals and the Home tab. */
export function viewMethods({ views, interactions }: WorkspaceDeps): Record<string, Method> {
  return {
    'views.open': method(
      { tier: 'tier4' },
      z.looseObject({ trigger_id: maybe, view: json }),
      (args, team) => {
        const user = interactions.useTrigger(team, args.trigger_id);
        return { view: viewJson(team, views.open(team, user, args.view)) };
      },
    ),

    'views.update': method(
      { tier: 'tier4' },
      z.looseObject({ view_id: maybe, hash: maybe, view: json }),
      (args, team) => ({ view: viewJson(team, views.update(team, args.view_id, args.hash, args.view)) }),
    ),

    'views.publish': method(
      { tier: 'tier4' },
      z.looseObject({ user_id: text, hash: maybe, view: json }),
      (args, team) => {
        if (!team.people.has(args.user_id)) throw new SlackRefusal('invalid_arguments');
        return { view: viewJson(team, views.publish(team, args.user_id, args.hash, args.view)) };
      },
    ),
  };
}
