import { z } from 'zod';
import type { Keyring } from '../../store/keyring.ts';
import { sealedPlaces } from '../../store/sealed-places.ts';

const tokensShape = z.object({
  bot: z.object({ token: z.string().min(1), refreshToken: z.string().min(1).optional() }),
  user: z.object({ id: z.string(), token: z.string().min(1) }).optional(),
});

/** The tokens of an installation. */
export type Tokens = z.output<typeof tokensShape>;

/** An installation that Slack has granted. */
export interface Granted {
  /** The workspace (`T…`), or the organisation (`E…`). */
  workspace: string;
  enterprise: string | undefined;
  organisation: boolean;
  name: string;
  botUser: string;
  botId: string;
  tokens: Tokens;
  /** Who installed it. */
  installer: string;
  /** When the bot's token ends; undefined where it does not. */
  expiresAt: Date | undefined;
}

/** The tokens as the database keeps them: only as this installation's can they be opened again. */
export function sealTokens(keyring: Keyring, workspace: string, tokens: Tokens): string {
  return keyring.seal(JSON.stringify(tokens), sealedPlaces.installation(workspace));
}

/** The tokens of a row. Throws SealError. */
export function openTokens(keyring: Keyring, workspace: string, sealed: string): Tokens {
  return tokensShape.parse(JSON.parse(keyring.open(sealed, sealedPlaces.installation(workspace))));
}
