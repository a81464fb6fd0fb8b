import '../../../../sandbox/scaled-limits.ts';
import { type AppOverrides, startApp } from '../../../../src/app.ts';
import { readConfig } from '../../../../src/config/environment-and-secret-files.ts';
import { createLogger } from '../../../../src/operate/logger.ts';

/** Runs the bot from the environment as src/main.ts does, with a part of it broken. */
export async function startBroken(given: AppOverrides): Promise<void> {
  const log = createLogger({ level: process.env.LOG_LEVEL ?? 'info' });
  const app = await startApp(readConfig(process.env), log, given);
  process.once('SIGTERM', () => {
    void app.stop().finally(() => process.exit());
  });
}
