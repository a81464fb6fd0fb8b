import { parsePromptList } from '../../relay/reading/prompt-list.ts';
import type { ChannelActor } from '../../relay/runtime/control-request.ts';
import type { OfferedPrompt, RelayDeps } from '../../relay/runtime/deps.ts';
import * as strings from '../../render/strings/index.ts';

/** What the value of a button says that opens the form with a prompt, by its title. */
export const promptValue = (title: string) => `prompt/${title}`;

type PromptDeps = Pick<RelayDeps, 'store' | 'settings'>;

/** Where prompts are offered: a channel, or WHOLE_WORKSPACE for the operator's alone. */
type PromptPlace = Pick<ChannelActor, 'workspace' | 'channel'>;

/** The prompts that people have set: those of the channel, then the operator's, each title once. Throws a StoreError. */
export async function offeredPrompts(
  { store, settings }: PromptDeps,
  { workspace, channel }: PromptPlace,
): Promise<OfferedPrompt[]> {
  const own = (await store.settings.get(workspace, channel)).prompts?.text ?? '';
  const byTitle = Map.groupBy([...(parsePromptList(own) ?? []), ...settings.prompts], ({ title }) => title);
  return [...byTitle.values()].flatMap(([first]) => first ?? []);
}

/** What a person can try: what is offered, or else what is built in. Throws a StoreError. */
export async function promptsToTry(deps: PromptDeps, place: PromptPlace): Promise<readonly OfferedPrompt[]> {
  const offered = await offeredPrompts(deps, place);
  return offered.length > 0 ? offered : strings.prompts.list;
}
