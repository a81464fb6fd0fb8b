import { distance } from 'fastest-levenshtein';

/** How many letters may differ in a name of this length; shorter ones look too much like those of other programs. */
function mayDiffer({ length }: string): number {
  if (length < 6) return 0;
  return length < 10 ? 1 : 2;
}

/** A sentence for each name that isn't a setting, but is close to one that isn't set: it would have no effect. */
export function* misspeltNames(given: readonly string[], settings: readonly string[]): Iterable<string> {
  const isSet = (setting: string) =>
    [setting, `${setting}_FILE`, setting.replace(/_FILE$/, '')].some((name) => given.includes(name));
  const unset = settings.filter((setting) => !isSet(setting));
  for (const name of given) {
    if (settings.includes(name)) continue;
    const meant = unset.find((setting) => distance(name.toUpperCase(), setting) <= mayDiffer(setting));
    if (meant !== undefined)
      yield `${name} is not a setting of Taskthread, and ${meant} is not set. Rename it to ${meant}, or set that too.`;
  }
}
