import { neededFor } from '../../calls/askers.ts';
import { toSpacedLine } from '../../render/text-format.ts';
import type { SlackDirectory } from '../../slack/directory.ts';
import type { TurnId } from '../../store/schema.ts';
import type { WorkspaceActor } from '../runtime/control-request.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import { blocksOf, type ParsedMessage } from './message-parser.ts';
import { inlinesOf, type ParsedInline, referencePiece } from './parsed-blocks.ts';

/** The names of people and channels, by id; without those that were not found. */
export type DisplayNames = ReadonlyMap<string, string>;

/** No names: for reading that needs none. */
export const NO_NAMES: DisplayNames = new Map();

/** The name of a person for a notice; '' if there is none, or the app is not installed there. */
export async function actorName(deps: RelayDeps, { workspace, person }: WorkspaceActor): Promise<string> {
  if (person === '') return '';
  return (await deps.workspace(workspace)?.people.personName(person)) ?? '';
}

/** The name of the person who stopped a turn; '' if nobody did, or the record was erased. */
export async function stopRequesterName(deps: RelayDeps, { workspace, id }: TurnId): Promise<string> {
  const person = (await deps.store.turns.get(workspace, id))?.stop_requested_by ?? '';
  return actorName(deps, { workspace, person });
}

/** Who knows names, and the channel that reads them: a private channel's name is only for those in it. */
export interface NameScope {
  readonly people: Pick<SlackDirectory, 'personName' | 'channel'>;
  readonly channel: string;
}

/** The most names, beside those of writers, that are looked up for one text: Slack allows about 80 a minute in a workspace. */
const MAX_NAMES = 30;

/** Looks up the names that reading messages needs: of all writers, and of the first 30 others. */
export async function lookUpNames(
  scope: NameScope,
  ...messages: readonly ParsedMessage[]
): Promise<DisplayNames> {
  const writers = [...new Set(messages.flatMap(({ user }) => user ?? []))];
  const inlines = messages.flatMap((one) => inlinesOf(blocksOf(one)));
  const people = writers.map((id) => referencePiece('person', id));
  return lookUpReferences(scope, [...people, ...inlines], people.length + MAX_NAMES);
}

/** Looks up the names of the first people and channels among inline elements, each once. The others keep their ids. */
export async function lookUpReferences(
  { people, channel }: NameScope,
  inlines: readonly ParsedInline[],
  most = MAX_NAMES,
): Promise<DisplayNames> {
  const kinds = new Map<string, 'person' | 'channel'>();
  for (const piece of inlines)
    if (piece.kind === 'person' || piece.kind === 'channel') kinds.set(piece.id, piece.kind);
  const nameOf = {
    person: (id: string) => people.personName(id),
    channel: async (id: string) => {
      const { name, kind } = await neededFor('names', () => people.channel(id));
      // Slack's own label may name a channel that is not everybody's, if the bot is in it: its id stands before that.
      if ((kind === 'private' || kind === 'elsewhere') && id !== channel) return id;
      return kind === 'public' || id === channel ? name : undefined;
    },
  };
  const named = [...kinds].slice(0, most).map(async ([id, kind]) => [id, await nameOf[kind](id)] as const);
  return new Map(
    (await Promise.all(named)).flatMap(([id, name]) => (name === undefined ? [] : [[id, name]])),
  );
}

/** Names as the agent reads them: the id follows a name that several have, or that ends like an id or a note of ours. */
export function toldApart(names: DisplayNames): DisplayNames {
  const byLook = Map.groupBy(names, ([id, name]) => `${/^[CDG]/.test(id) ? '#' : '@'}${asSeen(name)}`);
  const told = [...byLook].flatMap(([look, same]) => {
    const isClear = same.length === 1 && !/\((?:you|app|[uw](?=[a-z]*\d)[a-z0-9]{6,})\)$/.test(look);
    return same.map(([id, name]) => [id, isClear ? name : `${name} (${id})`] as const);
  });
  return new Map(told);
}

/** A name without what people do not see of it, so that those that look the same are the same. */
function asSeen(name: string): string {
  const seen = name.normalize('NFKC').replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '');
  return toSpacedLine(seen).toLowerCase();
}
