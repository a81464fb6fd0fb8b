/** Parses JSON that comes from outside; undefined for anything else. */
export function tryParseJson(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}
