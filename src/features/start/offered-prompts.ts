import { parsePromptList } from '../../relay/reading/prompt-list.ts';
import type { OfferedPrompt, RelayDeps } from '../../relay/runtime/deps.ts';
import { prompts as builtIn } from '../../render/strings/index.ts';

type PromptDeps = Pick<RelayDeps, 'store' | 'settings'>;

/** Where prompts are offered: a channel, or WHOLE_WORKSPACE for the operator's alone. */
interface PromptPlace {
  workspace: string;
  channel: string;
}

/** The prompts that people have set: those of the channel, then the operator's, each title once. Throws a StoreError. */
export async function offeredPrompts(
  { store, settings }: PromptDeps,
  { workspace, channel }: PromptPlace,
): Promise<OfferedPrompt[]> {
  const own = (await store.settings.get(workspace, channel)).prompts?.text ?? '';
  const byTitle = Map.groupBy([...(parsePromptList(own) ?? []), ...settings.prompts], ({ title }) => title);
  return [...byTitle.values()].flatMap(([first]) => first ?? []);
}

/** What a person can try: what is offered, or else what is built in and fits the operator's limits. Throws a StoreError. */
export async function promptsToTry(deps: PromptDeps, place: PromptPlace): Promise<readonly OfferedPrompt[]> {
  const offered = await offeredPrompts(deps, place);
  if (offered.length > 0) return offered;
  const takesFiles = deps.settings.fileLimits.maxMessageFiles > 0;
  return builtIn.list.filter(({ prompt }) => takesFiles || !/\battached\b/.test(prompt));
}
