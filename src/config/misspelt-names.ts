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
    const meant = unset.find((setting) => editDistance(name.toUpperCase(), setting) <= mayDiffer(setting));
    if (meant !== undefined)
      yield `${name} is not a setting of Taskthread, and ${meant} is not set. Rename it to ${meant}, or set that too.`;
  }
}

/** How many letters must be added, removed or replaced to turn one text into the other (Levenshtein). */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of one.split('').entries()) {
    const next = [index + 1];
    for (const [at, its] of other.split('').entries())
      next.push(
        Math.min((row[at] ?? 0) + (letter === its ? 0 : 1), (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1),
      );
    row = next;
  }
  return row.at(-1) ?? 0;
}
