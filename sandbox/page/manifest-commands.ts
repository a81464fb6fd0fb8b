import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { manifestSchema } from '../slack/manifest-schema.ts';
import type { ManifestCommand } from './page-protocol.ts';

/** The commands and shortcuts that the app's manifest declares. */
export interface ManifestCommands {
  commands: ManifestCommand[];
  shortcuts: ManifestCommand[];
  messageShortcuts: ManifestCommand[];
}

/** Those of manifest.yml. */
export function readManifestCommands(): ManifestCommands {
  const text = readFileSync(new URL('../../manifest.yml', import.meta.url), 'utf8');
  const { features } = manifestSchema.parse(parse(text));
  const shortcuts = (type: 'global' | 'message') =>
    features.shortcuts
      .filter((one) => one.type === type)
      .map(({ callback_id: id, name, description }) => ({ id, name, description, hint: '' }));
  return {
    commands: features.slash_commands.map(({ command, description, usage_hint: hint = '' }) => ({
      id: command,
      name: command,
      description,
      hint,
    })),
    shortcuts: shortcuts('global'),
    messageShortcuts: shortcuts('message'),
  };
}
