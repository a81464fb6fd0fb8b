import { z } from 'zod';
import { DecryptionError, encryptionContext, type Keyring } from '../../store/workspaces/keyring.ts';

const tokensSchema = z.object({
  bot: z.object({ token: z.string().min(1), refreshToken: z.string().min(1).optional() }),
});

export type InstallationTokens = z.output<typeof tokensSchema>;

export interface GrantedInstallation {
  /** The workspace (`T…`), or the organisation (`E…`). */
  workspace: string;
  enterprise: string | undefined;
  organisation: boolean;
  name: string;
  botUser: string;
  botId: string;
  tokens: InstallationTokens;
  installer: string;
  /** When the bot token expires; undefined: never. */
  expiresAt: Date | undefined;
}

/** Encrypts tokens for the database. They can be decrypted only as this installation's. */
export function encryptTokens(keyring: Keyring, workspace: string, tokens: InstallationTokens): string {
  return keyring.encrypt(JSON.stringify(tokens), encryptionContext.installation(workspace));
}

/** Decrypts the tokens of a row. Throws DecryptionError. */
export function decryptTokens(keyring: Keyring, workspace: string, encrypted: string): InstallationTokens {
  const text = keyring.decrypt(encrypted, encryptionContext.installation(workspace));
  try {
    return tokensSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new DecryptionError('changed', error);
  }
}
