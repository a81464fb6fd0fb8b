import { z } from 'zod';
import {
  WORKSPACE_ACCESS_ACTION_IDS,
  type WorkspaceAccessSettings,
} from '../features/settings/workspace-settings.ts';
import * as strings from '../render/strings/index.ts';
import { type ListenerContext, onForm, onPress, savedOrErrors } from './press.ts';

const usual = z.literal('usual').transform(() => null);
const admitsSchema = usual.or(z.enum(['members', 'guests', 'everyone']));
const listensSchema = usual.or(z.enum(['mentions', 'conversation', 'replies']));

/** Handles the button and the form with which admins set who may use the agent in their workspace. */
export function registerWorkspaceAccessListeners(
  context: ListenerContext,
  accessSettings: WorkspaceAccessSettings,
): void {
  const { change, form } = WORKSPACE_ACCESS_ACTION_IDS;
  onPress(context, change, ({ actor, triggerId }) => accessSettings.open(actor, triggerId));
  onForm(context, form, async ({ actor, input }) => {
    const admits = admitsSchema.safeParse(input('door_admits')?.selected_option?.value);
    const listens = listensSchema.safeParse(input('door_listens')?.selected_option?.value);
    if (!admits.success || !listens.success) return undefined;
    const bots = input('door_bots')?.value ?? '';
    const errors = await accessSettings.save(actor, { admits: admits.data, bots, listens: listens.data });
    return savedOrErrors(errors, strings.workspaceAccess.title);
  });
}
