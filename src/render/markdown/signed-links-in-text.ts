/** A web address, and the Markdown before it where it is the target of a link. */
const ADDRESS = /(\]\(<?)?(https?:\/\/[^\s<>"'`|)\]\\]+)/gi;
/** What gives its holder access: the signatures of storages, tokens, and those of our own links to results. */
const SIGNATURE =
  /[?&;](?:X-Amz-[\w-]+|X-Goog-[\w-]+|Signature|sig|token|access_token|api_?key)=|\/results\/[\w-]+\.[\w-]{20,}/i;

/** Whether whoever has this address has access. */
export function isSignedLink(url: string): boolean {
  return SIGNATURE.test(url);
}

/** The secrets of links that have quotes or brackets, or are escaped as in JSON or Markdown: only the secrets go. */
const SECRET =
  /(?<=(?:[?&#]|&amp;|\\u0026)(?:X-(?:Amz|Goog)-[\w-]+|Signature|sig|token|access_token|api_?key)\\?=)[^\s<>"'`&|)\]]+/gi;

/** The text with a note in place of each signed link: whoever reads it may not have the access that the link gives. */
export function withoutSignedLinks(text: string): string {
  const rest = text.replace(ADDRESS, (link: string, target: string | undefined, url: string) => {
    if (!isSignedLink(url)) return link;
    const host = URL.parse(url)?.host ?? '';
    const note = `(signed link${host && ` to ${host}`}, left out`;
    return target === undefined ? `${note})` : `] ${note}`;
  });
  return rest.replace(SECRET, 'left-out');
}
