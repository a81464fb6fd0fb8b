import { performance } from 'node:perf_hooks';
import { request } from 'undici';

/** Pipes a download into one PUT and prints how long that took (ms). */
const [from = '', token = '', to = ''] = process.argv.slice(2);
const started = performance.now();
const source = await request(from, {
  headers: { authorization: `Bearer ${token}`, 'accept-encoding': 'identity' },
});
const sent = await request(to, {
  method: 'PUT',
  headers: {
    'content-length': String(source.headers['content-length']),
    'content-type': 'application/octet-stream',
  },
  body: source.body,
  headersTimeout: 0,
  bodyTimeout: 0,
});
await sent.body.dump();
if (sent.statusCode !== 200) throw new Error(`The storage answered ${sent.statusCode}.`);
process.stdout.write(`${performance.now() - started}\n`);
