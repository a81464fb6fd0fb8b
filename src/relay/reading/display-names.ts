import type { SlackDirectory } from '../../slack/directory.ts';
import type { WorkspaceActor } from '../runtime/actors.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import { blocksOf, type ParsedMessage } from './message-parser.ts';
import { inlinesOf, type SlackReference } from './parsed-blocks.ts';

/** Names that were looked up; undefined for a name that was not found. */
export interface DisplayNames {
  person(id: string): string | undefined;
  channel(id: string): string | undefined;
  usergroup(id: string): string | undefined;
}

/** No names: for reading that needs none. */
export const NO_NAMES: DisplayNames = {
  person: () => undefined,
  channel: () => undefined,
  usergroup: () => undefined,
};

/** The ids whose names are needed to read messages, writers included. */
export type IdsToResolve = Readonly<Record<SlackReference['kind'], ReadonlySet<string>>>;

/** Which names to look up before `readableText` or `buildTranscript`. */
export function idsToResolve(...messages: readonly ParsedMessage[]): IdsToResolve {
  const found = { person: new Set<string>(), channel: new Set<string>(), usergroup: new Set<string>() };
  for (const message of messages) {
    if (message.user !== undefined) found.person.add(message.user);
    for (const piece of inlinesOf(blocksOf(message))) {
      if (piece.kind !== 'text' && piece.kind !== 'link') found[piece.kind].add(piece.id);
    }
  }
  return found;
}

/** The name of a person for a notice; '' if there is none, or the app is not installed there. */
export async function actorName(
  deps: Pick<RelayDeps, 'workspace'>,
  { workspace, person }: WorkspaceActor,
): Promise<string> {
  if (person === '') return '';
  return (await deps.workspace(workspace)?.people.personName(person)) ?? '';
}

/** Looks up the names that reading a message needs. */
export async function lookUpNames(
  { people }: { people: Pick<SlackDirectory, 'personName' | 'channel' | 'groupName'> },
  ids: IdsToResolve,
): Promise<DisplayNames> {
  const [persons, channels, usergroups] = await Promise.all([
    lookUpAll(ids.person, (id) => people.personName(id)),
    lookUpAll(ids.channel, async (id) => (await people.channel(id)).name),
    lookUpAll(ids.usergroup, (id) => people.groupName(id)),
  ]);
  return {
    person: (id) => persons.get(id),
    channel: (id) => channels.get(id),
    usergroup: (id) => usergroups.get(id),
  };
}

async function lookUpAll(
  ids: ReadonlySet<string>,
  lookUp: (id: string) => Promise<string | undefined>,
): Promise<Map<string, string | undefined>> {
  return new Map(await Promise.all([...ids].map(async (id) => [id, await lookUp(id)] as const)));
}
