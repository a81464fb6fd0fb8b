import { spawn } from 'node:child_process';

/** Opens a page in the person's browser; returns whether there is one to open it in. */
export function openInBrowser(url: string): boolean {
  const { DISPLAY, WAYLAND_DISPLAY, SSH_CONNECTION } = process.env;
  const isLocalScreen = process.platform === 'darwin' || Boolean(DISPLAY || WAYLAND_DISPLAY);
  if (!process.stdout.isTTY || SSH_CONNECTION || !isLocalScreen) return false;
  const opener = spawn(process.platform === 'darwin' ? 'open' : 'xdg-open', [url], {
    detached: true,
    stdio: 'ignore',
  });
  // The link is shown as well, so a missing opener needs no word.
  opener.on('error', () => undefined);
  opener.unref();
  return true;
}
