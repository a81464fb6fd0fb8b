import { inlinesOf } from './content.ts';
import { contentOf, type MessageToRead } from './message.ts';

/** Names that were looked up before; undefined for one that could not be found. */
export interface Names {
  person(id: string): string | undefined;
  channel(id: string): string | undefined;
  usergroup(id: string): string | undefined;
}

/** The ids whose names a reading of these messages needs, each once, writers included. */
export interface IdsToName {
  readonly people: string[];
  readonly channels: string[];
  readonly usergroups: string[];
}

/** Which names to look up before `readable` or `transcript`. */
export function idsIn(...messages: readonly MessageToRead[]): IdsToName {
  const found = { person: new Set<string>(), channel: new Set<string>(), usergroup: new Set<string>() };
  for (const message of messages) {
    if (message.user !== undefined) found.person.add(message.user);
    for (const piece of inlinesOf(contentOf(message))) {
      if (piece.kind !== 'text' && piece.kind !== 'link') found[piece.kind].add(piece.id);
    }
  }
  return { people: [...found.person], channels: [...found.channel], usergroups: [...found.usergroup] };
}
