import { blocksOf, type ParsedMessage } from './message-parser.ts';
import { inlinesOf } from './parsed-blocks.ts';

/** Names that were looked up before; undefined for one that could not be found. */
export interface DisplayNames {
  person(id: string): string | undefined;
  channel(id: string): string | undefined;
  usergroup(id: string): string | undefined;
}

/** The ids whose names a reading of these messages needs, each once, writers included. */
export interface IdsToResolve {
  readonly people: string[];
  readonly channels: string[];
  readonly usergroups: string[];
}

/** Which names to look up before `readable` or `transcript`. */
export function idsToResolve(...messages: readonly ParsedMessage[]): IdsToResolve {
  const found = { person: new Set<string>(), channel: new Set<string>(), usergroup: new Set<string>() };
  for (const message of messages) {
    if (message.user !== undefined) found.person.add(message.user);
    for (const piece of inlinesOf(blocksOf(message))) {
      if (piece.kind !== 'text' && piece.kind !== 'link') found[piece.kind].add(piece.id);
    }
  }
  return { people: [...found.person], channels: [...found.channel], usergroups: [...found.usergroup] };
}
