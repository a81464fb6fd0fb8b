const REDACTED = '[redacted]';

/** A secret shorter than that (characters) is not looked for by its value: it would blank ordinary words. */
const MIN_SECRET_LENGTH = 6;

/*
 * Each of these takes time in proportion to the line, whatever stands there: a service's ids and words are in it. So none
 * looks for its end again from each of many beginnings.
 */

const SECRET_FIELD_NAME = String.raw`(?=[\w.-]*?(?:token|secret|passw(?:or)?d|api[_-]?key|authorization|cookie|signature))[\w.-]+`;

/** Fields whose name says that their text is a secret, wherever they stand; a line that is cut may end within one. */
const SECRET_FIELD = new RegExp(String.raw`("${SECRET_FIELD_NAME}"\s*:\s*)"(?:[^"\\]|\\.)*(?:"|\\?$)`, 'gi');

/** The same inside a text that holds JSON itself, where the quotes are escaped. */
const ESCAPED_SECRET_FIELD = new RegExp(
  String.raw`(\\"${SECRET_FIELD_NAME}\\"\s*:\s*)\\"(?:\\\\\\"|[^"\\]|\\[^"])*(?:\\"|\\*$)`,
  'gi',
);

/** Shapes that are secrets wherever they stand, and what is left of each. */
const SECRET_PATTERNS: readonly (readonly [RegExp, string])[] = [
  [SECRET_FIELD, `$1"${REDACTED}"`],
  [ESCAPED_SECRET_FIELD, `$1\\"${REDACTED}\\"`],
  // Slack's tokens: xoxb-, xoxp-, xoxe.xoxb-1-, xoxe-1-, xapp-.
  [/\b(?:xox[a-z](?:[.-]xox[a-z])?|xapp|xwfp)-[\w%.~+/=-]{3,}/gi, REDACTED],
  // Authorization headers, with or without their name.
  [/\b(Bearer)(\s+|%20)[\w.~+/=-]{6,}/gi, `$1 ${REDACTED}`],
  [/\b(authorization\W{1,6}(?:Basic|Token|Digest))\s+[^\s"'\\,]+/gi, `$1 ${REDACTED}`],
  // Users and passwords in addresses, such as DATABASE_URL.
  [/\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s"'\\/@:]*:[^\s"'\\/]*@/gi, `$1${REDACTED}@`],
  // Slack's response addresses carry their right in the path.
  [/(https?:\/\/hooks\.slack(?:-gov)?\.com\/)[^\s"'\\<>|]+/gi, `$1${REDACTED}`],
  // Signed links carry theirs in the query; what else stands there nobody misses.
  [/(?<=https?:\/\/[^\s"'\\<>|?#]+)\?[^\s"'\\<>|]*/gi, `?${REDACTED}`],
  // A signed query or a password setting without its address.
  [
    /\b((?:X-Amz-[\w-]{1,40}|X-Goog-[\w-]{1,40}|Signature|sig|password|api_?key|client_secret|access_token|refresh_token)=)[^\s"'\\&]+/gi,
    `$1${REDACTED}`,
  ],
];

/** Takes secrets out of what is logged: by the values that are known, and by the shapes that secrets have. */
export class Redactor {
  /** The forms of secrets, and how many secrets have each. */
  readonly #secretForms = new Map<string, number>();

  /** `secrets`: the values of the settings that are secrets. */
  constructor(secrets: Iterable<string> = []) {
    for (const secret of secrets) this.addSecret(secret);
  }

  /** One more value that must never be shown, such as a workspace's own service key, until the answer is called. */
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

  /** A line of the log without secrets; a line of JSON stays one. */
  redact(line: string): string {
    let cleaned = line;
    for (const form of this.#secretForms.keys()) cleaned = cleaned.replaceAll(form, REDACTED);
    for (const [shape, left] of SECRET_PATTERNS) cleaned = cleaned.replace(shape, left);
    return cleaned;
  }
}

/** As it was before it was put into an address; where a bare % stands in it, as it is. */
function safeDecode(password: string): string {
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}

/** A secret as it stands, as JSON writes it, as JSON in a text of JSON does, and as an address carries it. */
function encodedForms(secret: string): string[] {
  if (secret.length < MIN_SECRET_LENGTH) return [];
  const escaped = JSON.stringify(secret).slice(1, -1);
  const twice = JSON.stringify(escaped).slice(1, -1);
  const password = URL.parse(secret)?.password ?? '';
  const inside = password.length < MIN_SECRET_LENGTH ? [] : encodedForms(safeDecode(password));
  return [...new Set([secret, escaped, twice, encodeURIComponent(secret), ...inside])];
}
