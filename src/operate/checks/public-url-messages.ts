/** What to do where no answer comes from PUBLIC_URL. */
export function publicUrlUnreachable(url: URL): string {
  return `Nothing answers at PUBLIC_URL (${url.origin}): start Taskthread, and check DNS and the proxy.`;
}

/** What to do where the answer is of something that is not this app. */
export function publicUrlWrongServer(url: URL, status: number): string {
  return `PUBLIC_URL (${url.origin}) leads to something else (status ${status}): let ${url.pathname} through.`;
}
