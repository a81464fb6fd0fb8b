import type { z } from 'zod';

/** What operators need to know about a setting. */
interface SettingNote {
  what: string;
  /** Where to find it. */
  where?: string;
  secret?: true;
  /** Required, except in the case that `what` names. */
  required?: true;
}

/** By name; filled as the schema is built. */
export const settingNotes = new Map<string, SettingNote>();

/** Notes what operators need to know about a setting, and returns its schema. */
export function setting<Schema extends z.ZodType>(name: string, schema: Schema, note: SettingNote): Schema {
  settingNotes.set(name, note);
  return schema;
}

/** What is wrong with a setting (`message`; nothing if it is missing), what it is for and where to find it. */
export function describeProblem(
  name: string,
  set: Readonly<Record<string, string | undefined>>,
  message: string,
): string {
  const note = settingNotes.get(name);
  const where = note?.where === undefined ? '' : ` Find it at: ${note.where}.`;
  const state = set[name] === undefined ? 'is missing' : `is invalid (${message})`;
  return `${name} ${state}. ${note?.what ?? ''}${where}`;
}
