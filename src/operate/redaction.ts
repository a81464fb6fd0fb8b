const REDACTED = '[redacted]';

/** Shorter secrets (characters) are not redacted by value: that would hit ordinary words. */
const MIN_SECRET_LENGTH = 6;

/*
 * Each pattern takes linear time on any line, because lines contain untrusted text: none scans for its end from many
 * starting points.
 */

const SECRET_FIELD_NAME = String.raw`(?=[\w.-]*?(?:token|secret|passw(?:or)?d|api[_-]?key|authorization|cookie|signature))[\w.-]+`;

/** Fields named like secrets; a truncated line may end within one. */
const SECRET_FIELD = new RegExp(String.raw`("${SECRET_FIELD_NAME}"\s*:\s*)"(?:[^"\\]|\\.)*(?:"|\\?$)`, 'gi');

/** The same in JSON inside a string, where the quotes are escaped. */
const ESCAPED_SECRET_FIELD = new RegExp(
  String.raw`(\\"${SECRET_FIELD_NAME}\\"\s*:\s*)\\"(?:\\\\\\"|[^"\\]|\\[^"])*(?:\\"|\\*$)`,
  'gi',
);

/** Patterns that are secrets anywhere, and their replacements. */
const SECRET_PATTERNS: readonly (readonly [RegExp, string])[] = [
  [SECRET_FIELD, `$1"${REDACTED}"`],
  [ESCAPED_SECRET_FIELD, `$1\\"${REDACTED}\\"`],
  // Slack's tokens: xoxb-, xoxp-, xoxe.xoxb-1-, xoxe-1-, xapp-.
  [/\b(?:xox[a-z](?:[.-]xox[a-z])?|xapp|xwfp)-[\w%.~+/=-]{3,}/gi, REDACTED],
  // Authorization headers, with or without their name.
  [/\b(Bearer)(\s+|%20)[\w.~+/=-]{6,}/gi, `$1 ${REDACTED}`],
  [/\b(authorization\W{1,6}(?:Basic|Token|Digest))\s+[^\s"'\\,]+/gi, `$1 ${REDACTED}`],
  // Credentials in URLs, such as DATABASE_URL.
  [/\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s"'\\/@:]*:[^\s"'\\/]*@/gi, `$1${REDACTED}@`],
  // Slack's response URLs carry their secret in the path.
  [/(https?:\/\/hooks\.slack(?:-gov)?\.com\/)[^\s"'\\<>|]+/gi, `$1${REDACTED}`],
  // Signed links carry theirs in the query, which goes as a whole.
  [/(?<=https?:\/\/[^\s"'\\<>|?#]+)\?[^\s"'\\<>|]*/gi, `?${REDACTED}`],
  // A signed query, or a password setting, without its URL.
  [
    /\b((?:X-Amz-[\w-]{1,40}|X-Goog-[\w-]{1,40}|Signature|sig|password|api_?key|client_secret|access_token|refresh_token)=)[^\s"'\\&]+/gi,
    `$1${REDACTED}`,
  ],
];

/** Redacts secrets: known values, and anything in the form of a secret. */
export class Redactor {
  /** The encoded forms of known secrets, and how many secrets have each. */
  readonly #secretForms = new Map<string, number>();

  /** `secrets`: the values of secret settings. */
  constructor(secrets: Iterable<string> = []) {
    for (const secret of secrets) this.addSecret(secret);
  }

  /** Adds a secret, such as a workspace's own service key, until the returned function is called. */
  addSecret(secret: string): () => void {
    const forms = encodedForms(secret);
    for (const form of forms) this.#secretForms.set(form, (this.#secretForms.get(form) ?? 0) + 1);
    return () => {
      for (const form of forms.splice(0)) {
        const others = (this.#secretForms.get(form) ?? 0) - 1;
        if (others > 0) this.#secretForms.set(form, others);
        else this.#secretForms.delete(form);
      }
    };
  }

  /** The line without secrets; valid JSON stays valid. */
  redact(line: string): string {
    let cleaned = line;
    for (const form of this.#secretForms.keys()) cleaned = cleaned.replaceAll(form, REDACTED);
    for (const [pattern, replacement] of SECRET_PATTERNS) cleaned = cleaned.replace(pattern, replacement);
    return cleaned;
  }
}

/** A URL's password, decoded; unchanged if it contains a bare %. */
function safeDecode(password: string): string {
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}

/** A secret as it is, in JSON, in JSON inside a string, and in a URL; and the password of a URL. */
function encodedForms(secret: string): string[] {
  if (secret.length < MIN_SECRET_LENGTH) return [];
  const escaped = JSON.stringify(secret).slice(1, -1);
  const twice = JSON.stringify(escaped).slice(1, -1);
  const password = URL.parse(secret)?.password ?? '';
  const inside = password.length < MIN_SECRET_LENGTH ? [] : encodedForms(safeDecode(password));
  return [...new Set([secret, escaped, twice, encodeURIComponent(secret), ...inside])];
}
