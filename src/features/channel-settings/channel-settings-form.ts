import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Project } from '../../agent/service-schema.ts';
import type { ChannelSettings } from '../../store/projects/channel-settings-store.ts';
import { parseBotList } from '../bot-list.ts';
import { asFieldText } from './channel-settings-view.ts';

/** What a form was filled with, as far as it is needed to see what somebody changed. Short: it travels with the form. */
const snapshotSchema = z.object({
  channel: z.string(),
  settings: z.object({
    model: z.string().nullable(),
    listens: z.enum(['mentions', 'everything']),
    admits: z.enum(['members', 'guests', 'everyone']).nullable(),
    bots: z.array(z.string()).nullable().default(null),
    controls: z.enum(['starter', 'channel', 'admins']).nullable(),
    show_steps: z.boolean(),
    follows_name: z.boolean(),
  }),
  /** Digests of the project's texts; null where the service did not tell them. */
  title: z.string().nullable(),
  description: z.string().nullable(),
});

export type ChannelSettingsSnapshot = z.output<typeof snapshotSchema>;

/** What somebody sent; what the form did not ask for is undefined. */
export interface ChannelSettingsValues {
  project: string;
  title: string | undefined;
  description: string | undefined;
  model: string | undefined;
  listens: string | undefined;
  admits: string | undefined;
  /** As they are typed. */
  bots: string | undefined;
  controls: string | undefined;
  /** What is ticked. */
  more: readonly string[];
}

/** What somebody changed. */
export interface ChannelSettingsChange {
  settings: Partial<ChannelSettings>;
  /** The id of another project. */
  project: string | undefined;
  texts: { title?: string; description?: string };
}

/** What is to come back with a form; the project is left out where its texts are not known. */
export function encodeSnapshot(
  channel: string,
  settings: ChannelSettings,
  project: Project | undefined,
): string {
  const { model, listens, admits, bots, controls, show_steps, follows_name } = settings;
  const form: ChannelSettingsSnapshot = {
    channel,
    settings: { model, listens, admits, bots, controls, show_steps, follows_name },
    title: project === undefined ? null : digest(asFieldText(project.title)),
    description: project === undefined ? null : digest(asFieldText(project.description)),
  };
  return JSON.stringify(form);
}

/** Reads what came back with a form; undefined where it is none of ours. */
export function parseSnapshot(metadata: string): ChannelSettingsSnapshot | undefined {
  try {
    return snapshotSchema.safeParse(JSON.parse(metadata)).data;
  } catch {
    return undefined;
  }
}

/** What somebody changed in a form; undefined where it holds a value that was not to choose from. */
export function changesSince(
  snapshot: ChannelSettingsSnapshot,
  values: ChannelSettingsValues,
): ChannelSettingsChange | undefined {
  const { model, listens, admits, bots, controls, more } = values;
  const named = bots === undefined ? snapshot.settings.bots : parseBotList(bots);
  if (named === undefined) return undefined;
  const wanted = snapshotSchema.shape.settings.safeParse({
    model: model === undefined ? snapshot.settings.model : nullIfUsual(model),
    listens: listens ?? snapshot.settings.listens,
    admits: admits === undefined ? snapshot.settings.admits : nullIfUsual(admits),
    bots: named,
    controls: controls === undefined ? snapshot.settings.controls : nullIfUsual(controls),
    show_steps: more.includes('show_steps'),
    follows_name: more.includes('follows_name'),
  });
  if (!wanted.success) return undefined;
  const settings: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(wanted.data)) {
    if (Object.entries(snapshot.settings).some(([known, before]) => known === name && !isSame(before, value)))
      settings[name] = value;
  }
  const project = values.project.trim();
  return {
    settings,
    project: project === '' ? undefined : project,
    texts: {
      ...textChange('title', values.title, snapshot.title),
      ...textChange('description', values.description, snapshot.description),
    },
  };
}

function textChange(name: 'title' | 'description', text: string | undefined, digestBefore: string | null) {
  if (text === undefined) return {};
  // What was not shown can be set, but not be cleared: nobody saw what is there.
  const changed = digestBefore === null ? text !== '' : digest(text) !== digestBefore;
  return changed ? { [name]: text } : {};
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function nullIfUsual(value: string): string | null {
  return value === 'usual' ? null : value;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}
