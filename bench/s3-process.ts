import cluster from 'node:cluster';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { startS3 } from '../sandbox/agent/s3-server.ts';

/**
 * Runs an S3 server with one process per core, because S3 accepts parts in parallel; they share a port and a folder.
 * Prints its location as JSON, and exits when its standard input closes.
 */
const [folder = ''] = process.argv.slice(2);
if (cluster.isPrimary) {
  for (let core = 0; core < availableParallelism(); core += 1) {
    const [location] = await once(cluster.fork(), 'message');
    if (core === 0) process.stdout.write(`${JSON.stringify(location)}\n`);
  }
  process.stdin.on('end', () => process.exit(0)).resume();
} else {
  // As in `src/main.ts`: a smaller young generation collects the chunks faster.
  setFlagsFromString('--scavenger-max-new-space-capacity-mb=8');
  const { endpoint, bucket, credentials } = await startS3({ folder });
  process.send?.({ endpoint, bucket, credentials });
}
