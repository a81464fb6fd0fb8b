import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Project } from '../../agent/schema.ts';
import { fieldText } from '../../reply/views/channel-settings-view.ts';
import type { ChannelSettings } from '../../store/channels.ts';
import { readBots } from '../admitting/bots.ts';

/** What a form was filled with, as far as it is needed to see what somebody changed. Short: it travels with the form. */
const shownShape = z.object({
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

export type ShownForm = z.output<typeof shownShape>;

/** What somebody sent; what the form did not ask for is undefined. */
export interface FilledForm {
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
export interface FormChange {
  settings: Partial<ChannelSettings>;
  /** The id of another project. */
  project: string | undefined;
  texts: { title?: string; description?: string };
}

/** What is to come back with a form; the project is left out where its texts are not known. */
export function shownForm(channel: string, settings: ChannelSettings, project: Project | undefined): string {
  const { model, listens, admits, bots, controls, show_steps, follows_name } = settings;
  const form: ShownForm = {
    channel,
    settings: { model, listens, admits, bots, controls, show_steps, follows_name },
    title: project === undefined ? null : digest(fieldText(project.title)),
    description: project === undefined ? null : digest(fieldText(project.description)),
  };
  return JSON.stringify(form);
}

/** Reads what came back with a form; undefined where it is none of ours. */
export function readShown(metadata: string): ShownForm | undefined {
  try {
    return shownShape.safeParse(JSON.parse(metadata)).data;
  } catch {
    return undefined;
  }
}

/** What somebody changed in a form; undefined where it holds a value that was not to choose from. */
export function changeOf(shown: ShownForm, filled: FilledForm): FormChange | undefined {
  const { model, listens, admits, bots, controls, more } = filled;
  const named = bots === undefined ? shown.settings.bots : readBots(bots);
  if (named === undefined) return undefined;
  const wanted = shownShape.shape.settings.safeParse({
    model: model === undefined ? shown.settings.model : orNull(model),
    listens: listens ?? shown.settings.listens,
    admits: admits === undefined ? shown.settings.admits : orNull(admits),
    bots: named,
    controls: controls === undefined ? shown.settings.controls : orNull(controls),
    show_steps: more.includes('show_steps'),
    follows_name: more.includes('follows_name'),
  });
  if (!wanted.success) return undefined;
  const settings: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(wanted.data)) {
    if (Object.entries(shown.settings).some(([known, before]) => known === name && !isSame(before, value)))
      settings[name] = value;
  }
  const project = filled.project.trim();
  return {
    settings,
    project: project === '' ? undefined : project,
    texts: {
      ...changedText('title', filled.title, shown.title),
      ...changedText('description', filled.description, shown.description),
    },
  };
}

function changedText(name: 'title' | 'description', now: string | undefined, shown: string | null) {
  if (now === undefined) return {};
  // What was not shown can be set, but not be cleared: nobody saw what is there.
  const changed = shown === null ? now !== '' : digest(now) !== shown;
  return changed ? { [name]: now } : {};
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function orNull(value: string): string | null {
  return value === 'usual' ? null : value;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}
