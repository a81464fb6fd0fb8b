import type { SlackDirectory } from '../../slack/directory.ts';
import type { DisplayNames, IdsToResolve } from './display-names.ts';

/** Looks up the names that reading a message needs. */
export async function lookUpNames(
  { people }: { people: Pick<SlackDirectory, 'personName' | 'channel' | 'groupName'> },
  ids: IdsToResolve,
): Promise<DisplayNames> {
  const [persons, channels, usergroups] = await Promise.all([
    lookUpAll(ids.people, (id) => people.personName(id)),
    lookUpAll(ids.channels, async (id) => (await people.channel(id)).name),
    lookUpAll(ids.usergroups, (id) => people.groupName(id)),
  ]);
  return {
    person: (id) => persons.get(id),
    channel: (id) => channels.get(id),
    usergroup: (id) => usergroups.get(id),
  };
}

async function lookUpAll(
  ids: readonly string[],
  lookUp: (id: string) => Promise<string | undefined>,
): Promise<Map<string, string | undefined>> {
  return new Map(await Promise.all(ids.map(async (id) => [id, await lookUp(id)] as const)));
}
