import { setFlagsFromString } from 'node:v8';
import { startApp } from './app.ts';
import { ConfigError, readConfig, secretValues, settingRows } from './config.ts';
import { createLogger } from './operate/logger.ts';
import { Redactor } from './operate/redaction.ts';
import { flattenSuppressedErrors } from './operate/suppressed-errors.ts';

// Chunks of files that pass through die young: V8 lets 32 MiB of them go with its new space, at a millisecond each time.
// By default it waits for 128 MiB, and before that collects the whole heap for every 64 MiB that came in.
setFlagsFromString('--scavenger-max-new-space-capacity-mb=8');

if (process.argv.includes('--help')) {
  console.log('Taskthread: a hosted AI agent in Slack. Settings are environment variables:\n');
  for (const { name, fallback, what, secret } of settingRows()) {
    console.log(
      `  ${name}${fallback === '' ? '' : ` (${fallback})`}\n      ${what}${secret ? `; or ${name}_FILE, the file that it stands in` : ''}`,
    );
  }
} else {
  await run();
}

async function run(): Promise<void> {
  try {
    const config = readConfig(process.env);
    const redaction = new Redactor(secretValues(config));
    const log = createLogger({ level: config.LOG_LEVEL, redaction });
    const app = await startApp(config, log, { onSecret: (secret) => redaction.addSecret(secret) });
    let isStopping = false;
    const stop = (reason: string, code: number) => {
      log.info({ reason }, isStopping ? 'stopping already' : 'stopping');
      if (isStopping) return;
      isStopping = true;
      app.stop().then(
        () => process.exit(code),
        (error: unknown) => {
          for (const err of flattenSuppressedErrors(error)) log.error({ err }, 'stopping failed');
          process.exit(1);
        },
      );
    };
    process.on('unhandledRejection', (error) => {
      log.fatal({ err: error }, 'something failed that nobody waited for');
      stop('an unhandled failure', 1);
    });
    process.on('SIGTERM', () => stop('SIGTERM', 0));
    process.on('SIGINT', () => stop('SIGINT', 0));
    void app.lost.then((error) => stop(error.message, 1));
  } catch (error) {
    for (const failure of flattenSuppressedErrors(error)) console.error(describeError(failure));
    process.exit(1);
  }
}

function describeError(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  return error instanceof Error ? `Taskthread cannot start: ${error.message}` : String(error);
}
