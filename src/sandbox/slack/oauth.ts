import type { Request, Response } from 'express';
import { z } from 'zod';
import { type Method, maybe, method, type Parts, text } from './method.ts';
import type { Team } from './model.ts';
import { Refusal } from './refusal.ts';

/** Installing the app in a workspace by OAuth; every person who is asked says yes. */
export class OAuth {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly #parts: Parts;
  readonly #codes = new Map<string, string>();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.clientId = `${parts.world.ids.letters(10)}.${parts.world.ids.letters(10)}`;
    this.clientSecret = parts.world.ids.letters(32).toLowerCase();
  }

  /** A code that oauth.v2.access takes once. */
  code(team: Team): string {
    const code = this.#parts.world.ids.letters(24);
    this.#codes.set(code, team.id);
    return code;
  }

  /** GET /oauth/v2/authorize: back to the app with a code; `team` names the workspace. */
  authorize(request: Request, response: Response): void {
    const query = new URL(request.originalUrl, 'http://localhost').searchParams;
    const team =
      this.#parts.world.teams.get(query.get('team') ?? '') ?? [...this.#parts.world.teams.values()][0];
    const back = query.get('redirect_uri');
    if (team === undefined || back === null || query.get('client_id') !== this.clientId) {
      response.status(400).send('invalid client_id or redirect_uri');
      return;
    }
    const url = new URL(back);
    url.searchParams.set('code', this.code(team));
    url.searchParams.set('state', query.get('state') ?? '');
    response.redirect(302, url.href);
  }

  methods(): Record<string, Method> {
    return {
      'oauth.v2.access': method(
        { tier: 'tier4', token: 'none' },
        z.looseObject({ code: text, client_id: maybe, client_secret: maybe }),
        (args) => {
          const own =
            args.client_id === undefined ||
            (args.client_id === this.clientId && args.client_secret === this.clientSecret);
          if (!own) throw new Refusal('bad_client_secret');
          const team = this.#parts.world.teams.get(this.#codes.get(args.code) ?? '');
          if (team === undefined) throw new Refusal('invalid_code');
          this.#codes.delete(args.code);
          team.tokenState = 'live';
          return {
            app_id: team.bot.appId,
            authed_user: { id: [...team.people.keys()][0] },
            scope: [...this.#parts.settings.scopes].join(','),
            token_type: 'bot',
            access_token: team.botToken,
            bot_user_id: team.bot.userId,
            team: { id: team.id, name: team.name },
            enterprise: null,
            is_enterprise_install: false,
          };
        },
      ),
    };
  }
}
