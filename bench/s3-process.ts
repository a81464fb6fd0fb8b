import cluster from 'node:cluster';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { startS3 } from '../sandbox/agent/s3-server.ts';

/**
 * An S3 server in processes of its own, one a core, because S3 takes parts in parallel; all share a port and a folder.
 * Prints where it is, and ends with its standard input.
 */
const [folder = ''] = process.argv.slice(2);
if (cluster.isPrimary) {
  for (let core = 0; core < availableParallelism(); core += 1) {
    const [place] = await once(cluster.fork(), 'message');
    if (core === 0) process.stdout.write(`${JSON.stringify(place)}\n`);
  }
  process.stdin.on('end', () => process.exit(0)).resume();
} else {
  // As in `main.ts`: the server is to be measured, not the collection of its chunks.
  setFlagsFromString('--scavenger-max-new-space-capacity-mb=8');
  const { endpoint, bucket, credentials } = await startS3({ folder });
  process.send?.({ endpoint, bucket, credentials });
}
