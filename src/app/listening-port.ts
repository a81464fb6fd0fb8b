import { once } from 'node:events';
import { createServer } from 'node:net';
import { type Config, refusedSetting } from '../config/environment-and-secret-files.ts';
import { listenOn } from '../operate/http-server.ts';
import { errorCode } from '../postgres/errors.ts';

/** Fails at once where PORT cannot be opened, before a start waits for anything else. Throws a ConfigError. */
export async function requireFreePort(config: Pick<Config, 'PORT' | 'HOST'>): Promise<void> {
  const server = listenOn(createServer(), config.PORT, config.HOST);
  await once(server, 'listening').catch((error: unknown) => {
    throw describePortError(error, config);
  });
  await once(server.close(), 'close');
}

/** The error for a port that cannot be opened, with the setting to change. */
export function describePortError(error: unknown, { PORT, HOST }: Pick<Config, 'PORT' | 'HOST'>): unknown {
  switch (errorCode(error)) {
    case 'EADDRINUSE':
      return refusedSetting('PORT', `another program uses ${PORT}`);
    case 'EACCES':
      return refusedSetting('PORT', `this user may not open ${PORT}`);
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
    case 'EINVAL':
    case 'ENOTFOUND':
      return refusedSetting('HOST', `${HOST} is not an address of this machine`);
    default:
      return error;
  }
}
