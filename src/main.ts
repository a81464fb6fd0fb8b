import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

/** What a signal does. While the app starts, there is nothing to hand over, and the next start repeats the rest. */
let stop = (reason: string, code: number): void => {
  console.error(`Stopped by ${reason} during the start.`);
  process.exit(code);
};
// Before anything else loads: the first process of a container misses the signals that it has no handlers for.
process.on('SIGTERM', () => stop('SIGTERM', 0));
process.on('SIGINT', () => stop('SIGINT', 0));

// What V8 has compiled is kept for the next start, in a folder that belongs to who installed the packages.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/taskthread', import.meta.url)));

const { useProxy } = await import('./calls/outbound-proxy.ts');
const { startApp } = await import('./app.ts');
const { requireFreePort } = await import('./app/listening-port.ts');
const { readConfig, secretValues, settingRows } = await import('./config/environment-and-secret-files.ts');
const { describeErrors, flattenSuppressedErrors } = await import('./operate/command-runner.ts');
const { createLogger, Redactor, standardOutput } = await import('./operate/logger.ts');

// Chunks of files that stream through are short-lived. With this setting V8 frees them in scavenges of 32 MiB, a
// millisecond each. By default it waits for 128 MiB, and collects the whole heap for every 64 MiB read before that.
setFlagsFromString('--scavenger-max-new-space-capacity-mb=8');

/** How long closing everything may take after DRAIN_SECONDS (ms), for example while the database does not answer. */
const CLOSE_TIMEOUT_MS = 11_000;

const [argument] = process.argv.slice(2);
if (argument === '--help') {
  console.log('Taskthread brings a hosted AI agent into Slack. It is configured by environment variables:');
  let shown = '';
  for (const { group, name, fallback, what, secret } of settingRows()) {
    if (group !== shown) console.log(`\n${group}\n`);
    shown = group;
    console.log(`  ${name}${fallback === '' ? '' : ` (${fallback})`}`);
    console.log(`      ${what}${secret ? ` (Or set ${name}_FILE to a file that contains it.)` : ''}`);
  }
} else if (argument !== undefined) {
  console.error(`Unknown argument ${argument}. Settings are environment variables: --help lists them.`);
  process.exitCode = 2;
} else {
  await run();
}

async function run(): Promise<void> {
  try {
    const config = readConfig(process.env);
    const redaction = new Redactor(secretValues(config));
    let droppedLines = 0;
    const destination = standardOutput(() => {
      droppedLines += 1;
    });
    const log = createLogger({ level: config.LOG_LEVEL, redaction, destination });
    useProxy(config);
    await requireFreePort(config);
    const app = await startApp(config, log, {
      onSecret: (secret) => redaction.addSecret(secret),
      droppedLines: () => droppedLines,
    });
    let isStopping = false;
    stop = (reason, code) => {
      log.info({ reason }, isStopping ? 'already stopping' : 'stopping');
      if (isStopping) return;
      isStopping = true;
      const stopTimeoutMs = config.DRAIN_SECONDS * 1_000 + CLOSE_TIMEOUT_MS;
      setTimeout(() => {
        log.error('the stop takes too long; what was under way will be repeated');
        process.exit(1);
      }, stopTimeoutMs);
      app.stop().then(
        () => process.exit(code),
        (error: unknown) => {
          for (const err of flattenSuppressedErrors(error)) log.error({ err }, 'could not stop cleanly');
          process.exit(1);
        },
      );
    };
    process.on('unhandledRejection', (error) => {
      log.fatal({ err: error }, 'unhandled promise rejection');
      stop('unhandled promise rejection', 1);
    });
    void app.lost.then((error) => stop(error.message, 1));
  } catch (error) {
    for (const message of describeErrors(error, 'Taskthread cannot start')) console.error(message);
    process.exit(1);
  }
}
