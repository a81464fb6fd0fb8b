import { describe, expect, it } from 'vitest';
import { bareHost, isPrivateAddress, publicLookup } from '../../src/agent/address.ts';

describe('isPrivateAddress', () => {
  it.each([
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

  it.each([
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
  it('fails for a name that leads to this machine', async () => {
    const error = await new Promise((resolve) => {
      publicLookup('localhost', { all: true }, (failure) => resolve(failure));
    });
    expect(error).toMatchObject({ message: 'localhost leads to a private address' });
  });
});

describe('bareHost', () => {
  it.each([
    ['https://[::1]:8080/a', '::1'],
    ['https://EXAMPLE.org/a', 'example.org'],
    ['http://2130706433/', '127.0.0.1'],
  ])('of %s is %s', (url, host) => {
    expect(bareHost(new URL(url))).toBe(host);
  });
});
