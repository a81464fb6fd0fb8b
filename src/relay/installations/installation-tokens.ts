import { z } from 'zod';
import { encryptionContext } from '../../store/workspaces/encryption-context.ts';
import type { Keyring } from '../../store/workspaces/keyring.ts';

const tokensSchema = z.object({
  bot: z.object({ token: z.string().min(1), refreshToken: z.string().min(1).optional() }),
  user: z.object({ id: z.string(), token: z.string().min(1) }).optional(),
});

/** The tokens of an installation. */
export type InstallationTokens = z.output<typeof tokensSchema>;

/** An installation that Slack has granted. */
export interface GrantedInstallation {
  /** The workspace (`T…`), or the organisation (`E…`). */
  workspace: string;
  enterprise: string | undefined;
  organisation: boolean;
  name: string;
  botUser: string;
  botId: string;
  tokens: InstallationTokens;
  /** Who installed it. */
  installer: string;
  /** When the bot's token ends; undefined where it does not. */
  expiresAt: Date | undefined;
}

/** The tokens as the database keeps them: only as this installation's can they be opened again. */
export function encryptTokens(keyring: Keyring, workspace: string, tokens: InstallationTokens): string {
  return keyring.encrypt(JSON.stringify(tokens), encryptionContext.installation(workspace));
}

/** The tokens of a row. Throws SealError. */
export function decryptTokens(keyring: Keyring, workspace: string, encrypted: string): InstallationTokens {
  return tokensSchema.parse(
    JSON.parse(keyring.decrypt(encrypted, encryptionContext.installation(workspace))),
  );
}
