import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import type { ManifestCommand } from './page-protocol.ts';

const manifestSchema = z.looseObject({
  features: z.looseObject({
    slash_commands: z
      .array(
        z.looseObject({
          command: z.string(),
          description: z.string().default(''),
          usage_hint: z.string().default(''),
        }),
      )
      .default([]),
    shortcuts: z
      .array(
        z.looseObject({
          callback_id: z.string(),
          name: z.string(),
          type: z.enum(['global', 'message']),
          description: z.string().default(''),
        }),
      )
      .default([]),
  }),
});

/** The commands and shortcuts that the app's manifest declares. */
export interface ManifestCommands {
  commands: ManifestCommand[];
  shortcuts: ManifestCommand[];
  messageShortcuts: ManifestCommand[];
}

/** Parses a manifest in YAML; manifest.yml by default. */
export function readManifestCommands(
  text = readFileSync(new URL('../../manifest.yml', import.meta.url), 'utf8'),
): ManifestCommands {
  const { features } = manifestSchema.parse(parse(text));
  const shortcuts = (type: 'global' | 'message') =>
    features.shortcuts
      .filter((one) => one.type === type)
      .map(({ callback_id: id, name, description }) => ({ id, name, description, hint: '' }));
  return {
    commands: features.slash_commands.map(({ command, description, usage_hint: hint }) => ({
      id: command,
      name: command,
      description,
      hint,
    })),
    shortcuts: shortcuts('global'),
    messageShortcuts: shortcuts('message'),
  };
}
