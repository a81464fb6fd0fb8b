import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Project } from '../../agent/service-schema.ts';
import { parseJson } from '../../calls/json.ts';
import type { Settings } from '../../store/workspaces/settings-store.ts';
import { parseBotList } from './bot-list.ts';
import { asFieldText } from './channel-settings-view.ts';

/** The settings that a form opened with, to tell what was changed. Travels in the form's metadata (3,000 characters). */
const snapshotSchema = z.object({
  channel: z.string(),
  settings: z.object({
    model: z.string().nullable(),
    listen_mode: z.enum(['mentions', 'conversation', 'replies', 'everything']).nullable(),
    allowed_users: z.enum(['members', 'guests', 'everyone']).nullable(),
    allowed_bots: z.array(z.string()).nullable().default(null),
    task_control: z.enum(['starter', 'channel', 'admins']).nullable(),
    show_steps: z.boolean(),
    sync_project_name: z.boolean(),
    allow_workflow_steps: z.boolean().default(false),
  }),
  /** Digests of the project's texts; null if the service did not give them. */
  title: z.string().nullable(),
  description: z.string().nullable(),
});

export type ChannelSettingsSnapshot = z.output<typeof snapshotSchema>;

/** The values of a submitted form; undefined for fields that it did not have. */
export interface ChannelSettingsValues {
  project: string;
  title: string | undefined;
  description: string | undefined;
  model: string | undefined;
  listens: string | undefined;
  admits: string | undefined;
  /** As typed. */
  bots: string | undefined;
  controls: string | undefined;
  more: readonly string[];
}

export interface ChannelSettingsChange {
  settings: Partial<Settings>;
  /** The id of another project to use. */
  project: string | undefined;
  texts: { title?: string; description?: string };
}

/** The metadata of a form. `project` is undefined if its texts are not known. */
export function encodeSnapshot(channel: string, settings: Settings, project: Project | undefined): string {
  const form: ChannelSettingsSnapshot = {
    channel,
    settings: snapshotSchema.shape.settings.parse(settings),
    title: project === undefined ? null : digest(asFieldText(project.title)),
    description: project === undefined ? null : digest(asFieldText(project.description)),
  };
  return JSON.stringify(form);
}

/** Reads a form's metadata; undefined for anything else. */
export function parseSnapshot(metadata: string): ChannelSettingsSnapshot | undefined {
  return snapshotSchema.safeParse(parseJson(metadata)).data;
}

/** What was changed in a form; undefined if it holds a value that it did not offer. */
export function changesSince(
  snapshot: ChannelSettingsSnapshot,
  values: ChannelSettingsValues,
): ChannelSettingsChange | undefined {
  const { model, listens, admits, bots, controls, more } = values;
  const named = bots === undefined ? snapshot.settings.allowed_bots : parseBotList(bots);
  if (named === undefined) return undefined;
  const wanted = snapshotSchema.shape.settings.safeParse({
    model: model === undefined ? snapshot.settings.model : nullIfUsual(model),
    listen_mode: listens === undefined ? snapshot.settings.listen_mode : nullIfUsual(listens),
    allowed_users: admits === undefined ? snapshot.settings.allowed_users : nullIfUsual(admits),
    allowed_bots: named,
    task_control: controls === undefined ? snapshot.settings.task_control : nullIfUsual(controls),
    show_steps: more.includes('show_steps'),
    sync_project_name: more.includes('follows_name'),
    allow_workflow_steps: more.includes('allows_steps'),
  });
  if (!wanted.success) return undefined;
  const before = new Map<string, unknown>(Object.entries(snapshot.settings));
  const changed = Object.entries(wanted.data).filter(
    ([id, value]) => !isDeepStrictEqual(before.get(id), value),
  );
  const project = values.project.trim() || undefined;
  const texts = {
    ...textChange('title', values.title, snapshot.title),
    ...textChange('description', values.description, snapshot.description),
  };
  const settings: Partial<Settings> = Object.fromEntries(changed);
  const isChosen = project !== undefined || Object.keys(texts).length > 0;
  // A project or texts that people choose stay as they are, unless they ask for the channel's name at the same time.
  if (isChosen && snapshot.settings.sync_project_name) settings.sync_project_name = project ? null : false;
  return { settings, project, texts };
}

function textChange(name: 'title' | 'description', text: string | undefined, digestBefore: string | null) {
  if (text === undefined) return {};
  // A text that was not shown can be replaced, but an empty field does not clear it.
  const changed = digestBefore === null ? text !== '' : digest(text) !== digestBefore;
  return changed ? { [name]: text } : {};
}

function nullIfUsual(value: string): string | null {
  return value === 'usual' ? null : value;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}
