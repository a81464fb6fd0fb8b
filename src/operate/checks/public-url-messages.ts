/** The message if nothing answers at PUBLIC_URL. */
export function publicUrlUnreachable(url: URL): string {
  return `Nothing answers at PUBLIC_URL (${url.origin}). Start Taskthread, and check DNS and the proxy.`;
}

/** The message if another server answers at PUBLIC_URL. */
export function publicUrlWrongServer(url: URL, status: number): string {
  return `PUBLIC_URL (${url.origin}) leads to a different server (status ${status}). Route ${url.pathname} to Taskthread.`;
}
