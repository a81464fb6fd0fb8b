const mark = '[redacted]';

/** A secret shorter than that (characters) is not looked for by its value: it would blank ordinary words. */
const shortest = 6;

/** Names of fields whose text is a secret, wherever they stand. */
const secretField =
  /("[\w.-]*(?:token|secret|passw(?:or)?d|api[_-]?key|secret[_-]?key|authorization|cookie|signature)[\w.-]*"\s*:\s*)"(?:[^"\\]|\\.)*"/gi;

/** The same inside a text that holds JSON itself, where the quotes are escaped. */
const escapedSecretField =
  /(\\"[\w.-]*(?:token|secret|passw(?:or)?d|api[_-]?key|authorization|cookie|signature)[\w.-]*\\"\s*:\s*)\\"(?:\\\\\\"|[^"\\]|\\[^"])*\\"/gi;

/** Shapes that are secrets wherever they stand, and what is left of each. */
const shapes: readonly (readonly [RegExp, string])[] = [
  [secretField, `$1"${mark}"`],
  [escapedSecretField, `$1\\"${mark}\\"`],
  // Slack's tokens: xoxb-, xoxp-, xoxe.xoxb-1-, xoxe-1-, xapp-.
  [/\b(?:xox[a-z](?:[.-]xox[a-z])?|xapp|xwfp)-[\w%.~+/=-]{3,}/gi, mark],
  // Authorization headers, with or without their name.
  [/\b(Bearer)(\s+|%20)[\w.~+/=-]{6,}/gi, `$1 ${mark}`],
  [/\b(authorization\W{1,6}(?:Basic|Token|Digest))\s+[^\s"'\\,]+/gi, `$1 ${mark}`],
  // Users and passwords in addresses, such as DATABASE_URL.
  [/\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s"'\\/@]*:[^\s"'\\/]*@/gi, `$1${mark}@`],
  // Slack's response addresses carry their right in the path.
  [/(https?:\/\/hooks\.slack(?:-gov)?\.com\/)[^\s"'\\<>|]+/gi, `$1${mark}`],
  // Signed links carry theirs in the query; what else stands there nobody misses.
  [/(https?:\/\/[^\s"'\\<>|?#]+)\?[^\s"'\\<>|]*/gi, `$1?${mark}`],
  // A signed query or a password setting without its address.
  [
    /\b((?:X-Amz-[\w-]+|X-Goog-[\w-]+|Signature|sig|password|api_?key|client_secret|access_token|refresh_token)=)[^\s"'\\&]+/gi,
    `$1${mark}`,
  ],
];

/** Takes secrets out of what is logged: by the values that are known, and by the shapes that secrets have. */
export class Redaction {
  readonly #values = new Set<string>();

  /** `secrets`: the values of the settings that are secrets. */
  constructor(secrets: Iterable<string> = []) {
    for (const secret of secrets) this.add(secret);
  }

  /** One more value that must never be shown, such as a workspace's own service key. */
  add(secret: string): void {
    if (secret.length < shortest) return;
    // As it stands, as JSON writes it, as JSON in a text of JSON does, and as an address carries it.
    const escaped = JSON.stringify(secret).slice(1, -1);
    const twice = JSON.stringify(escaped).slice(1, -1);
    for (const form of [secret, escaped, twice, encodeURIComponent(secret)]) this.#values.add(form);
    const password = URL.parse(secret)?.password ?? '';
    if (password.length >= shortest) this.add(decodeURIComponent(password));
  }

  /** A line of the log without secrets; a line of JSON stays one. */
  clean(line: string): string {
    let cleaned = line;
    for (const value of this.#values) cleaned = cleaned.replaceAll(value, mark);
    for (const [shape, left] of shapes) cleaned = cleaned.replace(shape, left);
    return cleaned;
  }
}
