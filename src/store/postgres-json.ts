/** A value as JSON that PostgreSQL accepts: without NUL characters and lone surrogates, which it rejects. */
export function toPostgresJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part === 'string') return withoutInvalidCharacters(part);
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(
      Object.entries(part).map(([name, inner]) => [withoutInvalidCharacters(name), inner]),
    );
  });
}

function withoutInvalidCharacters(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '');
}
