import { startS3 } from '../src/sandbox/agent/s3.ts';

/** An S3 server in a process of its own; prints where it is, and ends with its standard input. */
const [folder = ''] = process.argv.slice(2);
const { endpoint, bucket, credentials } = await startS3({ folder });
process.stdout.write(`${JSON.stringify({ endpoint, bucket, credentials })}\n`);
process.stdin.on('end', () => process.exit(0)).resume();
