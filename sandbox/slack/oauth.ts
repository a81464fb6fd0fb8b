import type { Request, Response } from 'express';
import { z } from 'zod';
import type { Fields, Team } from './model.ts';
import { SlackRefusal } from './slack-refusal.ts';
import { type Method, maybe, method, type WorkspaceDeps } from './web-api-method.ts';

/** An approved installation whose token the app has not fetched. */
interface Code {
  team: Team;
  redirectUri: string | undefined;
}

/** Installs the app in a workspace or organisation by OAuth; everybody approves. */
export class OAuth {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly #deps: WorkspaceDeps;
  readonly #codes = new Map<string, Code>();

  constructor(deps: WorkspaceDeps) {
    this.#deps = deps;
    this.clientId = `${deps.world.ids.letters(10)}.${deps.world.ids.letters(10)}`;
    this.clientSecret = deps.world.ids.letters(32).toLowerCase();
  }

  /** A code that oauth.v2.access accepts once. */
  code(team: Team, redirectUri?: string): string {
    const code = this.#deps.world.ids.letters(24);
    this.#codes.set(code, { team, redirectUri });
    return code;
  }

  /**
   * Handles GET /oauth/v2/authorize: redirects to the app with a code. The parameter `team` selects the workspace (one of
   * an organisation stands for the whole organisation); `cancel` declines.
   */
  authorize(request: Request, response: Response): void {
    const query = new URL(request.originalUrl, 'http://localhost').searchParams;
    const team =
      this.#deps.world.teams.get(query.get('team') ?? '') ?? [...this.#deps.world.teams.values()][0];
    const back = query.get('redirect_uri');
    if (team === undefined || back === null || query.get('client_id') !== this.clientId) {
      response.status(400).send('invalid client_id or redirect_uri');
      return;
    }
    const url = new URL(back);
    if (query.has('cancel')) url.searchParams.set('error', 'access_denied');
    else url.searchParams.set('code', this.code(team, back));
    url.searchParams.set('state', query.get('state') ?? '');
    response.redirect(302, url.href);
  }

  methods(): Record<string, Method> {
    const shape = z.looseObject({
      code: maybe,
      client_id: maybe,
      client_secret: maybe,
      redirect_uri: maybe,
      grant_type: maybe,
      refresh_token: maybe,
    });
    return {
      'oauth.v2.access': method({ tier: 'tier4', token: 'none' }, shape, (args) => {
        if (args.client_id !== this.clientId) throw new SlackRefusal('invalid_client_id');
        if (args.client_secret !== this.clientSecret) throw new SlackRefusal('bad_client_secret');
        if (args.grant_type === 'refresh_token') return this.#refreshed(args.refresh_token ?? '');
        const code = this.#codes.get(args.code ?? '');
        if (code === undefined) throw new SlackRefusal('invalid_code');
        if (code.redirectUri !== args.redirect_uri) throw new SlackRefusal('bad_redirect_uri');
        this.#codes.delete(args.code ?? '');
        code.team.installation.install(this.#deps.settings.rotation);
        return this.#answer(code.team);
      }),
    };
  }

  #refreshed(refreshToken: string): Fields {
    const teams = [...this.#deps.world.teams.values()];
    const team = teams.find(({ installation }) => installation.refresh(refreshToken));
    if (team === undefined) throw new SlackRefusal('invalid_refresh_token');
    return this.#answer(team);
  }

  #answer(team: Team): Fields {
    const { installation, bot } = team;
    const { organisation } = installation;
    return {
      app_id: bot.appId,
      authed_user: { id: [...team.people.keys()][0] },
      scope: [...this.#deps.settings.scopes].join(','),
      token_type: 'bot',
      access_token: installation.token,
      ...(installation.refreshToken === undefined
        ? {}
        : { refresh_token: installation.refreshToken, expires_in: installation.expiresIn }),
      bot_user_id: bot.userId,
      team: organisation === undefined ? { id: team.id, name: team.name } : null,
      enterprise: organisation ?? null,
      is_enterprise_install: organisation !== undefined,
    };
  }
}
