import type { SlackDirectory } from '../../slack/directory.ts';
import type { Turn } from '../../store/schema.ts';
import type { WorkspaceActor } from '../runtime/control-request.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import { blocksOf, type ParsedMessage } from './message-parser.ts';
import { inlinesOf, type ParsedInline } from './parsed-blocks.ts';

/** The names of people and channels, by id; without those that were not found. */
export type DisplayNames = ReadonlyMap<string, string>;

/** No names: for reading that needs none. */
export const NO_NAMES: DisplayNames = new Map();

/** The name of a person for a notice; '' if there is none, or the app is not installed there. */
export async function actorName(
  deps: Pick<RelayDeps, 'workspace'>,
  { workspace, person }: WorkspaceActor,
): Promise<string> {
  if (person === '') return '';
  return (await deps.workspace(workspace)?.people.personName(person)) ?? '';
}

/** The name of the person who stopped a turn; '' if nobody did, or the record was erased. */
export async function stopRequesterName(
  deps: Pick<RelayDeps, 'store' | 'workspace'>,
  { workspace, id }: Pick<Turn, 'workspace' | 'id'>,
): Promise<string> {
  const person = (await deps.store.turns.get(workspace, id))?.stop_requested_by ?? '';
  return actorName(deps, { workspace, person });
}

/** Who knows names, and the channel that reads them: a private channel's name is only for those in it. */
export interface NameScope {
  readonly people: Pick<SlackDirectory, 'personName' | 'channel'>;
  readonly channel: string;
}

/** Looks up the names that reading messages needs, writers included: each once. */
export async function lookUpNames(
  scope: NameScope,
  ...messages: readonly ParsedMessage[]
): Promise<DisplayNames> {
  const writers = messages.flatMap(({ user }): ParsedInline[] =>
    user === undefined ? [] : [{ kind: 'person', id: user, style: {} }],
  );
  return lookUpReferences(scope, [...writers, ...messages.flatMap((one) => inlinesOf(blocksOf(one)))]);
}

/** Looks up the names of the people and channels among inline elements: each once. */
export async function lookUpReferences(
  { people, channel }: NameScope,
  inlines: readonly ParsedInline[],
): Promise<DisplayNames> {
  const kinds = new Map<string, 'person' | 'channel'>();
  for (const piece of inlines)
    if (piece.kind === 'person' || piece.kind === 'channel') kinds.set(piece.id, piece.kind);
  const nameOf = {
    person: (id: string) => people.personName(id),
    channel: async (id: string) => {
      const { name, kind } = await people.channel(id);
      return kind === 'public' || id === channel ? name : undefined;
    },
  };
  const named = [...kinds].map(async ([id, kind]) => [id, await nameOf[kind](id)] as const);
  return new Map(
    (await Promise.all(named)).flatMap(([id, name]) => (name === undefined ? [] : [[id, name]])),
  );
}
