import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isPrivateAddress, publicLookup, resolverLookup } from '../../src/agent/network-address.ts';

describe('isPrivateAddress', () => {
  test.each([
    '127.0.0.1',
    '10.1.2.3',
    '172.31.255.255',
    '192.168.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '255.255.255.255',
    '::1',
    '::',
    'fe80::1',
    'fd00::1',
    'fec0::1',
    '::10.0.0.1',
    '::808:808',
    '::ffff:0:10.0.0.1',
    '::ffff:10.0.0.1',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '64:ff9b::10.0.0.1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '198.51.100.7',
  ])('knows %s', (address) => {
    expect(isPrivateAddress(address)).toBe(true);
  });

  test.each([
    '8.8.8.8',
    '172.32.0.1',
    '2606:4700::1111',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
    'example.org',
    '',
  ])('lets %j pass', (address) => {
    expect(isPrivateAddress(address)).toBe(false);
  });
});

describe('publicLookup', () => {
  test('fails for a name that resolves to this machine', async () => {
    const error = await new Promise((resolve) => {
      publicLookup('localhost', { all: true }, (failure) => resolve(failure));
    });
    expect(error).toMatchObject({ message: 'localhost has a private address' });
  });
});

/** A name server: answers with the addresses that a name stands for, and not at all for others. */
async function nameServer(names: Record<string, () => string>, timeout = 5_000) {
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const labels: string[] = [];
    let at = 12;
    for (let size = query[at] ?? 0; size > 0; size = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + size));
      at += 1 + size;
    }
    const address = names[labels.join('.')];
    const question = query.subarray(12, at + 5);
    const wantsV4 = query.readUInt16BE(at + 1) === 1;
    if (address === undefined) return;
    const header = Buffer.from([
      query[0] ?? 0,
      query[1] ?? 0,
      0x81,
      0x80,
      0,
      1,
      0,
      wantsV4 ? 1 : 0,
      0,
      0,
      0,
      0,
    ]);
    const pointer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
    const parts = address().split('.').map(Number);
    const record = wantsV4 ? [pointer, Buffer.from(parts)] : [];
    socket.send(Buffer.concat([header, question, ...record]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const resolver = new Resolver({ timeout, tries: 1 });
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  return { resolver, close: () => void socket.close() };
}

describe('resolverLookup', () => {
  const found = (look: ReturnType<typeof resolverLookup>, name: string, family?: 4 | 6) =>
    new Promise((resolve) => {
      look(name, family === undefined ? { all: true } : { family }, (error, address) =>
        resolve(error?.message ?? address),
      );
    });

  test('returns public addresses and refuses a name with a private address, even a changing one', async () => {
    let times = 0;
    const server = await nameServer({
      'public.test': () => '93.184.216.34',
      'private.test': () => '10.0.0.1',
      'rebinding.test': () => (++times === 1 ? '93.184.216.34' : '169.254.169.254'),
    });
    onTestFinished(server.close);
    const look = resolverLookup(server.resolver);
    expect(await found(look, 'public.test')).toEqual([{ address: '93.184.216.34', family: 4 }]);
    expect(await found(look, 'public.test', 4)).toBe('93.184.216.34');
    expect(await found(look, 'private.test')).toContain('has a private address');
    expect(await found(look, 'rebinding.test', 4)).toBe('93.184.216.34');
    expect(await found(look, 'rebinding.test', 4)).toContain('has a private address');
  });

  test('gives up on a name server that never responds, without delaying other lookups', async () => {
    const server = await nameServer({}, 1_500);
    onTestFinished(server.close);
    const look = resolverLookup(server.resolver);
    const slow = Array.from({ length: 20 }, (_, index) => found(look, `slow-${index}.test`));
    const others = Array.from({ length: 8 }, () => stat('.'));
    expect(await Promise.race([...slow, Promise.all(others).then(() => 'files')])).toBe('files');
    for (const said of await Promise.all(slow)) expect(said).toMatch(/ETIMEOUT|ECANCELLED/);
  });
});
